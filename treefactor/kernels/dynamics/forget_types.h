/* Undefine the names of types, at the end of a text. */
#undef Angles
#undef Pose
#undef Inertia
#undef Vector
#undef Articulated
#undef Workspace
#undef Turn
#undef Motion
#undef Pivot
#undef Momentum
#undef LOWER
#undef SYMMETRIC
