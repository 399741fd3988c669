"""Place the bodies of a model for the recursions: the structs that do not depend on a configuration.

Products of rotations have the same bits on all processors.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, M_PI, acos, atan2, cos, fabs, fmax, fmin, rint, sqrt
from libc.string cimport memcpy, memset

from .._util._small_products cimport apply, multiply
from ._operations cimport Body

import numpy as np

from ._recursions import BODY, KINDS

cnp.import_array()

cdef enum:
    REVOLUTE, CONTINUOUS, PRISMATIC, HELICAL, SPHERICAL, PLANAR, TRANSLATION, FREEFLYER

cdef enum:
    ANY_TURN                     # of the enum TreeTurn of bodies.h
    LIMB = 2                     # least bodies of a limb whose turns are made equal to those of another

cdef double AXIS_ROUNDING = 1e-15  # difference between axes along each other, after products of rotations
LONGEST_ARM = 16                   # distance from a local origin, in radii of gyration
cdef double longest_arm = LONGEST_ARM
X, Y, Z = np.eye(3)
TREE_TURNS = tuple(
    np.column_stack(axes) for axes in ((Y, Z, X), (Z, Y, -X), (Z, X, Y), (X, Z, -Y), (X, Y, Z), (Y, X, -Z))
)  # in the order of the enum TreeTurn of bodies.h, from 1
cdef double[6][9] tree_turn
cdef cnp.ndarray turns = np.array(TREE_TURNS)
memcpy(&tree_turn, turns.data, sizeof(tree_turn))
cdef int[6] ROWS = [0, 0, 1, 0, 1, 2]      # of the entries of a tensor in the ten parameters
cdef int[6] COLUMNS = [0, 1, 1, 2, 2, 2]
cdef int[9] ENTRY = [4, 5, 7, 5, 6, 8, 7, 8, 9]  # of the ten parameters in a tensor
cdef dict NUMBERS = {kind: k for k, kind in enumerate(KINDS)}


cdef struct Axes:
    double A[9]       # rotation from the body's axes to those of its joint
    bint by_columns   # how the products of the transpose with vectors are summed


cdef void transpose(const double *A, double *B) noexcept nogil:
    """B <- A^T."""
    cdef int r, c
    for r in range(3):
        for c in range(3):
            B[3 * c + r] = A[3 * r + c]


cdef void apply_transpose(const double *A, bint by_columns, const double *x, double *y) noexcept nogil:
    """y <- A^T x."""
    cdef double[9] transposed
    cdef int r
    if by_columns:
        for r in range(3):
            y[r] = 0.0 + A[r] * x[0] + A[3 + r] * x[1] + A[6 + r] * x[2]
    else:
        transpose(A, transposed)
        apply(transposed, x, y)


cdef void frame(const double *axis, Axes *to) noexcept:
    """to <- a rotation whose z column is the axis; a permutation for coordinate axes."""
    cdef int least = 0, k
    cdef double[3] x
    cdef double length, along
    for k in range(1, 3):
        if fabs(axis[k]) < fabs(axis[least]):
            least = k
    along = 0.0 + axis[least]
    for k in range(3):
        x[k] = (k == least) - along * axis[k]
    length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    for k in range(3):
        x[k] /= length
        to.A[3 * k], to.A[3 * k + 2] = x[k], axis[k]
    to.A[1] = axis[1] * x[2] - axis[2] * x[1]
    to.A[4] = axis[2] * x[0] - axis[0] * x[2]
    to.A[7] = axis[0] * x[1] - axis[1] * x[0]
    to.by_columns = False


cdef void align(Body *body, double *R, Axes *axes) noexcept:
    """Turn the axes of a body, with rotation R in those of its parent, so that R is one of `TREE_TURNS`.

    That is possible where its z axis lies along or against an axis of the parent: its x and y axes are
    turned by right angles about z, or the angle of a revolute joint gets an offset.
    """
    cdef int turn, quarters
    cdef double angle, apart
    cdef double[9] C, D, A
    cdef double *chosen
    if body.kind > PRISMATIC:
        return
    for turn in range(6):
        chosen = tree_turn[turn]
        apart = fmax(fmax(fabs(chosen[2] - R[2]), fabs(chosen[5] - R[5])), fabs(chosen[8] - R[8]))
        if not apart < AXIS_ROUNDING:
            continue
        transpose(chosen, C)
        multiply(C, R, D)
        angle = atan2(D[3], D[0])
        quarters = <int> rint(angle / (M_PI / 2))
        if fabs(angle - quarters * (M_PI / 2)) < AXIS_ROUNDING:
            turned_back(axes.A, quarters & 3, A)
            memcpy(axes.A, A, sizeof(A))
            axes.by_columns = True
        elif body.kind == REVOLUTE:
            body.offset += angle
        else:
            return
        memcpy(R, chosen, sizeof(C))
        body.turn = turn + 1
        return


cdef void turned_back(const double *A, int quarters, double *to) noexcept:
    """to <- A, its x and y columns turned back by right angles about z."""
    cdef int r
    cdef double x, y
    for r in range(3):
        x, y = A[3 * r], A[3 * r + 1]
        for _ in range(quarters):
            x, y = -y, x
        to[3 * r], to[3 * r + 1], to[3 * r + 2] = 0.0 + x, 0.0 + y, 0.0 + A[3 * r + 2]


cdef inline double dot(const double *a, double x, double y, double z) noexcept:
    """Return the product of two vectors."""
    return a[0] * x + a[1] * y + a[2] * z


cdef void take_inertia(Body *body, const double *pi) noexcept:
    """Store the inertia of a body in its own axes; the parameters pi are in the axes of its joint."""
    cdef double[9] R, tensor, half
    cdef int r, c, k
    transpose(body.axes, R)
    for k in range(9):
        tensor[k] = pi[ENTRY[k]]
    body.mass = pi[0]
    for r in range(3):
        body.first[r] = dot(R + 3 * r, pi[1], pi[2], pi[3])
        for c in range(3):
            half[3 * r + c] = dot(R + 3 * r, tensor[c], tensor[3 + c], tensor[6 + c])
    for k in range(6):
        r, c = ROWS[k], COLUMNS[k]
        body.tensor[3 * r + c] = dot(half + 3 * r, R[3 * c], R[3 * c + 1], R[3 * c + 2])
        body.tensor[3 * c + r] = body.tensor[3 * r + c]


cdef void unturned(Axes *axes) noexcept:
    """axes <- those of a joint."""
    memset(axes, 0, sizeof(Axes))
    axes.A[0] = axes.A[4] = axes.A[8] = 1.0
    axes.by_columns = True


cdef Py_ssize_t place_joint(Body *bodies, Py_ssize_t count, Py_ssize_t i, joint, leader, Py_ssize_t q,
                            const Axes *above, Py_ssize_t parent, Axes *axes) except -1:
    """Append the one or two bodies of joint i, and return their number; axes <- those of the last."""
    cdef Body *body = NULL
    cdef cnp.ndarray rotation = cnp.PyArray_GETCONTIGUOUS(joint.R)
    cdef cnp.ndarray origin = cnp.PyArray_GETCONTIGUOUS(joint.p), along
    cdef double[9] R, A
    cdef double[3] p
    cdef const double *axis = NULL
    cdef Py_ssize_t motions = 1, k, kind
    cdef double ratio = 1.0, offset = 0.0
    if joint.kind == "universal":
        kind, motions = REVOLUTE, 2
    else:
        kind = NUMBERS[joint.kind]
    if joint.axis is not None:
        along = cnp.PyArray_GETCONTIGUOUS(joint.axis)   # of a universal joint, which may be by columns
        axis = <const double *> along.data
    if joint.mimic is not None:
        ratio, offset = joint.mimic.ratio, joint.mimic.offset
    transpose(above.A, A)
    multiply(A, <const double *> rotation.data, R)
    apply_transpose(above.A, above.by_columns, <const double *> origin.data, p)
    for k in range(motions):
        body = bodies + count
        memset(body, 0, sizeof(Body))
        body.kind, body.parent, body.q, body.angle, body.joint = kind, parent, q + k, -1, -1
        body.v = bodies[count - 1].v + bodies[count - 1].freedoms if count else 0
        body.freedoms = 3 if SPHERICAL <= kind <= TRANSLATION else 6 if kind == FREEFLYER else 1
        body.circle = leader is not None and leader.kind == "continuous"
        body.copied = bodies[parent].copied if parent >= 0 else 6 if kind == FREEFLYER else 0
        body.ratio, body.offset, body.pitch = ratio, offset, joint.pitch
        unturned(axes)
        if axis != NULL:
            frame(axis + 3 * k, axes)
        multiply(R, axes.A, A)
        align(body, A, axes)
        transpose(A, body.R)
        memcpy(body.p, p, sizeof(p))
        body.axes[0] = body.axes[4] = body.axes[8] = 1.0
        transpose(axes.A, R)
        memset(p, 0, sizeof(p))
        parent, count = count, count + 1
    body.joint = i
    memcpy(body.axes, axes.A, sizeof(A))
    return motions


cdef void number_angles(Body *bodies, Py_ssize_t count) noexcept:
    """Number the angles whose sine and cosine are computed."""
    cdef Py_ssize_t i, angles = 0
    for i in range(count):
        if bodies[i].kind == REVOLUTE or bodies[i].kind == HELICAL:
            bodies[i].angle = angles
            angles += 1


cdef void find_children(Body *bodies, Py_ssize_t count) noexcept:
    """Store whether a body has children, and whether it is the last child of its parent."""
    cdef Py_ssize_t i, parent
    cdef bint rooted = False
    for i in range(count):
        bodies[i].leaf = True
    for i in range(count - 1, -1, -1):
        parent = bodies[i].parent
        if parent < 0:
            bodies[i].last, rooted = not rooted, True
        else:
            bodies[i].last, bodies[parent].leaf = bodies[parent].leaf, False


cdef struct Kin:
    Py_ssize_t child, sibling    # first child, next one of the same parent; -1: none
    Py_ssize_t size, equal       # bodies of the subtree; the first body of an equal limb, or -1


cdef void find_kin(const Body *bodies, Py_ssize_t count, Kin *kin) noexcept:
    """Store children and sizes of all subtrees; kin[count] is that of the base."""
    cdef Py_ssize_t i, parent
    for i in range(count + 1):
        kin[i].child = kin[i].sibling = kin[i].equal = -1
        kin[i].size = 1
    for i in range(count - 1, -1, -1):
        parent = bodies[i].parent if bodies[i].parent >= 0 else count
        kin[i].sibling, kin[parent].child = kin[parent].child, i
        kin[parent].size += kin[i].size


cdef void match_children(Body *bodies, Kin *kin, Py_ssize_t i, Py_ssize_t j) noexcept:
    """Match children of i and j that begin equal limbs, and let oblique ones make their partners oblique."""
    cdef Py_ssize_t a = kin[i].child, b, turn
    cdef bint alike
    while a >= 0:
        b = kin[j].child
        while b >= 0 and kin[a].equal < 0:
            turn = bodies[a].turn if bodies[a].turn == bodies[b].turn else ANY_TURN
            alike = bodies[a].kind == bodies[b].kind and kin[a].size == kin[b].size
            if a != b and kin[b].equal < 0 and alike and (turn == bodies[a].turn or turn == bodies[b].turn):
                kin[a].equal, kin[b].equal = b, a
                if kin[a].size >= LIMB:
                    bodies[a].turn = bodies[b].turn = turn
            b = kin[b].sibling
        a = kin[a].sibling


cdef void level_turns(Body *bodies, Py_ssize_t count, Kin *kin) noexcept:
    """Give equal limbs, such as a left and a right leg, turns of one kind.

    Files round left and right axes differently: where one lies along an axis of its parent and the other one
    nearly, the limbs could not be computed side by side. An oblique body takes longer, so single bodies at
    the ends of limbs keep their turns.
    """
    cdef Py_ssize_t i
    find_kin(bodies, count, kin)
    match_children(bodies, kin, count, count)
    for i in range(count):
        if kin[i].equal >= 0:
            match_children(bodies, kin, i, kin[i].equal)
        match_children(bodies, kin, i, i)


cdef void count_freedoms(Body *bodies, Py_ssize_t count) noexcept:
    """Store the number of freedoms of the subtree of every body that are carried together, or 0.

    They are only if no subtree is numbered with gaps and if registers of 4 save enough steps, each a carried
    force (oblique ones count twice): measured against the loop over single forces, `crba` takes 1.0 to 1.1
    of its time where they save up to 4 steps a body (arms, quadrupeds, talos_reduced), and 0.83 to 0.95 from
    5 on (humanoids with hands, iCub).
    """
    cdef Py_ssize_t i, parent, saved = 0
    cdef Body *body
    cdef bint gaps = False
    for i in range(count):
        bodies[i].below = bodies[i].freedoms
    for i in range(count - 1, -1, -1):
        if bodies[i].parent >= 0:
            bodies[bodies[i].parent].below += bodies[i].below
    for i in range(count):
        body, parent = bodies + i, bodies[i].parent
        if parent >= 0:
            gaps = gaps or bodies[parent].v + bodies[parent].below < body.v + body.below
            saved += body.below * (1 if body.turn else 2) - (body.below + 3) // 4
    if gaps or 2 * saved < 9 * count:
        for i in range(count):
            bodies[i].below = 0


cdef void carry(Body *bodies, Py_ssize_t count) noexcept:
    """Store the mass of the subtree of every body."""
    cdef Py_ssize_t i
    for i in range(count):
        bodies[i].carried = bodies[i].mass
    for i in range(count - 1, -1, -1):
        if bodies[i].parent >= 0:
            bodies[bodies[i].parent].carried += bodies[i].carried


cdef void find_radii(const Body *bodies, Py_ssize_t count, double *moments, double *radius) noexcept:
    """radius <- each subtree's radius of gyration about its axis, or the shortest; infinite without mass.

    moments is a workspace of 12 doubles for every body.
    """
    cdef Py_ssize_t i
    cdef int r, c
    cdef const Body *body
    cdef double *first
    cdef double *above
    cdef double[3] h
    cdef double[9] R, half, shift, turned
    cdef double moment
    cdef bint turns_freely
    for i in range(count):
        memcpy(moments + 12 * i, bodies[i].first, 3 * sizeof(double))
        memcpy(moments + 12 * i + 3, bodies[i].tensor, 9 * sizeof(double))
    for i in range(count - 1, -1, -1):
        body, first = bodies + i, moments + 12 * i
        radius[i] = INFINITY
        if body.carried > 0.0:
            turns_freely = body.kind == SPHERICAL or body.kind == FREEFLYER
            moment = least_moment(first + 3) if turns_freely else first[11]
            radius[i] = sqrt(fmax(moment, 0.0) / body.carried)
        if body.parent < 0:
            continue
        above = moments + 12 * body.parent
        transpose(body.R, R)
        apply(R, first, h)
        multiply(R, first + 3, half)
        multiply(half, body.R, turned)
        for r in range(3):
            for c in range(3):
                shift[3 * r + c] = body.p[r] * h[c] + (h[r] + body.carried * body.p[r]) * body.p[c]
        for r in range(3):
            above[r] += h[r] + body.carried * body.p[r]
            for c in range(3):
                above[3 + 3 * r + c] += turned[3 * r + c] - shift[3 * r + c]
            above[3 + 4 * r] += shift[0] + shift[4] + shift[8]


cdef double least_moment(const double *A) noexcept:
    """Return the least eigenvalue of a symmetric matrix."""
    cdef double mean = (A[0] + A[4] + A[8]) / 3.0, p, det
    cdef double a = A[0] - mean, b = A[4] - mean, c = A[8] - mean
    p = sqrt((a * a + b * b + c * c + 2.0 * (A[1] * A[1] + A[2] * A[2] + A[5] * A[5])) / 6.0)
    if p == 0.0:
        return mean
    det = a * (b * c - A[5] * A[5]) - A[1] * (A[1] * c - A[5] * A[2]) + A[2] * (A[1] * A[5] - b * A[2])
    det /= p * p * p
    return mean + 2.0 * p * cos((acos(fmax(-1.0, fmin(1.0, det / 2.0))) + 2.0 * M_PI) / 3.0)


cdef void choose_origins(Body *bodies, Py_ssize_t count, const double *radius, double *arm) noexcept:
    """Store the body whose joint is each body's local origin, and the number of freedoms of its ancestors."""
    cdef Py_ssize_t i
    cdef Body *body
    cdef const Body *carrier
    for i in range(count):
        body = bodies + i
        body.local, arm[i] = i, 0.0
        if body.parent < 0:
            continue
        carrier = bodies + body.parent
        body.above = carrier.above + carrier.freedoms
        if body.kind in (PRISMATIC, HELICAL, PLANAR, TRANSLATION, FREEFLYER):   # displaced without limit
            arm[i] = INFINITY
        else:
            arm[i] = arm[body.parent] + sqrt(dot(body.p, body.p[0], body.p[1], body.p[2]))
        if body.kind != PRISMATIC and body.kind != TRANSLATION and arm[i] > longest_arm * radius[i]:
            arm[i] = 0.0
        else:
            body.local = carrier.local


