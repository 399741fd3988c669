/* Instantiates the kernels of rotations and poses for one instruction set; poses.c includes it with
 *     REGISTER   bytes of a register     ISA(f)   f for this instruction set     ISA_NAME
 */
#define WIDTH (REGISTER / 8)
#include "../common/sincos.h"
#include "../common/arctan.h"

#define KERNELS "kernels/poses/kernels.h"
#include "../common/one_and_lanes.h"

#define DEFINE_ALL(name) \
    static void ISA(name##_all)(const double *a, const double *b, const double *u, double *result) \
    { \
        PASSES NAME(name)(a + l, b + l, u + l, result + l); \
    }
POSE_KERNELS(DEFINE_ALL)
#undef DEFINE_ALL

#define LIST_ONE(name) ISA(name##_one),
#define LIST_ALL(name) ISA(name##_all),
const PoseTable ISA(poses) = {ISA_NAME, {POSE_KERNELS(LIST_ONE)}, {POSE_KERNELS(LIST_ALL)}};
#undef LIST_ONE
#undef LIST_ALL
#undef WIDTH
