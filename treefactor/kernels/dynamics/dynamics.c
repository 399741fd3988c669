/* The recursions, compiled for every instruction set. */
#include <math.h>
#include <string.h>

#include "bodies.h"

#define TEXT "kernels/dynamics/dynamics.h"
#include "../common/every_isa.h"
