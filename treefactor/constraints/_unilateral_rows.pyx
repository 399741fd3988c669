"""Compute the unilateral rows of a time step, of near contacts and joint limits, and sum their impulses."""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, fmax, fmin
from libc.string cimport memcpy

import numpy as np

cnp.import_array()

cdef inline Py_ssize_t *numbers(cnp.ndarray x):
    return <Py_ssize_t *> x.data


cdef inline double *doubles(cnp.ndarray x):
    return <double *> x.data


cdef class UnilateralRows:
    """Rows D v >= d of the contacts and limits of one model; assumes contiguous arrays of the right sizes.

    Parameters
    ----------
    mu : ndarray, shape (contacts,)
        Coefficients of friction.
    forms : ndarray, shape (forms, 3)
        Coefficients of normal and tangents in the rows of one contact, without mu. Contacts without friction
        have the first row only, and so have those whose bounds of friction are zero.
    boxed : bool
        Rows without normal have bounds, mu times the normal impulse of the last step; otherwise tangents are
        multiplied by mu.
    limits : tuple of ndarray
        Index in q, index in v, sign and bound of every joint limit.
    h, stabilization : float
    noise : float
        Relative to momenta; a smaller normal impulse gives friction the bound zero.
    restitution : ndarray, shape (contacts,)
        Share of the speed of approach with which bodies part.
    slow : float
        Speed of approach up to which they do not, m/s.
    """

    def __init__(self, mu, forms, bint boxed, limits, double h, double stabilization,
                 double noise, restitution, double slow):
        self.kept = mu, forms, boxed, limits, h, stabilization, noise, restitution, slow
        self.mu, self.forms, self.boxed = mu, forms, boxed
        self.restitution, self.slow = restitution, slow
        self.limited, self.column, self.sign, self.bound = limits
        self.h, self.stabilization, self.noise = h, stabilization, noise

    def __reduce__(self):
        return UnilateralRows, self.kept

    def with_friction(self, mu):
        """Return these rows with other coefficients of friction."""
        return UnilateralRows(mu, *self.kept[1:])

    def rows(self, cnp.ndarray which not None, cnp.ndarray near not None, cnp.ndarray start not None,
             cnp.ndarray column not None, cnp.ndarray data not None, cnp.ndarray errors not None,
             cnp.ndarray q not None, cnp.ndarray v not None, cnp.ndarray pressed not None):
        """Combine normals and tangents of near contacts by the forms to rows; rows of limits follow.

        Parameters
        ----------
        which, near, start, column, data, errors
            Numbers, gaps and rows of the contacts, from `ContactKernel.near`.
        q, v : (nq,), (nv,)
        pressed : (near contacts,)
            Normal impulses of the last step.

        Returns
        -------
        start, column, entries : ndarray
            All rows in compressed form.
        d : ndarray
        upper : ndarray or None
            Bounds of the impulses, where friction is a box.
        key : ndarray
            Number of the contact times number of forms, plus form; then consecutive numbers for limits.
        of, along : ndarray, shapes (rows,), (rows, 3)
            For rows of contacts: index of the near contact, and coefficients of normal and tangents.
        gap : ndarray
            Gaps of all rows.
        """
        cdef Py_ssize_t count, rows, size
        cdef const double *configuration = <const double *> q.data
        cdef const double *velocity = <const double *> v.data
        cdef const double *normal = <const double *> pressed.data
        cdef RowResults r
        cdef Near x
        x.count, x.size, x.number, x.gap = which.shape[0], data.shape[1], numbers(which), doubles(near)
        x.start, x.column, x.data = numbers(start), numbers(column), doubles(data)
        x.errors = doubles(errors)
        count = self.measure(&x, normal, &size)
        rows = count - self.limited.shape[0]
        starts, columns, entries = np.empty(count + 1, np.intp), np.empty(size, np.intp), np.empty(size)
        d, upper, gap = np.empty(count), np.empty(count) if self.boxed else None, np.empty(count)
        key, of, along = np.empty(count, np.intp), np.empty(rows, np.intp), np.empty((rows, 3))
        r.start, r.column, r.entries = numbers(starts), numbers(columns), doubles(entries)
        r.d, r.gap, r.upper = doubles(d), doubles(gap), doubles(upper) if self.boxed else NULL
        r.key, r.of, r.along = numbers(key), numbers(of), doubles(along)
        with nogil:
            self.combine(&x, configuration, velocity, normal, &r)
        return starts, columns, entries, d, upper, key, of, along, gap

    cdef Py_ssize_t measure(self, const Near *x, const double *pressed, Py_ssize_t *size) noexcept nogil:
        """Return the number of rows; size <- their entries."""
        cdef Py_ssize_t k, forms, rows = self.limited.shape[0]
        size[0] = rows
        for k in range(x.count):
            forms = self.forms_of(x.number[k], pressed[k])
            rows += forms
            size[0] += forms * (x.start[k + 1] - x.start[k])
        return rows

    cdef void combine(self, const Near *x, const double *q, const double *v, const double *pressed,
                      RowResults *r) noexcept nogil:
        """Compute all results of `rows`."""
        cdef Py_ssize_t k, i, row = 0
        cdef double speed
        r.row = r.entry = r.start[0] = 0
        for k in range(x.count):
            self.add_contact(r, k, x.number[k], x.gap[k], x.start[k + 1] - x.start[k], pressed[k],
                             x.column + x.start[k], x.data + x.start[k], x.size, x.errors + x.start[k])
        for k in range(self.limited.shape[0]):
            self.add_limit(r, k, q[self.limited[k]])
        for k in range(r.row):
            r.d[k] = -(1.0 if r.gap[k] > 0.0 else self.stabilization) / self.h * r.gap[k]
        for k in range(x.count):
            speed = self.rebound(x, k, v) if self.restitution[x.number[k]] > 0.0 else 0.0
            for i in range(self.forms_of(x.number[k], pressed[k])):
                if speed > 0.0 and self.forms[i, 0] > 0.0:
                    r.d[row] = fmax(r.d[row], speed)
                row += 1

    cdef double rebound(self, const Near *x, Py_ssize_t k, const double *v) noexcept nogil:
        """Return the speed with which near contact k opens after it closes in this step; 0 if it does not."""
        #   Newton: n . v_new >= -e n . v
        cdef double approach = 0.0
        cdef Py_ssize_t e
        for e in range(x.start[k], x.start[k + 1]):
            approach -= x.data[e] * v[x.column[e]]
        if approach > self.slow and x.gap[k] <= self.h * approach:
            return self.restitution[x.number[k]] * approach
        return 0.0

    cdef void add_contact(self, RowResults *r, Py_ssize_t k, Py_ssize_t contact, double gap, Py_ssize_t size,
                          double pressed, const Py_ssize_t *column, const double *data,
                          Py_ssize_t apart, const double *errors) noexcept nogil:
        """Add the rows of near contact k; its normal and tangents, `apart`, have `size` entries.

        Normal and tangents may cancel each other, too: what is within the rounding errors is zero.
        """
        cdef Py_ssize_t e, i
        cdef double mu = self.mu[contact], scale = 1.0 if self.boxed else mu, a, b, c, x, terms
        cdef double *along
        cdef double *to
        for i in range(self.forms_of(contact, pressed)):
            a, b, c = self.forms[i, 0], scale * self.forms[i, 1], scale * self.forms[i, 2]
            along = r.along + 3 * r.row
            along[0], along[1], along[2] = a, b, c
            terms, to = fabs(a) + fabs(b) + fabs(c), r.entries + r.entry
            for e in range(size):
                x = a * data[e] + b * data[apart + e] + c * data[2 * apart + e]
                to[e] = x if fabs(x) > terms * errors[e] else 0.0
            memcpy(r.column + r.entry, column, size * sizeof(Py_ssize_t))
            r.of[r.row], r.key[r.row] = k, contact * self.forms.shape[0] + i
            self.finish(r, size, a * gap, INFINITY if a > 0.0 else mu * pressed)

    cdef void add_limit(self, RowResults *r, Py_ssize_t k, double q) noexcept nogil:
        """Add the row of limit k."""
        r.column[r.entry], r.entries[r.entry] = self.column[k], self.sign[k]
        r.key[r.row] = self.mu.shape[0] * self.forms.shape[0] + k
        self.finish(r, 1, self.sign[k] * (q - self.bound[k]), INFINITY)

    cdef void finish(self, RowResults *r, Py_ssize_t size, double gap, double upper) noexcept nogil:
        """Set gap and bound of a row, and begin the next one."""
        r.gap[r.row] = gap
        if r.upper != NULL:
            r.upper[r.row] = upper
        r.row += 1
        r.entry += size
        r.start[r.row] = r.entry

    cdef Py_ssize_t forms_of(self, Py_ssize_t contact, double pressed) noexcept nogil:
        """Return the number of rows of a contact."""
        return self.forms.shape[0] if self.mu[contact] > 0.0 and not (self.boxed and pressed == 0.0) else 1

    def normal_impulses(self, const Py_ssize_t[::1] start not None, const Py_ssize_t[::1] column not None,
                        const Py_ssize_t[::1] of not None, const double[:, ::1] along not None,
                        const double[::1] gamma not None, const double[::1] g not None):
        """Sum the normal impulses of near contacts; zero where they are rounding errors of the momenta g."""
        cdef Py_ssize_t near = start.shape[0] - 1
        normals = np.zeros(near)
        cdef double[::1] normal = normals
        if near:
            sum_normals(of.shape[0], &of[0], &along[0, 0], &gamma[0], near, &start[0], &column[0], &g[0],
                        self.noise, &normal[0])
        return normals


