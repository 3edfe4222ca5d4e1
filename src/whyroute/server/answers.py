"""Answers: JSON, and the envelope of errors."""

import json
from typing import Any

from starlette.responses import Response

from .envelope import ApiError, envelope

__all__ = ["error_answer", "json_answer", "text_answer"]


def json_answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return text_answer(json.dumps(document, ensure_ascii=False, allow_nan=False), status, headers)


def text_answer(text: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer of which the JSON text is there already."""
    # Half a surrogate pair, in a name that somebody sent and is being told of, has a form in JSON and none in UTF-8.
    return Response(text.encode("utf-8", "backslashreplace"), status, headers, "application/json")


def error_answer(error: ApiError, request_id: str) -> Response:
    """An error's answer."""
    return json_answer(envelope(error, request_id), error.status, error.headers)
