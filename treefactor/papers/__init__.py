"""Reproduce the source papers: counting scalars (`textbook`), factor of K (`kkt`), `tables`, `exhibits`."""
