"""How much a request may be, and how long it may take."""

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request.

    Attributes:
        body: Bytes of the body.
        question: Bytes of the body of what is to be routed or explained. What it comes to, and its answer, may be its
            size times the number of candidates.
        answer: Characters of an answer.
        target: Bytes of the path and the query.
        headers: Bytes of all headers.
        receive_seconds: How long the body may take to come.
        answer_seconds: How long an answer may take to be made.
    """

    body: int = 1024 * 1024
    question: int = 256 * 1024
    answer: int = 64 * 1024 * 1024
    target: int = 8 * 1024
    headers: int = 16 * 1024
    receive_seconds: float = 20
    answer_seconds: float = 30
