/* Compiles the kernels of rollouts once for every instruction set. */
#include <math.h>
#include <string.h>

#include "stage_table.h"

#define TEXT "kernels/rollouts/rollouts.h"
#include "../common/every_isa.h"
