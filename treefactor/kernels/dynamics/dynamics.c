/* Compiles all recursions once for every instruction set. */

/* Entries of vectors put into registers take longer for one configuration, and would fuse other multiplications with
 * additions than lanes do, whose results must be the same. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bodies.h"
#include "body_motion.h"

#define TEXT "kernels/dynamics/dynamics.h"
#include "../common/every_isa.h"