cdef void sum_normals(Py_ssize_t rows, const Py_ssize_t *of, const double *along, const double *gamma,
                      Py_ssize_t near, const Py_ssize_t *start, const Py_ssize_t *column, const double *g,
                      double noise, double *normal) noexcept nogil:
    """Compute the result of `normal_impulses`."""
    cdef Py_ssize_t row, k, e
    cdef double largest
    for k in range(near):
        normal[k] = 0.0
    for row in range(rows):
        normal[of[row]] += gamma[row] * along[3 * row]
    for k in range(near):
        largest = 0.0
        for e in range(start[k], start[k + 1]):
            largest = max(largest, fabs(g[column[e]]))
        if not normal[k] > noise * largest:
            normal[k] = 0.0


def impulses_of(const double[:, :, ::1] axes not None, const Py_ssize_t[::1] of not None,
                const double[:, ::1] along not None, const double[::1] gamma not None):
    """Sum the impulses of all near contacts in axes of the base: (near, 3)."""
    cdef Py_ssize_t row, r
    impulses = np.zeros((axes.shape[0], 3))
    cdef double[:, ::1] impulse = impulses
    cdef const double *n
    cdef double x, y, z
    with nogil:
        for row in range(of.shape[0]):
            if gamma[row] == 0.0:
                continue
            n = &axes[of[row], 0, 0]
            x, y, z = gamma[row] * along[row, 0], gamma[row] * along[row, 1], gamma[row] * along[row, 2]
            for r in range(3):
                impulse[of[row], r] += x * n[r] + y * n[3 + r] + z * n[6 + r]
    return impulses


