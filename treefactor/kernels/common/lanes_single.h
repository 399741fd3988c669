/* Compile the text KERNELS for 16 states of float side by side; see one_and_lanes.h, which stands before it, for the
 * macros that KERNELS sees. On return they are those of float. */
#undef REAL
#undef LANES
#undef WIDTH
#undef NAME
#undef ELEMENT
#undef INTEGER
#undef PRECISE

#define WIDTH (REGISTER / 4)
#define ELEMENT float
#define INTEGER int
#define PRECISE(f) ISA(f##_single)
typedef float ISA(RegisterSingle) __attribute__((vector_size(REGISTER), may_alias));
#define REAL ISA(RegisterSingle)
#define LANES 16
#define NAME(f) ISA(f##_sixteen)
#include KERNELS
