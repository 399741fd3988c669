/* Compiles the interpreter once for each instruction set. */
#include <math.h>
#include <string.h>

#include "interpreter.h"

#define TEXT "kernels/interpreter/interp.h"
#include "../common/every_isa.h"
