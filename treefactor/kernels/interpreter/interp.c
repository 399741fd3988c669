/* Compiles the interpreter once for each instruction set. */
#include <math.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "interpreter.h"

#define TEXT "kernels/interpreter/interp.h"
#include "../common/every_isa.h"
