"""Rows of straight-line code fused, ordered and placed for the interpreter."""

import numpy as np

OPCODES = ("MUL", "ADD", "SUB", "FMA", "FMS", "FNMA", "DOT", "DET", "RECIP", "SINCOS")
ARITY = (2, 2, 2, 3, 3, 3, 4, 4, 1, 1)  # operands

cdef enum:                       # operations of rows, in the order of `_table`
    ADD = 2
    SUB
    MUL
    RECIP
    SIN
    COS

cdef enum:                       # opcodes, in their order
    OP_MUL
    OP_ADD
    OP_SUB
    OP_FMA
    OP_FMS
    OP_FNMA
    OP_DOT
    OP_DET
    OP_RECIP
    OP_SINCOS
    COUNT

cdef enum:
    NONE = -1
    WINDOW = 1000                # instructions
    OPERANDS = 4
    RESULTS = 2


def fuse(const unsigned char[::1] op, const int[::1] a, const int[::1] b, const int[::1] uses):
    """Instructions for rows: products that only one sum needs join it, sine and cosine of an angle are one.

    Returns
    -------
    code : ndarray of int32, shape (count,)
        Opcodes.
    operand, result : ndarray of int32, shapes (count, 4), (count, 2)
        Rows, -1 where there is none.
    """
    cdef Py_ssize_t rows = op.shape[0], row, count = 0
    cdef int x, y, code
    cdef bint left, right
    cdef int[::1] opcode = np.empty(rows, np.intc)
    cdef int[:, ::1] operand = np.full((rows, OPERANDS), NONE, np.intc)
    cdef int[:, ::1] result = np.full((rows, RESULTS), NONE, np.intc)
    cdef int[::1] turned = np.full(rows, NONE, np.intc)      # the instruction that turns by an angle
    cdef unsigned char[::1] joined = np.zeros(rows, np.uint8)
    for row in range(rows):
        if op[row] == ADD or op[row] == SUB:
            x, y = a[row], b[row]
            joined[x] |= op[x] == MUL and uses[x] == 1
            joined[y] |= op[y] == MUL and uses[y] == 1
    for row in range(rows):
        if op[row] < ADD or joined[row]:
            continue
        x, y = a[row], b[row]
        if op[row] >= SIN:
            if turned[x] == NONE:
                turned[x] = count
                opcode[count], operand[count, 0] = OP_SINCOS, x
                count += 1
            result[turned[x], op[row] - SIN] = row
            continue
        result[count, 0] = row
        if op[row] == RECIP:
            opcode[count], operand[count, 0] = OP_RECIP, x
        elif op[row] == MUL:
            opcode[count], operand[count, 0], operand[count, 1] = OP_MUL, x, y
        else:
            left, right = joined[x], joined[y]
            if left:
                operand[count, 0], operand[count, 1] = a[x], b[x]
                operand[count, 2] = a[y] if right else y
                operand[count, 3] = b[y] if right else NONE
                code = OP_DOT if right else OP_FMA
                opcode[count] = code if op[row] == ADD else OP_DET if right else OP_FMS
            elif right:
                operand[count, 0], operand[count, 1], operand[count, 2] = a[y], b[y], x
                opcode[count] = OP_FMA if op[row] == ADD else OP_FNMA
            else:
                opcode[count], operand[count, 0], operand[count, 1] = OP_ADD, x, y
                opcode[count] = OP_ADD if op[row] == ADD else OP_SUB
        count += 1
    return np.array(opcode[:count]), np.array(operand[:count]), np.array(result[:count])


