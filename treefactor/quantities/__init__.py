"""The table: one declaration per public quantity, from which its function, pages, stubs and tests follow.

`declaration` has the types of an entry, the modules beside it have the entries, and `functions` makes the
public functions.
"""
