"""Check the number of threads where a fast path needs none: a wrong one must raise there, too."""


cdef inline bint is_thread_count(object threads) noexcept:
    """Return whether threads is -1 or a positive int; the general path raises for what is neither."""
    return type(threads) is int and (threads == 1 or threads == -1 or threads > 1)
