"""Slow textbook versions, written from the papers and used by tests only."""
