"""The targets as benchmarks for airspeed velocity."""
