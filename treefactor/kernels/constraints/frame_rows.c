/* Compile the kernels of rows of loops and rigid contacts for every instruction set. */
#include <math.h>
#include <string.h>

#include "frame_rows.h"

#define TEXT "kernels/constraints/frame_rows_isa.h"
#include "../common/every_isa.h"
