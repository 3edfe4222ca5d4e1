"""Names of test cases that are the same in every process: tests run in several, which must agree on them."""

__all__ = ["named"]


def named(value: object) -> str:
    """What a value looks like: a set in order, and of what shows its address only the type."""
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(named, value))) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{named(key)}: {named(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(named, value)) + "]"
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text
