/* Compile the kernels of linear algebra for processors with AVX-512 F, DQ, VL and BW. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels.h"

#define ONLY 64
#define TEXT "kernels/linalg/linalg.h"
#include "../common/every_isa.h"
