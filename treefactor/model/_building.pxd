"""Constructors of joints, inertias and frames for compiled readers of robots."""

cdef object inertia_of(double mass, const double *com, const double *tensor)
cdef object frame_of(name, Py_ssize_t joint, const double *R, const double *p, category, parent)
cdef object frame_at(name, frame, category, parent)
cdef object joint_of(name, kind, Py_ssize_t parent, const double *R, const double *p, const double *axis,
                     double pitch, inertia, const double *armature, const double *lower, const double *upper,
                     mimic, body, const double *effort=*, const double *velocity=*)
