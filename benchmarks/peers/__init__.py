"""Other systems doing the same work. Each is an optional dependency: the extra `bench`."""

__all__ = ["UnavailableError"]


class UnavailableError(Exception):
    """A peer can't run here; the message says what is missing."""
