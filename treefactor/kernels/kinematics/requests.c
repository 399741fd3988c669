/* Compiles the kernels of requests once for every instruction set. */
#include <math.h>
#include <string.h>

#include "request.h"

#define TEXT "kernels/kinematics/requests.h"
#include "../common/every_isa.h"
