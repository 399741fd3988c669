/* Any x86-64 or arm64 machine. */
#define REGISTER 16
#define TILE 3
#define ISA(f) f##_baseline
#define ISA_NAME "baseline"
#include "isa.h"
