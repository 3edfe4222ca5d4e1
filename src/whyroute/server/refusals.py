"""That nothing qualifies, over HTTP: text in pieces, for there may be more to tell than anybody wants to read."""

import json
from collections.abc import Iterator
from typing import Any

from ..errors import UnsatisfiableError, reasons_text

__all__ = ["unsatisfiable_pieces"]


def unsatisfiable_pieces(error: UnsatisfiableError[Any], request_id: str) -> Iterator[str]:
    """The envelope of an error with the reasons and the explanation in `details`, as JSON text in pieces."""
    yield f'{{"error": {{"code": {_json(error.code)}, "message": {_json(error.message)}, "details": {{'
    if error.tenant_id is not None:
        yield f'"tenantId": {_json(error.tenant_id)}, '
    yield f'"asked": {_json(error.explanation.asked)}, '
    if hints := error.explanation.hints:
        yield f'"hints": {_json([hint.to_dict() for hint in hints])}, '
    yield '"reasons": '
    yield from reasons_text(error.reasons)
    yield ', "explanation": '
    yield from error.explanation.iter_json()
    yield f'}}, "requestId": {_json(request_id)}}}}}'


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
