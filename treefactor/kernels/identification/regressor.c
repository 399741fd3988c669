/* Compile the kernels of regressors for every instruction set. */
#pragma GCC diagnostic ignored "-Wunused-function"   /* of the recursions whose parts the kernels share */
#include <math.h>
#include <string.h>

#include "regressor_table.h"

#define TEXT "kernels/identification/regressor.h"
#include "../common/every_isa.h"
