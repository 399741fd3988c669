/* Compile the update of triangles for every instruction set. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "triangles_table.h"

#define TEXT "kernels/identification/triangles.h"
#include "../common/every_isa.h"
