/* Compiles the kernels of configurations once for every instruction set. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "joints.h"

#define TEXT "kernels/configurations/configurations.h"
#include "../common/every_isa.h"
