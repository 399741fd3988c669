"""Benchmarks of treefactor against its peers, for airspeed velocity."""
