"""Track the targets as benchmarks for airspeed velocity."""
