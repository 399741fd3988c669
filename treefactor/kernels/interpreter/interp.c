/* The interpreter, compiled for every instruction set. */
#include <math.h>
#include <string.h>

#include "machine.h"

#define TEXT "kernels/interpreter/interp.h"
#include "../common/every_isa.h"
