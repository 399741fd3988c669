/* Compiles the kernels of rotations and poses once for every instruction set. */
#include <math.h>
#include <string.h>

#include "table.h"

#define TEXT "kernels/poses/poses.h"
#include "../common/every_isa.h"
