/* Define the kernels of loops for one number type; one_and_lanes.h lists the macros they need. */
#include "loop_rows.h"
#include "loop_forces.h"
