"""Rigid-body algorithms on scalars of any type: run on expressions, they write programs."""
