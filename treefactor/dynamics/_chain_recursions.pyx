"""Recursions for the inertia matrix and the forces of a chain: see chain_on_scalars.py for the derivation.

    for k = n .. 1:   (m, h, I) <- composite of bodies k .. n about O_k
                      (P, L) <- its momentum when joint k alone moves at unit rate, moved to O_1
                      A_ik = a_i^T L + v_i^T P for every i < k

Of long chains the momenta are computed first, in O(n) operations, then the O(n^2) entries: TILE columns side
by side, so that whole cache lines are written, and on threads. No sum depends on the partition.

Arrays of one chain of n bodies are axis, r, c (n, 3), mass (n,), inertia (n, 3, 3), all in the base frame,
moments about O_k; r[k] is from O_k-1 to O_k. slides (n,) marks prismatic joints.
"""

from libc.string cimport memset


cdef void velocities(const Chain *s, double *o, double *v) noexcept nogil:
    """o <- vectors from O_1 to O_k, v <- velocities at O_1 for unit rate of joint k; (n, 3) each."""
    cdef Py_ssize_t k, d
    for k in range(s.n):
        for d in range(3):
            o[3 * k + d] = 0.0 if k == 0 else o[3 * (k - 1) + d] + s.r[3 * k + d]
        cross(o + 3 * k, s.axis + 3 * k, v + 3 * k)


cdef inline void move(double *I, const double *h, const double *r, const double *shifted) noexcept nogil:
    """Shift symmetric I (3, 3) from O + r to O; h and h + m r are the first moments about these points."""
    #   I' = I + (2 r^T h + m r^T r) E - r h^T - (h + m r) r^T
    cdef double x = r[0] * (h[0] + shifted[0])
    cdef double y = r[1] * (h[1] + shifted[1])
    cdef double z = r[2] * (h[2] + shifted[2])
    I[0] += y + z
    I[4] += x + z
    I[8] += x + y
    I[1] -= r[0] * h[1] + r[1] * shifted[0]
    I[2] -= r[0] * h[2] + r[2] * shifted[0]
    I[5] -= r[1] * h[2] + r[2] * shifted[1]
    I[3] = I[1]
    I[6] = I[2]
    I[7] = I[5]


ctypedef struct Composite:       # bodies k .. n: mass, first moment and tensor about O_k
    double m
    double h[3]
    double I[9]


cdef inline void add_body(const Chain *s, Py_ssize_t k, Composite *c) noexcept nogil:
    """c <- composite of bodies k .. n about O_k, from that of bodies k+1 .. n about O_k+1."""
    cdef double shifted[3]
    cdef const double *r = s.r + 3 * k + 3
    cdef int d
    if k == s.n - 1:
        memset(c, 0, sizeof(Composite))
    else:
        for d in range(3):
            shifted[d] = c.h[d] + c.m * r[d]
        move(c.I, c.h, r, shifted)
        for d in range(3):
            c.h[d] = shifted[d]
    c.m += s.mass[k]
    for d in range(3):
        c.h[d] += s.c[3 * k + d]
    for d in range(9):
        c.I[d] += s.inertia[9 * k + d]


cdef inline double momentum(const Chain *s, Py_ssize_t k, const Composite *c, const double *o,
                            double *P, double *L) noexcept nogil:
    """P, L <- momentum about O_1 of a composite at unit rate of joint k; return A_kk."""
    cdef const double *a = s.axis + 3 * k
    cdef double own
    cdef int d
    if s.slides[k]:
        for d in range(3):
            P[d] = c.m * a[d]
        cross(c.h, a, L)
        own = c.m
    else:
        cross(a, c.h, P)
        apply(c.I, a, L)
        own = dot(a, L)
    add_cross(o + 3 * k, P, L)
    return own