def body_structs(model):
    """Return the structs `BODY` of a model and the body of every joint: of universal ones the second."""
    cdef tuple joints = (model._source or model).joints, idx_q = model.idx_q
    cdef Py_ssize_t joint_count = len(joints), i, count = 0, parent
    cdef cnp.ndarray structs = np.zeros(2 * joint_count, dtype=BODY), massive = np.empty(joint_count, np.intp)
    cdef cnp.ndarray axes = np.empty((joint_count + 1) * sizeof(Axes), np.uint8)
    cdef cnp.ndarray parameters = np.ascontiguousarray(model.parameters)
    cdef cnp.ndarray workspace = np.empty(28 * joint_count)
    cdef cnp.ndarray kin = np.empty((2 * joint_count + 1) * sizeof(Kin), np.uint8)
    cdef Body *bodies = <Body *> structs.data
    cdef Axes *base = <Axes *> axes.data        # then the axes of all joints
    cdef Py_ssize_t *last = <Py_ssize_t *> massive.data
    cdef double *radius = <double *> workspace.data
    unturned(base)
    for i in range(joint_count):
        joint = joints[i]
        parent = joint.parent
        leader = None if joint.mimic is None else joints[joint.mimic.leader]
        count += place_joint(bodies, count, i, joint, leader, idx_q[i], base + parent + 1,
                             last[parent] if parent >= 0 else -1, base + i + 1)
        last[i] = count - 1
        take_inertia(bodies + last[i], <const double *> parameters.data + 10 * i)
    number_angles(bodies, count)
    find_children(bodies, count)
    level_turns(bodies, count, <Kin *> kin.data)
    count_freedoms(bodies, count)
    carry(bodies, count)
    find_radii(bodies, count, radius + 2 * joint_count, radius)
    choose_origins(bodies, count, radius, radius + 2 * joint_count)
    return structs[:count].copy(), massive


