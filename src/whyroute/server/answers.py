"""Answers: JSON, and the envelope of errors."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..engine.deadlines import check_time
from .envelope import ApiError, envelope

__all__ = ["PiecedAnswer", "bounded", "error_answer", "json_answer", "json_text", "text_answer"]

_PIECE: Final = 64 * 1024


class PiecedAnswer(Response):
    """An answer that is sent piece by piece, as fast as the client reads, and of which no sent piece is kept.

    Args:
        pieces: The whole text.
        status: Its status.
        kind: Its media type.
        seconds: How long the client may take to read it.
        sent: Called with the size of each piece that was handed to the connection.
    """

    def __init__(
        self, pieces: Iterable[bytes], status: int, kind: str, seconds: float, sent: Callable[[int], None]
    ) -> None:
        self._pieces = deque(pieces)
        self._seconds = seconds
        self._sent = sent
        length = str(sum(map(len, self._pieces)))
        super().__init__(None, status, {"content-length": length}, kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it.

        Raises:
            TimeoutError: The client takes too long to read it.
        """
        async with asyncio.timeout(self._seconds):
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while len(self._pieces) > 1:
                piece = self._pieces.popleft()
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                self._sent(len(piece))
            await send({"type": "http.response.body", "body": b"".join(self._pieces)})


def bounded(texts: Iterable[str], most: int, hold: Callable[[int], None]) -> Iterator[bytes]:
    """A text as bytes in pieces of one size.

    Args:
        texts: The text, in pieces.
        most: How many bytes it may have.
        hold: Called with the size of each piece before it is kept.

    Raises:
        ApiError: `answer-too-large`, or what `hold` raises.
        TooLateError: It takes too long to make.
    """
    rest, whole = bytearray(), 0
    for text in texts:
        check_time()
        # Half a surrogate pair, in a name that was sent and is shown, has a form in JSON and none in UTF-8.
        data = text.encode("utf-8", "backslashreplace")
        whole += len(data)
        if whole > most:
            raise ApiError(
                "answer-too-large", f"the answer is larger than {most // 2**20} MiB; ask for fewer things at once"
            )
        hold(len(data))
        rest += data
        if len(rest) >= _PIECE:
            ends = len(rest) // _PIECE * _PIECE
            yield from (bytes(rest[start : start + _PIECE]) for start in range(0, ends, _PIECE))
            del rest[:ends]
    yield bytes(rest)


def json_text(document: Any) -> str:
    """A document as JSON text."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def json_answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return text_answer(json_text(document), status, headers)


def text_answer(text: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer of which the JSON text is there already."""
    # Half a surrogate pair, in a name that somebody sent and is being told of, has a form in JSON and none in UTF-8.
    return Response(text.encode("utf-8", "backslashreplace"), status, headers, "application/json")


def error_answer(error: ApiError, request_id: str) -> Response:
    """An error's answer."""
    return json_answer(envelope(error, request_id), error.status, error.headers)
