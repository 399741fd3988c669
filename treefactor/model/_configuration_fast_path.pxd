"""Declare the call of a step between configurations that the functions of configurations share."""

cdef object compute(model, int op, first, second, u, out, threads, general_path)
