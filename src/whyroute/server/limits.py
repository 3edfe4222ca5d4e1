"""How much a request may be, and how long it may take."""

from dataclasses import dataclass

__all__ = ["ServiceLimits"]


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """Limits of one request, and of what one tenant may have at once.

    Attributes:
        body: Bytes of the body.
        question: Bytes of the body of what is to be routed or explained. What it comes to, and its answer, may be its
            size times the number of candidates.
        answer: Bytes of an answer.
        target: Bytes of the path and the query.
        headers: Bytes of all headers.
        receive_seconds: How long the body may take to come.
        answer_seconds: How long an answer may take to be made.
        send_seconds: How long a client may leave what was sent unread.
        read_seconds: How long a client may take to read an answer.
        tenant_requests: Requests of a tenant that may be in flight.
        tenant_bytes: Bytes of bodies and unsent answers that may be held for a tenant.
    """

    body: int = 1024 * 1024
    question: int = 256 * 1024
    answer: int = 64 * 1024 * 1024
    target: int = 8 * 1024
    headers: int = 16 * 1024
    receive_seconds: float = 20
    answer_seconds: float = 30
    send_seconds: float = 20
    read_seconds: float = 120
    tenant_requests: int = 64
    tenant_bytes: int = 128 * 1024 * 1024
