/* Compile the kernels of sampling control for every instruction set. */
#include <math.h>
#include <string.h>

#include "sampling.h"
#include "../common/counters.h"

#define TEXT "kernels/control/sampling_isa.h"
#include "../common/every_isa.h"
