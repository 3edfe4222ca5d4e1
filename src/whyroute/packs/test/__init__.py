"""A pack's own tests: run, judged, and what they cover."""
