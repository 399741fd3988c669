"""Declare the call of a recursion that the functions of the dynamics share."""

cdef object compute(model, int op, q, v, x, fext, out, threads, general_path)
