/* All kernels of loops for one kind of number; one_and_lanes.h says what must be defined. */
#include "loop_rows.h"
#include "loop_forces.h"
