"""Helpers independent of robots: validation of arrays, files, threads, rotations, XML, counting."""
