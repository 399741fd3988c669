/* All kernels of configurations, for one type and instruction set; see joints.h. */
#include "steps.h"
#include "differences.h"
#include "step_derivatives.h"
