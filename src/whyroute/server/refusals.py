"""That nothing qualifies, over HTTP: text in pieces, for there may be more to tell than anybody wants to read."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..basics.deadlines import check_time
from ..bundles import BundleUnsatisfiableError
from ..errors import CapabilityUnsatisfiableError, reasons_text
from .envelope import ApiError

__all__ = ["gathered", "unsatisfiable_pieces"]


def unsatisfiable_pieces(
    error: CapabilityUnsatisfiableError | BundleUnsatisfiableError, request_id: str
) -> Iterator[str]:
    """The envelope of an error with the reasons and the explanation in `details`, as JSON text in pieces."""
    yield f'{{"error": {{"code": {_json(error.code)}, "message": {_json(error.message)}, "details": {{'
    if error.tenant_id is not None:
        yield f'"tenantId": {_json(error.tenant_id)}, '
    yield '"reasons": '
    yield from reasons_text(error.reasons)
    yield ', "explanation": '
    if isinstance(error, CapabilityUnsatisfiableError):
        yield from error.explanation.iter_json()
    else:
        yield error.explanation.to_json()
    yield f'}}, "requestId": {_json(request_id)}}}}}'


def gathered(pieces: Iterable[str], most: int) -> str:
    """A text of at most so many characters.

    Raises:
        ApiError: `answer-too-large`: it is longer.
        TooLateError: It takes too long to make.
    """
    found, size = [], 0
    for piece in pieces:
        check_time()
        found.append(piece)
        size += len(piece)
        if size > most:
            raise ApiError(
                "answer-too-large",
                f"the answer is larger than {most // 2**20} MiB, for so many candidates fail so many constraints; "
                "ask for fewer at once",
            )
    return "".join(found)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
