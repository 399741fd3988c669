"""Reproduce the source papers: counting scalars (`textbook`), the factor of K (`kkt`), `tables`, `exhibits`."""
