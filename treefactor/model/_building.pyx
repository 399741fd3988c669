"""Make joints, inertias and frames of the numbers that readers of robots have.

The constructors validate whatever users pass, which takes 20 to 70 microseconds for each object. Here
numbers are checked in C. Those that fail are left to the constructor, which raises the error.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, fmax, isfinite, isnan, sqrt
from libc.string cimport memcpy

from ..tolerances import ORTHONORMAL
from .frames import IDENTITY, TYPES, ZERO, Frame
from .inertia import Inertia
from .joints import AXES, SIZES, Joint

cnp.import_array()

cdef extern from "Python.h":
    int PyObject_GenericSetAttr(object owner, object name, object value) except -1

cdef double orthonormal = ORTHONORMAL
cdef object new = object.__new__
cdef int[6] ROWS = [0, 0, 1, 0, 1, 2]      # of the entries of a tensor in the ten parameters
cdef int[6] COLUMNS = [0, 1, 1, 2, 2, 2]
cdef double[7] NOTHING = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
cdef double[7] BELOW = [-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY]
cdef double[7] ABOVE = [INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY]


cdef inline object with_attributes(type kind, dict attributes):
    """Return an object of a class with these attributes."""
    made = new(kind)
    PyObject_GenericSetAttr(made, "__dict__", attributes)  # PyObject_GenericSetDict of Python 3.13.0 is wrong
    return made


cdef cnp.ndarray constant(const double *entries, cnp.npy_intp rows, cnp.npy_intp columns=0):
    """Return a read-only array (rows, columns), or (rows,) without columns."""
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = rows, columns
    cdef cnp.ndarray array = cnp.PyArray_SimpleNew(2 if columns else 1, shape, cnp.NPY_DOUBLE)
    memcpy(array.data, entries, rows * (columns or 1) * sizeof(double))
    cnp.PyArray_CLEARFLAGS(array, cnp.NPY_ARRAY_WRITEABLE)
    return array


cdef bint are_finite(Py_ssize_t count, const double *x) noexcept:
    """Return whether all numbers are finite."""
    cdef Py_ssize_t k
    for k in range(count):
        if not isfinite(x[k]):
            return False
    return True


cdef double norm(const double *x) noexcept:
    """Return the length of a vector."""
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


cdef bint is_rotation(const double *R) noexcept:
    """Return whether a matrix is a rotation, as the constructors check it."""
    cdef int r, c
    cdef double product
    if not are_finite(9, R):
        return False
    for r in range(3):
        for c in range(r, 3):
            product = R[3 * r] * R[3 * c] + R[3 * r + 1] * R[3 * c + 1] + R[3 * r + 2] * R[3 * c + 2]
            if fabs(product - (r == c)) > orthonormal:
                return False
    return (R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6])
            + R[2] * (R[3] * R[7] - R[4] * R[6])) >= 0.0


cdef object inertia_of(double mass, const double *com, const double *tensor):
    """Return an Inertia; tensor has nine entries."""
    cdef double[9] symmetric
    cdef double largest = 0.0, apart = 0.0
    cdef int r, c
    for r in range(3):
        for c in range(3):
            largest = fmax(largest, fabs(tensor[3 * r + c]))
            apart = fmax(apart, fabs(tensor[3 * r + c] - tensor[3 * c + r]))
            symmetric[3 * r + c] = (tensor[3 * r + c] + tensor[3 * c + r]) / 2
    if not (mass >= 0.0 and are_finite(1, &mass) and are_finite(3, com) and are_finite(9, tensor)
            and apart <= orthonormal * largest):
        return Inertia(mass, constant(com, 3), constant(tensor, 3, 3))
    return with_attributes(
        Inertia, {"mass": mass, "com": constant(com, 3), "tensor": constant(symmetric, 3, 3)}
    )


cdef object frame_of(name, Py_ssize_t joint, const double *R, const double *p, category, parent):
    """Return a Frame; R and p are NULL in the place of its joint."""
    if not name or category not in TYPES or R and not (is_rotation(R) and are_finite(3, p)):
        return Frame(name, joint, constant(R, 3, 3), constant(p, 3), category, parent)
    return with_attributes(Frame, {
        "name": name, "joint": joint, "R": constant(R, 3, 3) if R else IDENTITY,
        "p": constant(p, 3) if R else ZERO, "type": category, "parent": parent,
    })


cdef object frame_at(name, frame, category, parent):
    """Return a Frame in the place of another one: see `Frame.renamed`."""
    cdef dict other = frame.__dict__
    return with_attributes(Frame, {
        "name": name, "joint": other["joint"], "R": other["R"], "p": other["p"], "type": category,
        "parent": parent,
    })


cdef object joint_of(name, kind, Py_ssize_t parent, const double *R, const double *p, const double *axis,
                     double pitch, inertia, const double *armature, const double *lower, const double *upper,
                     mimic, body, const double *effort=NULL, const double *velocity=NULL):
    """Return a Joint; axis has no, three or six entries, armature and limits may be NULL."""
    cdef Py_ssize_t nq, nv, k, r, axes = AXES.get(kind, 0)
    cdef double[6] unit
    cdef double length
    cdef bint sound = is_rotation(R) and are_finite(3, p) and isfinite(pitch) and (axis or not axes)
    sound = sound and (pitch == 0.0 or kind == "helical")
    nq, nv = SIZES[kind]
    if armature == NULL:
        armature = NOTHING
    if lower == NULL:
        lower, upper = BELOW, ABOVE
    if effort == NULL:
        effort = ABOVE
    if velocity == NULL:
        velocity = ABOVE
    for k in range(axes if sound else 0):
        length = norm(axis + 3 * k)
        sound = sound and fabs(length - 1.0) <= orthonormal
        for r in range(3):
            unit[3 * k + r] = axis[3 * k + r] / length
    for k in range(nv):
        sound = sound and isfinite(armature[k]) and armature[k] >= 0.0
        sound = sound and not isnan(effort[k]) and not isnan(velocity[k])
    for k in range(nq):
        sound = sound and not isnan(lower[k]) and not isnan(upper[k])
    if not sound or mimic is not None:
        return Joint(
            name, kind, parent, constant(R, 3, 3), constant(p, 3), directions(axis, axes), pitch, inertia,
            constant(armature, nv), constant(lower, nq), constant(upper, nq), mimic, body,
            constant(effort, nv), constant(velocity, nv),
        )
    return with_attributes(Joint, {
        "name": name, "kind": kind, "parent": parent, "R": constant(R, 3, 3), "p": constant(p, 3),
        "axis": directions(unit, axes), "pitch": pitch, "inertia": inertia,
        "armature": constant(armature, nv), "lower": constant(lower, nq), "upper": constant(upper, nq),
        "mimic": None, "body": body, "effort_limit": constant(effort, nv),
        "velocity_limit": constant(velocity, nv),
    })


cdef object directions(const double *axis, Py_ssize_t axes):
    """Return the axes of a joint: an array (3,) or (2, 3), or None."""
    return None if axis == NULL or not axes else constant(axis, 2, 3) if axes == 2 else constant(axis, 3)


cdef bint read(values, Py_ssize_t rows, Py_ssize_t columns, double *entries) except -1:
    """Copy the first rows and columns of a matrix of doubles, or the one row of a vector."""
    cdef cnp.ndarray array = values
    cdef Py_ssize_t r, c, across = array.strides[array.ndim - 1]
    if cnp.PyArray_TYPE(array) != cnp.NPY_DOUBLE or not cnp.PyArray_ISBEHAVED_RO(array):
        raise TypeError(f"expected doubles, got {array.dtype}")
    if array.shape[array.ndim - 1] < columns or array.ndim == 2 and array.shape[0] < rows:
        raise ValueError(f"expected shape {rows, columns}, got {values.shape}")
    for r in range(rows):
        for c in range(columns):
            entries[r * columns + c] = (<double *> (array.data + r * array.strides[0] + c * across))[0]
    return True


def new_inertia(mass, com, tensor):
    """Return an Inertia; com (3,) and tensor (3, 3) are arrays of doubles."""
    cdef double[9] of_tensor
    cdef double[3] centre
    read(com, 1, 3, centre)
    read(tensor, 3, 3, of_tensor)
    return inertia_of(mass, centre, of_tensor)


Inertia._made = staticmethod(new_inertia)  # called by Inertia.moved and sums


def with_inertia(joint, inertia):
    """Return a joint that carries another body."""
    return with_attributes(Joint, {**joint.__dict__, "inertia": inertia})


def placed(cnp.ndarray R not None, cnp.ndarray p not None):
    """Return the placement [R | p], shape (3, 4), of arrays of doubles (3, 3) and (3,)."""
    cdef cnp.npy_intp[2] shape
    cdef double[9] rotation
    cdef double[3] origin
    cdef int r, c
    read(R, 3, 3, rotation)
    read(p, 1, 3, origin)
    shape[0], shape[1] = 3, 4
    cdef cnp.ndarray placement = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_DOUBLE)
    cdef double *entries = <double *> placement.data
    for r in range(3):
        for c in range(3):
            entries[4 * r + c] = rotation[3 * r + c]
        entries[4 * r + 3] = origin[r]
    return placement


def new_frame(name, joint, placement, category, parent):
    """Return a Frame; placement is an array of doubles with [R | p] in its first rows."""
    cdef double[12] placed
    cdef double[9] R
    cdef double[3] p
    read(placement, 3, 4, placed)
    divide(placed, R, p)
    return frame_of(name, joint, R, p, category, parent)


def new_joint(name, kind, parent, placement, axis, pitch, inertia, armature, lower, upper, mimic, body,
              effort=None, velocity=None):
    """Return a Joint; placement is an array of doubles with [R | p] in its first rows.

    axis (3,) or (2, 3), armature, effort and velocity (nv,), lower and upper (nq,) are arrays of doubles or
    None.
    """
    cdef double[12] placed
    cdef double[9] R
    cdef double[3] p
    cdef double[6] axes, rotors, forces, speeds
    cdef double[7] low, high
    nq, nv = SIZES[kind]
    read(placement, 3, 4, placed)
    divide(placed, R, p)
    if axis is not None:
        read(axis, AXES[kind], 3, axes)
    if armature is not None:
        read(armature, 1, nv, rotors)
    if lower is not None:
        read(lower, 1, nq, low)
        read(upper, 1, nq, high)
    if effort is not None:
        read(effort, 1, nv, forces)
    if velocity is not None:
        read(velocity, 1, nv, speeds)
    return joint_of(
        name, kind, parent, R, p, NULL if axis is None else axes, pitch, inertia,
        NULL if armature is None else rotors, NULL if lower is None else low, NULL if lower is None else high,
        mimic, body, NULL if effort is None else forces, NULL if velocity is None else speeds,
    )


cdef void divide(const double *placed, double *R, double *p) noexcept:
    """Divide [R | p]."""
    cdef int r, c
    for r in range(3):
        for c in range(3):
            R[3 * r + c] = placed[4 * r + c]
        p[r] = placed[4 * r + 3]


def are_consistent(tuple joints, frames):
    """Return whether joints and frames form a model as they are; the general checks find reasons if not.

    The names of all differ, parents and the joints of frames are given by numbers, and no joint follows
    another.
    """
    cdef dict of_joint, of_frame
    cdef Py_ssize_t i = 0, number, count = len(joints)
    cdef set names = set(), named = set()
    for joint in joints:
        if type(joint) is not Joint:
            return False
        of_joint = joint.__dict__
        parent = of_joint["parent"]
        if type(parent) is not int or of_joint["mimic"] is not None:
            return False
        number = parent
        if not -1 <= number < i:
            return False
        body = of_joint["body"]
        if body:
            if body in named:
                return False
            named.add(body)
        names.add(of_joint["name"])
        i += 1
    if len(names) < count:
        return False
    named = set()
    i = 0
    for frame in frames or ():
        if type(frame) is not Frame:
            return False
        of_frame = frame.__dict__
        joint = of_frame["joint"]
        if type(joint) is not int:
            return False
        number = joint
        if not -1 <= number < count:
            return False
        named.add((of_frame["name"], of_frame["type"]))
        i += 1
    return len(named) == i


def entries(tuple joints):
    """Return attributes of a model: the entries of its joints in q and v, their armature and limits."""
    cdef Py_ssize_t count = len(joints), i = 0, nq = 0, nv = 0, k, size
    cdef list first_q = [], first_v = [], idx_q = [], idx_v = []
    cdef cnp.ndarray own
    cdef double ratio
    for joint in joints:
        of_q, of_v = SIZES[joint.kind] if joint.mimic is None else (0, 0)
        first_q.append(nq)
        first_v.append(nv)
        nq, nv = nq + of_q, nv + of_v
    cdef cnp.npy_intp in_q = nq, in_v = nv
    cdef cnp.ndarray lower = cnp.PyArray_SimpleNew(1, &in_q, cnp.NPY_DOUBLE)
    cdef cnp.ndarray upper = cnp.PyArray_SimpleNew(1, &in_q, cnp.NPY_DOUBLE)
    cdef cnp.ndarray armature = cnp.PyArray_ZEROS(1, &in_v, cnp.NPY_DOUBLE, 0)
    cdef cnp.ndarray effort = cnp.PyArray_SimpleNew(1, &in_v, cnp.NPY_DOUBLE)
    cdef cnp.ndarray velocity = cnp.PyArray_SimpleNew(1, &in_v, cnp.NPY_DOUBLE)
    for i in range(count):
        joint = joints[i]
        mimic = joint.mimic
        leader = i if mimic is None else mimic.leader
        ratio = 1.0 if mimic is None else mimic.ratio
        idx_q.append(first_q[leader])
        idx_v.append(first_v[leader])
        own = joint.armature
        nv = idx_v[i]
        for k in range(own.shape[0]):
            (<double *> armature.data)[nv + k] += ratio * ratio * (<const double *> own.data)[k]
        if mimic is None:
            nq, own = idx_q[i], joint.lower
            size = own.shape[0] * sizeof(double)
            memcpy(<double *> lower.data + nq, own.data, size)
            own = joint.upper
            memcpy(<double *> upper.data + nq, own.data, size)
            own = joint.effort_limit
            size = own.shape[0] * sizeof(double)
            memcpy(<double *> effort.data + nv, own.data, size)
            own = joint.velocity_limit
            memcpy(<double *> velocity.data + nv, own.data, size)
    for own in (armature, lower, upper, effort, velocity):
        cnp.PyArray_CLEARFLAGS(own, cnp.NPY_ARRAY_WRITEABLE)
    return {
        "njoints": count, "nq": in_q, "nv": in_v, "idx_q": tuple(idx_q), "idx_v": tuple(idx_v),
        "armature": armature, "lower": lower, "upper": upper, "effort_limit": effort,
        "velocity_limit": velocity,
    }


def parameters_of_joints(tuple joints):
    """Return the parameters (joints, 10) of the bodies of joints, read-only: see `Inertia.parameters`."""
    cdef cnp.npy_intp[2] shape
    shape[0], shape[1] = len(joints), 10
    cdef cnp.ndarray parameters = cnp.PyArray_SimpleNew(2, shape, cnp.NPY_DOUBLE)
    cdef double *pi = <double *> parameters.data
    cdef double *h
    cdef const double *c
    cdef const double *tensor
    cdef double[6] shift
    cdef double trace
    cdef int k
    for joint in joints:
        inertia = joint.inertia
        pi[0], h = inertia.mass, pi + 1
        c = <const double *> cnp.PyArray_DATA(inertia.com)
        tensor = <const double *> cnp.PyArray_DATA(inertia.tensor)
        for k in range(3):
            h[k] = 0.0 + pi[0] * c[k]
        for k in range(6):
            shift[k] = c[ROWS[k]] * 0.0 + h[ROWS[k]] * c[COLUMNS[k]]
        trace = shift[0] + shift[2] + shift[5]
        for k in range(6):
            if ROWS[k] == COLUMNS[k]:
                shift[k] -= trace
            pi[4 + k] = tensor[3 * ROWS[k] + COLUMNS[k]] - shift[k]
        pi += 10
    cnp.PyArray_CLEARFLAGS(parameters, cnp.NPY_ARRAY_WRITEABLE)
    return parameters
