"""Settings of the whole suite."""

from hypothesis import HealthCheck, settings

# The same examples on every run and on every machine; a slow machine fails no test.
settings.register_profile(
    "default", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")
