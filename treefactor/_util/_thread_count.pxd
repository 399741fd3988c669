"""Check the number of threads that a fast path does not need: a single call with a wrong one must raise, too."""


cdef inline bint is_thread_count(object threads) noexcept:
    """Return whether threads is -1 or a positive int; the general path raises for what is neither."""
    return type(threads) is int and (threads == 1 or threads == -1 or threads > 1)
