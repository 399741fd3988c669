/* Compile the kernels of J H^-1 J^T for every instruction set. */
#include <math.h>
#include <string.h>

#include "delassus.h"

#define TEXT "kernels/linalg/delassus_isa.h"
#include "../common/every_isa.h"
