"""Recursions for the inertia matrix and the forces of a chain: see chain_on_scalars.py for the derivation.

    for k = n .. 1:   (m, h, I) <- composite of bodies k .. n about O_k
                      (P, L) <- its momentum when joint k alone moves at unit rate, moved to O_1
                      A_ik = a_i^T L + v_i^T P for every i < k

Arrays of one chain of n bodies are axis, r, c (n, 3), mass (n,), inertia (n, 3, 3), all in the base frame,
moments about O_k; r[k] is from O_k-1 to O_k. slides (n,) marks prismatic joints.
"""


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


cdef void inertia_of(const Chain *s, double *A, double *workspace) noexcept nogil:
    """A (n, n) <- inertia matrix of one chain; workspace (2 n, 3)."""
    cdef Py_ssize_t n = s.n, i, k, d
    cdef double *o = workspace
    cdef double *v = workspace + 3 * n
    cdef double m = 0.0, entry
    cdef double h[3]
    cdef double shifted[3]
    cdef double P[3]
    cdef double L[3]
    cdef double I[9]
    cdef const double *a
    velocities(s, o, v)
    for d in range(3):
        h[d] = shifted[d] = 0.0
    for d in range(9):
        I[d] = 0.0
    for k in range(n - 1, -1, -1):
        a = s.axis + 3 * k
        if k < n - 1:
            for d in range(3):
                shifted[d] = h[d] + m * s.r[3 * k + 3 + d]
            move(I, h, s.r + 3 * k + 3, shifted)
        m += s.mass[k]
        for d in range(3):
            h[d] = shifted[d] + s.c[3 * k + d]
        for d in range(9):
            I[d] += s.inertia[9 * k + d]
        if s.slides[k]:
            for d in range(3):
                P[d] = m * a[d]
            cross(h, a, L)
            A[k * n + k] = m
        else:
            cross(a, h, P)
            apply(I, a, L)
            A[k * n + k] = dot(a, L)
        add_cross(o + 3 * k, P, L)
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