cdef void momenta_of(const Chain *s, double *A, double *workspace) noexcept nogil:
    """Diagonal of A (n, n) <- that of the inertia matrix; workspace <- what `columns_of` reads.

    The workspace holds v (n, 3), o (n, 3) and for every tile L and P, (tiles, 6, TILE).
    """
    cdef Py_ssize_t n = s.n, k, d
    cdef double *o = workspace + 3 * n
    cdef double *X
    cdef double P[3]
    cdef double L[3]
    cdef Composite c
    velocities(s, o, workspace)
    memset(o + 3 * n, 0, 6 * TILE * tiles_of(n) * sizeof(double))
    for k in range(n - 1, -1, -1):
        add_body(s, k, &c)
        A[k * n + k] = momentum(s, k, &c, o, P, L)
        X = o + 3 * n + 6 * TILE * (k // TILE) + k % TILE
        for d in range(3):
            X[TILE * d] = L[d]
            X[TILE * (3 + d)] = P[d]


cdef inline void row_of_tile(const double *a, const double *v, bint slides, const double *X,
                             double *entry) noexcept nogil:
    """entry[j] <- a^T L + v^T P of column j of a tile X (6, TILE), or a^T P for a joint that slides."""
    cdef const double *P = X + 3 * TILE
    cdef int j
    if slides:
        for j in range(TILE):
            entry[j] = a[0] * P[j] + a[1] * P[TILE + j] + a[2] * P[2 * TILE + j]
        return
    for j in range(TILE):
        entry[j] = (a[0] * X[j] + a[1] * X[TILE + j] + a[2] * X[2 * TILE + j]
                    + (v[0] * P[j] + v[1] * P[TILE + j] + v[2] * P[2 * TILE + j]))


cdef void columns_of(const Chain *s, const double *workspace, Py_ssize_t tile, double *A) noexcept nogil:
    """A[i, k] and A[k, i] <- entries of all i < k for the columns k of one tile."""
    cdef Py_ssize_t n = s.n, k = TILE * tile, count = min(<Py_ssize_t> TILE, s.n - TILE * tile), i, j
    cdef const double *X = workspace + 6 * n + 6 * TILE * tile
    cdef double entry[TILE]
    for i in range(k + count - 1):
        row_of_tile(s.axis + 3 * i, workspace + 3 * i, s.slides[i], X, entry)
        for j in range(max(<Py_ssize_t> 0, i + 1 - k), count):
            A[i * n + k + j] = entry[j]
            A[(k + j) * n + i] = entry[j]


cdef void inertia_of(const Chain *s, double *A, double *workspace) noexcept nogil:
    """A (n, n) <- inertia matrix of one chain; short ones gain nothing by tiles."""
    cdef Py_ssize_t n = s.n, i, k
    cdef double *v = workspace
    cdef double P[3]
    cdef double L[3]
    cdef double entry
    cdef Composite c
    if n > SHORT:
        momenta_of(s, A, workspace)
        for k in range(tiles_of(n)):
            columns_of(s, workspace, k, A)
        return
    velocities(s, workspace + 3 * n, v)
    for k in range(n - 1, -1, -1):
        add_body(s, k, &c)
        A[k * n + k] = momentum(s, k, &c, workspace + 3 * n, P, L)
        for i in range(k):
            if s.slides[i]:
                entry = dot(s.axis + 3 * i, P)
            else:
                entry = dot(s.axis + 3 * i, L) + dot(v + 3 * i, P)
            A[i * n + k] = entry
            A[k * n + i] = entry


cdef inline void rotation_rates(const double *w, const double *e, double *E) noexcept nogil:
    """E <- e~ + w~ w~."""
    cdef double xx = w[0] * w[0], yy = w[1] * w[1], zz = w[2] * w[2]
    cdef double xy = w[0] * w[1], xz = w[0] * w[2], yz = w[1] * w[2]
    E[0] = -(yy + zz)
    E[1] = xy - e[2]
    E[2] = xz + e[1]
    E[3] = xy + e[2]
    E[4] = -(xx + zz)
    E[5] = yz - e[0]
    E[6] = xz - e[1]
    E[7] = yz + e[0]
    E[8] = -(xx + yy)


cdef void inertial(const Chain *s, const double *rate, double *f, double *m) noexcept nogil:
    """f, m <- inertial forces and moments (n, 3) about O_j at zero accelerations of the joints."""
    cdef Py_ssize_t j, d
    cdef double w[3]
    cdef double e[3]
    cdef double u[3]             # angular velocity, its rate, acceleration of O_j
    cdef double E[9]
    cdef double x[3]
    cdef double y[3]
    for d in range(3):
        w[d] = e[d] = u[d] = 0.0
    for j in range(s.n):
        if j:                                             # (5)
            apply(E, s.r + 3 * j, x)
            for d in range(3):
                u[d] += x[d]
        for d in range(3):
            x[d] = s.axis[3 * j + d] * rate[j]
        cross(w, x, y)
        for d in range(3):
            if s.slides[j]:
                u[d] += 2 * y[d]
            else:                                         # (3), (4)
                w[d] += x[d]
                e[d] += y[d]
        rotation_rates(w, e, E)
        apply(E, s.c + 3 * j, x)                          # (11)
        for d in range(3):
            f[3 * j + d] = -s.mass[j] * u[d] - x[d]
        apply(s.inertia + 9 * j, e, m + 3 * j)
        add_cross(s.c + 3 * j, u, m + 3 * j)
        apply(s.inertia + 9 * j, w, x)
        add_cross(w, x, m + 3 * j)
        for d in range(3):
            m[3 * j + d] = -m[3 * j + d]


cdef void forces_of(const Chain *s, const double *rate, const double *force, const double *moment,
                    const double *torque, double *b, double *workspace) noexcept nogil:
    """b (n,) <- generalized forces of one chain; workspace (2 n, 3). Numbers are the Kane-sum paper's."""
    cdef Py_ssize_t n = s.n, j, d
    cdef double *f = workspace
    cdef double *m = workspace + 3 * n
    inertial(s, rate, f, m)
    for j in range(n - 1, -1, -1):                        # (17)-(19)
        for d in range(3):
            f[3 * j + d] += force[3 * j + d]
            m[3 * j + d] += moment[3 * j + d]
            if j < n - 1:
                f[3 * j + d] += f[3 * j + 3 + d]
                m[3 * j + d] += m[3 * j + 3 + d]
        if j < n - 1:
            add_cross(s.r + 3 * j + 3, f + 3 * j + 3, m + 3 * j)
        b[j] = dot(s.axis + 3 * j, (f if s.slides[j] else m) + 3 * j) + torque[j]
