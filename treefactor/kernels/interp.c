/* The interpreter, compiled for every instruction set. */
#include <math.h>
#include <string.h>

#include "machine.h"

#define TEXT "interp.h"
#include "every_isa.h"
