/* Cross products of spatial vectors on real: a motion is (linear, angular), a force (force, moment). spatial.h stands
 * before it. Products that set their result take fewer operations than those that add to it. */

/* y <- a x b, of motions */
INLINE void NAME(motion_cross)(const real *a, const real *b, real *y)
{
    CROSS(a + 3, b, y);
    ADD_CROSS(a, b + 3, y);
    CROSS(a + 3, b + 3, y + 3);
}

/* y <- y + a x b, of motions */
INLINE void NAME(add_motion_cross)(const real *a, const real *b, real *y)
{
    ADD_CROSS(a + 3, b, y);
    ADD_CROSS(a, b + 3, y);
    ADD_CROSS(a + 3, b + 3, y + 3);
}

/* y <- a x* f, of a motion a and a force f */
INLINE void NAME(force_cross)(const real *a, const real *f, real *y)
{
    CROSS(a + 3, f, y);
    CROSS(a + 3, f + 3, y + 3);
    ADD_CROSS(a, f, y + 3);
}

/* y <- y + a x* f, of a motion a and a force f */
INLINE void NAME(add_force_cross)(const real *a, const real *f, real *y)
{
    ADD_CROSS(a + 3, f, y);
    ADD_CROSS(a + 3, f + 3, y + 3);
    ADD_CROSS(a, f, y + 3);
}
