/* Compile the kernels of equations with constraint rows for every instruction set. */
#include <math.h>
#include <string.h>

#include "bordered.h"

#define TEXT "kernels/constraints/bordered_isa.h"
#include "../common/every_isa.h"
