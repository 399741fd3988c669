/* Compile the kernels of linear algebra for processors with AVX2 and FMA. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels.h"

#define ONLY 32
#define TEXT "kernels/linalg/linalg.h"
#include "../common/every_isa.h"
