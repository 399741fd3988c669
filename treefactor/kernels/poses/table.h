/* Table of the kernels of rotations and poses per instruction set. */
#ifndef TREEFACTOR_POSES_H
#define TREEFACTOR_POSES_H

#include <stddef.h>

/* f(name) of every kernel; u is one number, read by interpolations. A pose is a matrix (3, 4), a rotation (3, 3), both
 * in rows; motions are linear before angular, quaternions x y z w. */
#define POSE_KERNELS(f) \
    f(se3_exp) f(se3_log) f(se3_jexp) f(se3_jlog) f(se3_compose) f(se3_inverse) f(se3_between) f(se3_interpolate) \
    f(se3_action) f(se3_act) f(se3_act_on_motion) f(se3_act_inverse) f(se3_act_inverse_on_motion) \
    f(se3_from_xyzquat) f(se3_to_xyzquat) f(se3_from_rpy) f(so3_exp) f(so3_log) f(so3_jexp) f(so3_jlog) \
    f(so3_compose) f(so3_inverse) f(so3_between) f(so3_interpolate) f(so3_act) f(so3_act_inverse) \
    f(so3_from_quaternion) f(so3_to_quaternion) f(so3_from_rpy) f(so3_to_rpy)

#define NUMBER(name) name##_number,
enum { POSE_KERNELS(NUMBER) POSE_COUNT };
#undef NUMBER

/* Computes one result, or 8 with entry e of element l at x[e * 8 + l]; results are apart from arguments. */
typedef void (*PoseKernel)(const double *a, const double *b, const double *u, double *result);

typedef struct {
    const char *name;
    PoseKernel one[POSE_COUNT], lanes[POSE_COUNT];
} PoseTable;

extern const PoseTable poses_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const PoseTable poses_avx2, poses_avx512;
#endif

#endif