cdef class Ready:
    """Instructions that can run, first come first served for every opcode."""
    cdef int[::1] following
    cdef int first[COUNT]
    cdef int last[COUNT]
    cdef int waiting[COUNT]

    def __cinit__(self, Py_ssize_t count):
        cdef int code
        self.following = np.empty(count, np.intc)
        for code in range(COUNT):
            self.waiting[code] = 0

    cdef void push(self, int code, int instruction) noexcept:
        if self.waiting[code]:
            self.following[self.last[code]] = instruction
        else:
            self.first[code] = instruction
        self.last[code] = instruction
        self.waiting[code] += 1

    cdef int pop(self, int code) noexcept:
        cdef int instruction = self.first[code]
        self.first[code] = self.following[instruction]
        self.waiting[code] -= 1
        return instruction

    cdef int longest(self) noexcept:
        """The opcode that most wait for; sines and cosines wait until nothing else does."""
        cdef int best = 0, code
        for code in range(1, COUNT):
            if (self.waiting[code] > self.waiting[best] and code != OP_SINCOS) or not self.waiting[best]:
                best = code
        return best


def schedule(const int[::1] code, const int[:, ::1] operand, const int[:, ::1] result, Py_ssize_t rows):
    """Order of the instructions with long runs of equal opcodes, each among the next `WINDOW` in line."""
    cdef Py_ssize_t count = code.shape[0], i, k, r, low = 0, seen = 0, emitted = 0
    cdef int current = NONE, instruction, row, user
    cdef int[::1] maker = np.full(rows, NONE, np.intc), missing = np.zeros(count, np.intc)
    cdef int[::1] begin = np.zeros(count + 1, np.intc), fill, users
    cdef int[::1] order = np.empty(count, np.intc)
    cdef unsigned char[::1] done = np.zeros(count + 1, np.uint8)
    cdef Ready ready = Ready(count)
    for i in range(count):
        for r in range(RESULTS):
            if result[i, r] != NONE:
                maker[result[i, r]] = i
    for i in range(count):
        for k in range(OPERANDS):
            if operand[i, k] != NONE and maker[operand[i, k]] != NONE:
                begin[maker[operand[i, k]] + 1] += 1
                missing[i] += 1
    begin = np.cumsum(begin, dtype=np.intc)
    fill = np.array(begin)
    users = np.empty(begin[count], np.intc)
    for i in range(count):
        for k in range(OPERANDS):
            if operand[i, k] != NONE and maker[operand[i, k]] != NONE:
                row = maker[operand[i, k]]
                users[fill[row]] = i
                fill[row] += 1
    while emitted < count:
        while seen < count and seen < low + WINDOW:
            if not missing[seen]:
                ready.push(code[seen], seen)
            seen += 1
        if current == NONE or not ready.waiting[current]:
            current = ready.longest()
        instruction = ready.pop(current)
        order[emitted] = instruction
        emitted += 1
        done[instruction] = True
        while done[low]:
            low += 1
        for k in range(begin[instruction], begin[instruction + 1]):
            user = users[k]
            missing[user] -= 1
            if not missing[user] and user < seen:
                ready.push(code[user], user)
    return np.asarray(order)


def allocate(const int[:, ::1] operand, const int[:, ::1] result, int[::1] slot, const int[::1] kept, int used):
    """Give every result a slot, free again after its last use.

    Parameters
    ----------
    operand, result : ndarray of int32
        Rows, in the order of execution.
    slot : ndarray of int32, shape (rows,)
        Of the rows that are there at the start, -1 of others; receives the others'.
    kept : ndarray of int32
        Rows that stay to the end.
    used : int
        Slots there are at the start.

    Returns
    -------
    int
        Slots in all.
    """
    cdef Py_ssize_t count = operand.shape[0], i, k, r
    cdef int[::1] last = np.full(slot.shape[0], NONE, np.intc), free = np.empty_like(slot)
    cdef int available = 0, row
    for i in range(count):
        for k in range(OPERANDS):
            if operand[i, k] != NONE:
                last[operand[i, k]] = i
    for i in range(kept.shape[0]):
        last[kept[i]] = count
    for i in range(count):
        for r in range(RESULTS):
            row = result[i, r]
            if row != NONE:
                if available:
                    available -= 1
                    slot[row] = free[available]
                else:
                    slot[row] = used
                    used += 1
        for k in range(OPERANDS):
            row = operand[i, k]
            if row != NONE and last[row] == i:
                last[row] = NONE
                free[available] = slot[row]
                available += 1
    return used
