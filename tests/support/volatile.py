"""What of a printed answer differs from day to day and from change to change: its time, the digest of its pack."""

import re
from typing import Any

__all__ = ["settled", "unasked"]

_VOLATILE = (
    (re.compile(r"(?<=; at )20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"), "TIME"),
    (re.compile(r"(?<=<dt>Time</dt><dd>)[^<]*"), "TIME"),
    (re.compile(r"(?<=; pack )[0-9a-f]{12}"), "DIGEST"),
    (re.compile(r"(?<=; whyroute )[0-9]+[.][0-9]+[.][0-9]+"), "VERSION"),
)


def settled(text: str) -> str:
    """The text with words in their place."""
    for pattern, word in _VOLATILE:
        text = pattern.sub(word, text)
    return text


def unasked(answer: Any) -> Any:
    """A JSON answer without what it says of its question: the same question may be asked in several ways."""
    if isinstance(answer, list):
        return [unasked(each) for each in answer]
    if isinstance(answer, dict):
        return {key: unasked(value) for key, value in answer.items() if key != "asked"}
    return answer