def by_contacts(Py_ssize_t contacts, const Py_ssize_t[::1] owner not None,
                const Py_ssize_t[::1] which not None, const double[::1] near not None,
                const double[:, ::1] impulse not None):
    """Return least gaps and sums of impulses by contacts, of those of near slots; inf and 0 without any."""
    cdef Py_ssize_t i, k, r
    gaps, impulses = np.empty(contacts), np.zeros((contacts, 3))
    cdef double[::1] gap = gaps
    cdef double[:, ::1] total = impulses
    with nogil:
        for k in range(contacts):
            gap[k] = INFINITY
        for i in range(which.shape[0]):
            k = owner[which[i]]
            gap[k] = fmin(gap[k], near[i])
            for r in range(3):
                total[k, r] += impulse[i, r]
    return gaps, impulses


cdef void keep_open(const RowResults *rows, const double *v, double *d) noexcept nogil:
    """Let rows without overlap close, by a motion that is added to v, no more than v leaves them open."""
    cdef Py_ssize_t k, e
    cdef double rate
    for k in range(rows.row):
        if rows.gap[k] < 0.0:
            continue
        rate = 0.0
        for e in range(rows.start[k], rows.start[k + 1]):
            rate += rows.entries[e] * v[rows.column[e]]
        d[k] = fmin(d[k] - rate, 0.0)


def bounds_of_removal(cnp.ndarray start not None, cnp.ndarray column not None, cnp.ndarray entries not None,
                      cnp.ndarray d not None, cnp.ndarray gap not None, cnp.ndarray v not None):
    """Return d for the motion that, added to v, removes overlaps; other rows stay open."""
    cdef RowResults rows
    bounds = d.copy()
    rows.row, rows.start, rows.column = len(d), numbers(start), numbers(column)
    rows.entries, rows.gap = doubles(entries), doubles(gap)
    keep_open(&rows, doubles(v), doubles(bounds))
    return bounds


cdef void match_rows(Py_ssize_t rows, const Py_ssize_t *key, Py_ssize_t known, const Py_ssize_t *before,
                     const double *gamma, const unsigned char *active, double *impulse,
                     unsigned char *on) noexcept nogil:
    """Write impulses and row status that rows with these ascending keys had before; zeros for new ones."""
    cdef Py_ssize_t i, j = 0
    for i in range(rows):
        while j < known and before[j] < key[i]:
            j += 1
        impulse[i], on[i] = 0.0, False
        if j < known and before[j] == key[i]:
            impulse[i], on[i] = gamma[j], active[j]


def match_warm_start(cnp.ndarray key not None, cnp.ndarray before not None, cnp.ndarray gamma_c not None,
                     cnp.ndarray gamma not None, cnp.ndarray active not None):
    """Match rows to those of the last step by their ascending keys; return their impulses and row status.

    Bilateral rows, which have gamma_c, are the same in every step and come first.
    """
    cdef Py_ssize_t p = len(gamma_c), m = len(key)
    cdef cnp.ndarray impulses = np.empty(p + m), rows = np.ones(p + m, bool)
    impulses[:p] = gamma_c
    match_rows(m, numbers(key), len(before), numbers(before), doubles(gamma),
               <const unsigned char *> active.data, doubles(impulses) + p, <unsigned char *> rows.data + p)
    return impulses, rows