def permuted(cnp.ndarray parameters not None, cnp.ndarray source not None, cnp.ndarray sign not None):
    """Return the parameters (..., joints, 10) of bodies in permuted axes: see `permutations`."""
    cdef cnp.ndarray given = cnp.PyArray_GETCONTIGUOUS(parameters)
    cdef cnp.ndarray turned = cnp.PyArray_SimpleNew(given.ndim, given.shape, cnp.NPY_DOUBLE)
    cdef const Py_ssize_t *places = <const Py_ssize_t *> source.data
    cdef const double *factors = <const double *> sign.data
    cdef const double *pi = <const double *> given.data
    cdef double *to = <double *> turned.data
    cdef Py_ssize_t size = source.size, k
    for _ in range(turned.size // size if size else 0):
        for k in range(size):
            to[k] = pi[places[k]] * factors[k]
        pi += size
        to += size
    return turned


def with_inertias(cnp.ndarray structs not None, cnp.ndarray massive not None, cnp.ndarray turned not None):
    """Return a copy of structs whose bodies have other parameters (joints, 10), in their own axes."""
    cdef cnp.ndarray filled = cnp.PyArray_NewCopy(structs, cnp.NPY_CORDER)
    cdef cnp.ndarray parameters = cnp.PyArray_GETCONTIGUOUS(turned)
    cdef Body *bodies = <Body *> filled.data
    cdef Body *body
    cdef const double *pi = <const double *> parameters.data
    cdef Py_ssize_t i, k
    for i in range(massive.shape[0]):
        body = bodies + (<Py_ssize_t *> massive.data)[i]
        body.mass = pi[10 * i]
        memcpy(body.first, pi + 10 * i + 1, sizeof(body.first))
        for k in range(9):
            body.tensor[k] = pi[10 * i + ENTRY[k]]
    carry(bodies, filled.shape[0])
    return filled


def permutations(cnp.ndarray structs not None, cnp.ndarray massive not None):
    """Return how the parameters of bodies in their own axes follow from those in the axes of their joints.

    Returns
    -------
    axes : ndarray, shape (joints, 3, 3)
        Rotations from the joints' axes to those of their bodies.
    source, sign : ndarray, shape (joints, 10)
        Of axes that are permuted: places of the parameters, among those of all joints, and their factors.
    turned : ndarray of int
        Joints of all others.
    """
    cdef Py_ssize_t joints = massive.size, i, k
    cdef cnp.ndarray axes = np.empty((joints, 3, 3)), source = np.empty((joints, 10), np.intp)
    cdef cnp.ndarray sign = np.empty((joints, 10))
    cdef const Body *bodies = <const Body *> structs.data
    cdef Py_ssize_t *places
    cdef double *factors
    cdef double *R
    cdef double[3] of_axis
    cdef int[3] at
    cdef int r, c
    cdef bint permuted
    cdef list turned = []
    for i in range(joints):
        R = <double *> axes.data + 9 * i
        places, factors = <Py_ssize_t *> source.data + 10 * i, <double *> sign.data + 10 * i
        transpose(bodies[(<Py_ssize_t *> massive.data)[i]].axes, R)
        permuted = True
        for k in range(9):
            permuted = permuted and (R[k] == 0.0 or fabs(R[k]) == 1.0)
        if not permuted:
            turned.append(i)
        for r in range(3):
            at[r], of_axis[r] = r, 1.0
            for c in range(3 if permuted else 0):
                if R[3 * r + c] != 0.0:
                    at[r], of_axis[r] = c, R[3 * r + c]
        places[0], factors[0] = 10 * i, 1.0
        for r in range(3):
            places[1 + r], factors[1 + r] = 10 * i + 1 + at[r], of_axis[r]
        for k in range(6):
            r, c = ROWS[k], COLUMNS[k]
            places[4 + k], factors[4 + k] = 10 * i + ENTRY[3 * at[r] + at[c]], of_axis[r] * of_axis[c]
    return axes, source, sign, np.array(turned, dtype=np.intp)
