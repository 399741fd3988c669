/* Compiles all recursions once for every instruction set. */
#include <math.h>
#include <string.h>

#include "bodies.h"
#include "body_motion.h"

#define TEXT "kernels/dynamics/dynamics.h"
#include "../common/every_isa.h"
