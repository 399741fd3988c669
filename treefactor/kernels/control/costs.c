/* Compile the kernels of costs for every instruction set. */
#pragma GCC diagnostic ignored "-Wunused-function"   /* of the operations on poses */
#include <math.h>
#include <string.h>

#include "costs.h"

#define TEXT "kernels/control/costs_isa.h"
#include "../common/every_isa.h"
