"""Reproduce the five source papers: algorithms on counting scalars (`textbook`) and tables (`tables`)."""
