/* Compile the kernels of products with derivatives for every instruction set. */
#pragma GCC diagnostic ignored "-Wunused-function"   /* of the recursions whose parts the kernels share */
#include <math.h>
#include <string.h>

#include "products_table.h"

#define TEXT "kernels/derivatives/products.h"
#include "../common/every_isa.h"
