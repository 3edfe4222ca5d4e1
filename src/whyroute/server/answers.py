"""Answers: JSON, and the envelope of errors."""

import json
from typing import Any

from starlette.responses import Response

from .envelope import ApiError, envelope

__all__ = ["error_answer", "json_answer"]


def json_answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    try:
        body = json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair in a name that somebody sent, which is being told so.
        body = json.dumps(document, ensure_ascii=True, allow_nan=False).encode("ascii")
    return Response(body, status, headers, "application/json")


def error_answer(error: ApiError, request_id: str) -> Response:
    """An error's answer."""
    return json_answer(envelope(error, request_id), error.status, error.headers)
