/* Compile the kernels of loops for every instruction set. */
#include <math.h>
#include <string.h>

#include "closures.h"

#define TEXT "kernels/constraints/loops.h"
#include "../common/every_isa.h"
