/* Compile the kernels of damped least squares for every instruction set. */
#include <math.h>
#include <string.h>

#include "damped_table.h"

#define TEXT "kernels/linalg/damped_isa.h"
#include "../common/every_isa.h"
