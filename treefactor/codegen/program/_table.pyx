"""Define the table of scalar expressions, without duplicates, and the scalars whose arithmetic fills it."""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs
from libc.string cimport memcpy

import numpy as np

cnp.import_array()

OPERATIONS = ("CONST", "INPUT", "ADD", "SUB", "MUL", "RECIP", "SIN", "COS", "SQRT", "ATAN2")

cdef enum:                       # in the order of OPERATIONS
    CONST
    INPUT
    ADD
    SUB
    MUL
    RECIP
    SIN
    COS
    SQRT
    ATAN2


cdef class Table:
    """Table of distinct statements ``op(a, b)``: the scalar expression table (SET) of Golubev & Yaskevich.

    A scalar is the number of a statement, negated for the negative of its value, so that a change of sign
    needs no statement. Operands of sums and products are ordered; their signs become ADD or SUB, or the sign
    of the result. Statement 0 is unused. CONST has the two halves of its bits as operands, INPUT the number
    of the argument and the entry. The second operand of RECIP is k + 1 if the first is the pivot of freedom
    k, -(k + 1) if it is the negative of that pivot, and 0 otherwise. That of SQRT is k + 1 where the square
    root closes loop k. ATAN2 has the two operands of atan2(y, x).
    """
    cdef readonly int rows
    cdef unsigned char[::1] op
    cdef int[::1] a, b, slots

    def __cinit__(self):
        self.rows = 1
        self.op = np.zeros(1024, np.uint8)
        self.a = np.zeros(1024, np.intc)
        self.b = np.zeros(1024, np.intc)
        self.slots = np.zeros(4096, np.intc)

    def input(self, int argument, int entry):
        """Return the scalar of an entry of an argument."""
        return self.scalar(self.row(INPUT, argument, entry))

    def columns(self):
        """Return copies of the columns op, a, b."""
        return np.array(self.op[:self.rows]), np.array(self.a[:self.rows]), np.array(self.b[:self.rows])

    def atan2(self, y, x):
        """Return the scalar atan2(y, x) of scalars and constants; it is odd in y."""
        cdef int code = self.code(y)
        cdef int row = self.row(ATAN2, abs(code), self.positive(self.code(x)))
        return self.scalar(row if code > 0 else -row)

    def codes(self, values):
        """Return the signed statement numbers of scalars and constants, added to the table if needed."""
        return np.array([self.code(value) for value in values], np.intc)

    cdef int code(self, value) except? 0:
        """Return the signed statement number of a scalar or constant."""
        return (<Scalar>value).code if type(value) is Scalar else self.constant(value)

    cdef Scalar scalar(self, int code):
        """Return the scalar of a signed statement number."""
        cdef Scalar scalar = Scalar.__new__(Scalar)
        scalar.table = self
        scalar.code = code
        return scalar

    cdef int constant(self, double value) except? 0:
        """Return the signed statement number of a constant; statements store its absolute value."""
        cdef int halves[2]
        cdef double size = fabs(value)
        memcpy(halves, &size, 8)
        cdef int row = self.row(CONST, halves[0], halves[1])
        return -row if value < 0 else row

    cdef double number(self, int row):
        """Return the constant of a CONST statement."""
        cdef int[2] halves = [self.a[row], self.b[row]]
        cdef double value
        memcpy(&value, halves, 8)
        return value

    cdef int row(self, unsigned char op, int a, int b) except -1:
        """Return the statement op(a, b), added if it does not exist."""
        cdef unsigned int mask = self.slots.shape[0] - 1
        cdef unsigned int slot = hashed(op, a, b) & mask
        cdef int statement = self.slots[slot]
        while statement:
            if self.a[statement] == a and self.b[statement] == b and self.op[statement] == op:
                return statement
            slot = (slot + 1) & mask
            statement = self.slots[slot]
        if self.rows == self.op.shape[0]:
            self.grow()
            return self.row(op, a, b)
        statement = self.rows
        self.op[statement], self.a[statement], self.b[statement] = op, a, b
        self.slots[slot] = statement
        self.rows += 1
        return statement

    cdef int grow(self) except -1:
        """Double the capacity; the hash table has four entries per statement."""
        cdef int row, size = 2 * self.op.shape[0]
        cdef unsigned int slot
        self.op = np.resize(self.op, size)
        self.a = np.resize(self.a, size)
        self.b = np.resize(self.b, size)
        self.slots = np.zeros(4 * size, np.intc)
        for row in range(1, self.rows):
            slot = hashed(self.op[row], self.a[row], self.b[row]) & (4 * size - 1)
            while self.slots[slot]:
                slot = (slot + 1) & (4 * size - 1)
            self.slots[slot] = row
        return 0

    cdef shifted(self, int x, double number):
        """Return x plus a constant, using (x + c) + d = x + (c + d)."""
        cdef int p = abs(x), a = self.a[p], b = self.b[p]
        if self.op[p] == ADD or self.op[p] == SUB:
            if self.op[p] == SUB:
                b = -b
            if x < 0:
                a, b = -a, -b
            if self.op[abs(b)] == CONST:
                a, b = b, a
            if self.op[abs(a)] == CONST:
                number += self.number(a) if a > 0 else -self.number(-a)
                return self.sum(b, self.constant(number)) if number else self.scalar(b)
        return self.sum(x, self.constant(number))

    cdef total(self, int x, int y):
        """Return x + y of statements that are not constants."""
        if x == y:
            return self.scaled(x, 2.0)
        return 0.0 if x == -y else self.sum(x, y)

    cdef sum(self, int x, int y):
        """Return x + y, one of which may be a constant; terms that cancel are removed."""
        cdef int left = self.remainder(x, y) or self.remainder(y, x)
        if left:
            return self.scalar(left)
        cdef int c = self.factor(x), d = self.factor(y)
        cdef int p = self.cofactor(x, c)
        if (c or d) and p == self.cofactor(y, d):  # c p + d p = (c + d) p
            return self.scaled(p, self.coefficient(x, c) + self.coefficient(y, d))
        cdef int low = x if abs(x) < abs(y) else y, high = x + y - low
        cdef int row = self.row(ADD if (low > 0) == (high > 0) else SUB, abs(low), abs(high))
        return self.scalar(row if low > 0 else -row)

    cdef product(self, int x, int y):
        """Return x y, using (1 / x) x = 1."""
        cdef int p = abs(x), r = abs(y), sign = 1 if (x > 0) == (y > 0) else -1
        if (self.op[p] == RECIP and self.a[p] == r) or (self.op[r] == RECIP and self.a[r] == p):
            return float(sign)
        return self.scalar(sign * self.row(MUL, min(p, r), max(p, r)))

    cdef scaled(self, int x, double number):
        """Return a constant times x, using c (d x) = (c d) x."""
        cdef int c = self.factor(x)
        cdef int p = self.cofactor(x, c)
        number *= self.coefficient(x, c)
        if number == 0:
            return 0.0
        if fabs(number) == 1:
            return self.scalar(p if number > 0 else -p)
        c = self.constant(fabs(number))
        cdef int row = self.row(MUL, min(c, p), max(c, p))
        return self.scalar(row if number > 0 else -row)

    cdef int positive(self, int x) except -1:
        """Return the statement of a scalar; of the negative of a statement, 0 minus that."""
        return x if x > 0 else self.row(SUB, self.constant(0.0), -x)

    cdef int factor(self, int x):
        """Return the CONST statement that x is a multiple of, or 0."""
        cdef int p = abs(x)
        if self.op[p] != MUL:
            return 0
        return self.a[p] if self.op[self.a[p]] == CONST else self.b[p] if self.op[self.b[p]] == CONST else 0

    cdef int cofactor(self, int x, int factor):
        """Return the statement that x is this multiple of."""
        cdef int p = abs(x)
        return p if not factor else self.b[p] if self.a[p] == factor else self.a[p]

    cdef double coefficient(self, int x, int factor):
        """Return the constant factor with the sign of x."""
        cdef double size = self.number(factor) if factor else 1.0
        return size if x > 0 else -size

    cdef int remainder(self, int x, int y):
        """Return the other term if x is a sum with the term -y, or 0."""
        cdef int p = abs(x), a = self.a[p], b = self.b[p]
        if self.op[p] != ADD and self.op[p] != SUB:
            return 0
        if self.op[p] == SUB:
            b = -b
        if x < 0:
            a, b = -a, -b
        return b if a == -y else a if b == -y else 0


