"""Hypothesis runs without deadlines, and always on the same examples."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "treefactor",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("treefactor")
