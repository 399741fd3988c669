/* Compile the kernels of linear algebra for any x86-64 or arm64 machine. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels.h"

#define ONLY 16
#define TEXT "kernels/linalg/linalg.h"
#include "../common/every_isa.h"
