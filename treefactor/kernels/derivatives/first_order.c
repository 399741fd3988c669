/* Compile the kernels of first derivatives for every instruction set. */
#include <math.h>
#include <string.h>

#include "first_order_table.h"

#define TEXT "kernels/derivatives/first_order.h"
#include "../common/every_isa.h"
