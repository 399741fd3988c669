/* The recursions, compiled for every instruction set. */
#include <math.h>
#include <string.h>

#include "bodies.h"

#define TEXT "dynamics.h"
#include "every_isa.h"
