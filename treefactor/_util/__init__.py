"""Helpers that know nothing of robots: validation of arrays, files, threads, rotations, XML, counting."""
