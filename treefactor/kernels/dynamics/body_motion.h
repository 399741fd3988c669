/* Kinematics record: placement, velocity and acceleration bias of one body, in the axes of the base. Entry: place of
 * a unit motion in a row of a Jacobian.
 *
 * The recursions write one record for every joint, then the unit motion (6 numbers) of every freedom. With 8
 * configurations side by side, entry e of a record stands at x[e * 8 + lane]: FIELD gives the e of a field.
 * treefactor/dynamics/_recursions.pyx derives the NumPy dtypes from these structs. */
#ifndef TREEFACTOR_BODY_MOTION_H
#define TREEFACTOR_BODY_MOTION_H

#include <stddef.h>

typedef struct {
    double axes[9];                  /* columns of the body's rotation */
    double origin[3];                /* of the body, measured from the origin of its root body */
    double root[3];                  /* origin of the root body, measured from the base */
    double velocity[6];              /* spatial, linear part first, at the origin of the root body */
    double acceleration[6];          /* likewise, where the accelerations of all joints are zero */
} BodyMotion;

typedef struct {
    ptrdiff_t freedom, side;         /* index among all joints; 0 or 1: the body that it moves */
    ptrdiff_t place;                 /* index in the row */
    double ratio;                    /* of mimic joints; otherwise 1 */
} Entry;

#define FIELD(name) ((ptrdiff_t)(offsetof(BodyMotion, name) / sizeof(double)))
#define RECORD ((ptrdiff_t)(sizeof(BodyMotion) / sizeof(double)))
/* where the unit motion of freedom k begins, behind the records of all joints */
#define UNIT_MOTION(joints, k) (RECORD * (joints) + 6 * (k))

#endif
