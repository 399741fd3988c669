/* Compile the kernels of second derivatives for every instruction set. */
#pragma GCC diagnostic ignored "-Wunused-function"   /* of the recursions whose parts the kernels share */
#include <math.h>
#include <string.h>

#include "second_order_table.h"

#define TEXT "kernels/derivatives/second_order.h"
#include "../common/every_isa.h"
