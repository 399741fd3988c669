/* Compile the kernels of Riccati sweeps for every instruction set. */
#include <math.h>
#include <string.h>

#include "riccati.h"

enum { FRESH, ADDED, FACTORED, SOLVED };     /* uses of tiles; see riccati_products.h */

#define TEXT "kernels/control/riccati_isa.h"
#include "../common/every_isa.h"
