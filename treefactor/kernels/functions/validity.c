/* Compiles the checks of arguments in lanes once for every instruction set. */
#include "validity.h"

#define TEXT "kernels/functions/validity_isa.h"
#include "../common/every_isa.h"
