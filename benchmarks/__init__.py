"""Benchmarks; run with `python -m benchmarks` or `make bench`."""
