/* Table of the kernels of rotations and poses per instruction set. */
#ifndef TREEFACTOR_POSES_H
#define TREEFACTOR_POSES_H

#include <stddef.h>

/* LIST(f) lists f(name, sizes of a, b and the result) of every kernel; u is one number, read by interpolations. A pose
 * is a matrix (3, 4), a rotation (3, 3), both in rows; motions are linear before angular, quaternions x y z w. */
#define POSE_KERNELS(f) \
    f(se3_exp, 6, 0, 12) f(se3_log, 12, 0, 6) f(se3_jexp, 6, 0, 36) f(se3_jlog, 12, 0, 36) \
    f(se3_compose, 12, 12, 12) f(se3_inverse, 12, 0, 12) f(se3_between, 12, 12, 12) \
    f(se3_interpolate, 12, 12, 12) f(se3_action, 12, 0, 36) \
    f(se3_act, 12, 3, 3) f(se3_act_on_motion, 12, 6, 6) \
    f(se3_act_inverse, 12, 3, 3) f(se3_act_inverse_on_motion, 12, 6, 6) \
    f(se3_from_xyzquat, 7, 0, 12) f(se3_to_xyzquat, 12, 0, 7) f(se3_from_rpy, 3, 3, 12) \
    f(so3_exp, 3, 0, 9) f(so3_log, 9, 0, 3) f(so3_jexp, 3, 0, 9) f(so3_jlog, 9, 0, 9) \
    f(so3_compose, 9, 9, 9) f(so3_inverse, 9, 0, 9) f(so3_between, 9, 9, 9) f(so3_interpolate, 9, 9, 9) \
    f(so3_act, 9, 3, 3) f(so3_act_inverse, 9, 3, 3) \
    f(so3_from_quaternion, 4, 0, 9) f(so3_to_quaternion, 9, 0, 4) f(so3_from_rpy, 3, 0, 9) f(so3_to_rpy, 9, 0, 3)

#define NUMBER(name, a, b, result) name##_number,
enum { POSE_KERNELS(NUMBER) POSE_COUNT };
#undef NUMBER

typedef struct {
    const char *name;                /* of the operation */
    ptrdiff_t a, b, result;          /* entries */
} PoseSizes;

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
