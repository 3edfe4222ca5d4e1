"""The events of a YAML 1.2 text, each with its place, and what is wrong where a text has no more of them.

libyaml, by way of PyYAML, reads fifty times as fast as the parser of ruamel.yaml, but knows YAML 1.1 and says less of
what is wrong. It reads what the two read alike; on everything else, ruamel.yaml's parser has the word.
"""

import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from ...basics.issues import shown
from .nodes import Position
from .yaml_hints import slip

__all__ = ["UnreadableError", "events", "quick_events", "written_tag"]

# What libyaml takes for something else than YAML 1.2 does: tabs between tokens, `#` right after the sign of a block
# scalar, the ends of the names of anchors, and an end of a document after another one.
_READ_OTHERWISE: Final = re.compile(
    r"\t|[|>][-+0-9]*#|(?<![^\s\[{,:])[&*][\w-]+[?:%@`]|^\.\.\.", re.ASCII | re.MULTILINE
)


class UnreadableError(Exception):
    """The text can't be read past this place."""

    def __init__(self, position: Position, message: str) -> None:
        self.position = position
        self.message = message
        super().__init__(message)


def quick_events(text: str) -> Iterator[Any]:
    """The events of a text by libyaml.

    Raises:
        UnreadableError: `events` has to say what the text is.
    """
    from yaml import YAMLError  # noqa: PLC0415  slow to import

    try:
        from yaml import CSafeLoader  # noqa: PLC0415
    except ImportError:
        raise UnreadableError((1, 1), "PyYAML was built without libyaml") from None
    if _READ_OTHERWISE.search(text) is not None:
        raise UnreadableError((1, 1), "libyaml may take it for something else")
    try:
        yield from iter(CSafeLoader(text).get_event, None)
    except YAMLError as error:
        raise UnreadableError((1, 1), str(error)) from None


def events(text: str) -> Iterator[Any]:
    """The events of a text by ruamel.yaml's parser.

    Raises:
        UnreadableError: The text is not YAML from there on.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415  slow to import
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = YAML(typ="safe", pure=True)
            reader.Scanner = _scanner()
            yield from reader.parse(text)
    except MarkedYAMLError as error:
        raise _told(error, text) from None
    except YAMLError as error:
        raise UnreadableError((1, 1), f"not YAML: {_lower(str(error))}") from None
    except (ValueError, OverflowError, IndexError, AttributeError, TypeError, AssertionError) as error:
        # A version directive of odd numbers: the parser itself gives up.
        raise UnreadableError((1, 1), f"not YAML: {_lower(str(error) or type(error).__name__)}") from None


def written_tag(event: Any) -> str | None:
    """The tag of a value, as far as the parser keeps how it is written."""
    if event.tag in (None, "None", ""):
        return None
    tag = getattr(event, "ctag", None)
    return str(event.tag) if tag is None else f"{tag.handle or ''}{tag.suffix or ''}"


@cache
def _scanner() -> type:
    """The parser's scanner, but that it says where an escape is past the last character there is."""
    from ruamel.yaml.scanner import Scanner  # noqa: PLC0415  slow to import, as the parser is

    class Placing(Scanner):
        def scan_flow_scalar(self, style: Any) -> Any:
            try:
                return super().scan_flow_scalar(style)
            except (ValueError, OverflowError):
                mark = self.reader.get_mark()  # past the backslash and the `U`
                escape = f"\\U{self.reader.prefix(8)}"
                message = f"there is no character {shown(escape)}; the last one is `\\U0010FFFF`"
                raise UnreadableError((mark.line + 1, mark.column - 1), message) from None

    return Placing


_SENTENCES: Final = (
    (r"character '\\t'", "a tab, where YAML takes spaces only"),
    (r"character '`' that cannot start", "plain text can't start with a backtick; put it in quotes"),
    (r"character '(.)' that cannot start", "plain text can't start with `{0}`; put it in quotes"),
    (
        r"mapping values are not allowed",
        "a `:` where no key can be; check the indentation, and put text that holds `: ` in quotes",
    ),
    (r"sequence entries are not allowed", "a `-` where no list can begin; begin it on the next line"),
    (r"unknown escape character '(.)'", "`\\{0}` is no escape; write two backslashes for one, or use single quotes"),
    (r"expected escape sequence of (\d+)", "an escape that is cut short; it takes {0} hexadecimal digits"),
    (r"expected the node content.*stream end", "the text ends before what is open is closed"),
    (r"expected the node content", "a value is missing before this"),
    (r"could not find expected ':'", "a `:` is missing after the key, or the line is indented wrongly"),
    (r"expected <block end>", "this does not line up with what stands before it; check the indentation"),
    (r"expected ',' or '\]'", "a `,` or `]` is missing before this"),
    (r"expected ',' or '\}'", "a `,` or `}` is missing before this"),
    (r"found duplicate anchor", "an anchor stands here twice"),
)
"""What the parser says, and what to tell people who write policies."""


_NOT_CLOSED: Final = (
    (r"scanning a quoted scalar.*end of stream", "these quotes are not closed"),
    (r"flow sequence.*stream end", "this `[` is not closed"),
    (r"flow mapping.*stream end", "this `{` is not closed"),
)
"""Likewise, where it is the start that helps to find the fault, not the end of the file."""


def _told(error: Any, text: str) -> UnreadableError:
    said = " ".join(str(part) for part in (error.context, error.problem) if part) or "it can't be read"
    mark, since = error.problem_mark or error.context_mark, error.context_mark
    if mark is not None:
        at = (mark.line + 1, mark.column + 1)
        meant = slip(text, said, at, None if since is None else (since.line + 1, since.column + 1))
        if meant is not None:
            return UnreadableError(*meant)
    sentence = _sentence(said)
    for pattern, instead in _NOT_CLOSED:
        if error.context_mark is not None and re.search(pattern, said):
            mark, sentence = error.context_mark, instead
    return UnreadableError((1, 1) if mark is None else (mark.line + 1, mark.column + 1), sentence)


def _sentence(said: str) -> str:
    for pattern, sentence in _SENTENCES:
        found = re.search(pattern, said)
        if found:
            return sentence.replace("{0}", next((group for group in found.groups() if group), ""))
    return f"not YAML: {_lower(said)}"


def _lower(said: str) -> str:
    first = (said.splitlines() or [""])[0].strip().rstrip(".")
    first = first.replace("`", "'")
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in first[:1].lower() + first[1:])