cdef inline unsigned int hashed(unsigned char op, int a, int b) noexcept nogil:
    """Return the hash of a statement."""
    cdef unsigned long long key = (<unsigned long long>(<unsigned int>a) << 32) | <unsigned int>b
    key = (key ^ op) * 0x9E3779B97F4A7C15ULL
    key = (key ^ (key >> 29)) * 0xBF58476D1CE4E5B9ULL
    return <unsigned int>(key >> 32)


@cython.final
@cython.freelist(4096)
cdef class Scalar:
    """Scalar expression: a statement of a table, or its negative. Constants are Python floats and folded:

    x + 0 = x, 0 x = 0, 1 x = x, c (d x) = (c d) x, c x + d x = (c + d) x, (x + y) - y = x, x / x = 1; x / y
    multiplies x by a reciprocal.
    """
    cdef readonly Table table
    cdef readonly int code

    def __add__(self, other):
        cdef Table table = self.table
        if type(other) is Scalar:
            return table.total(self.code, (<Scalar>other).code)
        return table.shifted(self.code, other) if other != 0 else self

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        if type(other) is Scalar:
            return self.table.total(self.code, -(<Scalar>other).code)
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        if type(other) is Scalar:
            return self.table.product(self.code, (<Scalar>other).code)
        return self.table.scaled(self.code, other)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        return self * (1.0 / other)

    def __rtruediv__(self, other):
        cdef int row = self.table.row(RECIP, abs(self.code), 0)
        return self.table.scaled(row if self.code > 0 else -row, other)

    def __eq__(self, other):
        return type(other) is Scalar and self.code == (<Scalar>other).code

    def __hash__(self):
        return self.code

    def __neg__(self):
        return self.table.scalar(-self.code)

    def pivot(self, int freedom):
        """Return the reciprocal of the pivot of a freedom, NaN unless the pivot is positive."""
        cdef int sign = 1 if self.code > 0 else -1
        return self.table.scalar(sign * self.table.row(RECIP, abs(self.code), sign * (freedom + 1)))

    def sincos(self):
        """Return sine and cosine; signs use that sine is odd and cosine even."""
        cdef int sine = self.table.row(SIN, abs(self.code), 0)
        cdef int cosine = self.table.row(COS, abs(self.code), 0)
        return self.table.scalar(sine if self.code > 0 else -sine), self.table.scalar(cosine)

    def sqrt(self, int loop):
        """Return the square root that closes a loop, NaN if the scalar is negative."""
        return self.table.scalar(self.table.row(SQRT, self.table.positive(self.code), loop + 1))


def use_counts(const unsigned char[::1] op, const int[::1] a, const int[::1] b, const int[::1] targets):
    """Count the uses of every statement by targets and used statements; 0 if no target depends on it."""
    cdef int[::1] uses = np.zeros(op.shape[0], np.intc)
    cdef Py_ssize_t row
    for row in range(targets.shape[0]):
        uses[abs(targets[row])] += 1
    for row in range(op.shape[0] - 1, 0, -1):
        if uses[row] and op[row] >= ADD:
            uses[a[row]] += 1
            if op[row] <= MUL or op[row] == ATAN2:
                uses[b[row]] += 1
    return np.asarray(uses)
