"""From the text of a file to its tree: YAML 1.2 by ruamel.yaml's parser, with the checks that it leaves to others."""

import json
import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from ...basics.issues import did_you_mean, shown
from ...documents.json_text import is_unicode
from ...documents.yaml_text import other_version, with_whole_characters
from ..source.nodes import MAX_DEPTH, Node, Position
from ..source.problems import Problem
from ..source.quick import quick_tree
from ..source.scalars import scalar
from ..source.sources import Source
from ..source.yaml_hints import comma_in_number, cut_off, indent_problem, missing_space, slip

__all__ = ["compose", "parsed"]

MAX_ALIASED: Final = 100_000
"""How many values the aliases of a file may stand for."""


class _UnreadableError(Exception):
    """The text can't be read past this place."""

    def __init__(self, position: Position, message: str) -> None:
        self.position = position
        self.message = message
        super().__init__(message)


def compose(source: Source) -> tuple[Node | None, list[Problem]]:
    """The tree of a file's one document, and what is wrong with the file.

    Returns:
        None where there is no document, or none that can be read to its end.
    """
    quick = quick_tree(source.text)
    if quick is not None:
        return quick, []
    return parsed(source)


def parsed(source: Source) -> tuple[Node | None, list[Problem]]:
    """What `compose` gives, by the parser alone."""
    composer = _Composer(source)
    try:
        root = composer.document()
    except _UnreadableError as error:
        composer.complain(error.position, error.message)
        root = None
    return root, composer.problems


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
                raise _UnreadableError((mark.line + 1, mark.column - 1), message) from None

    return Placing


class _Holder:
    """A list or a mapping whose end was not reached yet."""

    __slots__ = ("anchor", "flow", "key", "key_place", "node", "run_on")

    def __init__(self, node: Node, anchor: str | None, *, flow: bool) -> None:
        self.node = node
        self.anchor = anchor
        self.flow = flow  # whether it stands in brackets
        self.run_on = False  # whether a second item of a list began in it
        self.key: str | None = None  # the key whose value comes next
        self.key_place: Position | None = None  # set from a key to its value, also where the key can't be used


class _Composer:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.anchors: dict[str, Node | None] = {}  # None: its value is not complete yet
        self.aliased = 0
        self.holders: list[_Holder] = []
        self.documents = 0
        self.root: Node | None = None

    def complain(self, position: Position, message: str, *also: Position) -> None:
        """Note a problem."""
        place = self.source.place
        self.problems.append(Problem(place(*position), message, tuple(place(*each) for each in also)))

    def document(self) -> Node | None:
        """Read the text to its end."""
        if (other := other_version(self.source.text)) is not None:
            raise _UnreadableError((other[0], 1), other[1])
        skipped = 0  # how deep inside a key that is no text
        for event in self._events():
            kind = type(event).__name__
            if skipped:
                skipped += (kind in _STARTS) - (kind in _ENDS)
                continue
            mark = event.start_mark
            position = (mark.line + 1, mark.column + 1)
            if kind == "DocumentStartEvent":
                self._begin(position)
            elif kind in _ENDS:
                self._close()
            elif kind not in _VALUES:
                continue
            elif not self._wants_key():
                self._value(kind, event, position)
            elif kind == "ScalarEvent":
                self._take_key(self.holders[-1], event, position)
            else:
                self._refuse_key(self.holders[-1], position)
                skipped = int(kind in _STARTS)
        return self.root

    def _begin(self, position: Position) -> None:
        self.documents += 1
        if self.documents > 1:
            raise _UnreadableError(position, "a second document; a file holds one")

    def _value(self, kind: str, event: Any, position: Position) -> None:
        if kind in _STARTS:
            self._open(event, position, mapping=kind == "MappingStartEvent")
        elif kind == "ScalarEvent":
            self._put(self._scalar(event, position))
        else:
            self._put(self._alias(event, position))

    def _open(self, event: Any, position: Position, *, mapping: bool) -> None:
        if len(self.holders) >= MAX_DEPTH:
            raise _UnreadableError(position, f"nested too deeply; at most {MAX_DEPTH} levels are read")
        if event.anchor is not None:
            self.anchors[str(event.anchor)] = None
        node = Node(*position, {} if mapping else [], keys={} if mapping else None)
        node.broken = not self._check_tag(event, position)
        self.holders.append(_Holder(node, event.anchor, flow=bool(event.flow_style)))

    def _close(self) -> None:
        holder = self.holders.pop()
        if holder.anchor is not None:
            self.anchors[str(holder.anchor)] = holder.node
        self._put(holder.node)

    def _events(self) -> Iterator[Any]:
        from ruamel.yaml import YAML  # noqa: PLC0415  slow to import, and a quick reader takes most files
        from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # The parser written in C knows YAML 1.1 only.
                reader = YAML(typ="safe", pure=True)
                reader.Scanner = _scanner()
                yield from reader.parse(self.source.text)
        except MarkedYAMLError as error:
            raise _told(error, self.source.text) from None
        except YAMLError as error:
            raise _UnreadableError((1, 1), f"not YAML: {_lower(str(error))}") from None
        except (ValueError, OverflowError, IndexError, AttributeError, TypeError, AssertionError) as error:
            # A version directive of odd numbers: the parser itself gives up.
            raise _UnreadableError((1, 1), f"not YAML: {_lower(str(error) or type(error).__name__)}") from None

    def _check_tag(self, event: Any, position: Position) -> bool:
        tag = event.ctag
        if tag is None or str(tag) in ("None", ""):
            return True
        written = f"{tag.handle or ''}{tag.suffix or ''}"
        self.complain(position, f"{shown(written)} is a tag, and none are read; write the value alone, text in quotes")
        return False

    def _wants_key(self) -> bool:
        return bool(self.holders) and self.holders[-1].node.keys is not None and self.holders[-1].key_place is None

    def _refuse_key(self, holder: _Holder, position: Position) -> None:
        self.complain(position, "a key is text; this is none")
        holder.key, holder.key_place = None, position

    def _take_key(self, holder: _Holder, event: Any, position: Position) -> None:
        holder.key, holder.key_place = None, position
        if not self._check_tag(event, position):
            return
        key = with_whole_characters(event.value)
        keys = holder.node.keys
        assert keys is not None  # `_wants_key` said it is a mapping
        if not is_unicode(key):
            self.complain(position, f"a key with {_HALF}")
            return
        if event.style is None:
            self._check_indent(position)
            value, problem = scalar(key)
            if self._is_comma(holder, position, key):
                return
            if key == "<<":
                self.complain(position, "`<<` merges nothing in YAML 1.2; write the keys out, or use `extends`")
                return
            if problem is not None:
                self.complain(position, problem)
                return
            if not isinstance(value, str):
                what = "an empty key" if key == "" else f"{shown(key)} is no text"
                self.complain(position, f"{what}; a key is text: put it in quotes")
                return
        if key in keys:
            self._twice(holder, key, position)
            return
        if event.anchor is not None:
            self.anchors[str(event.anchor)] = Node(*position, key)
        holder.key = key

    def _twice(self, holder: _Holder, key: str, position: Position) -> None:
        keys = holder.node.keys or {}
        in_list = len(self.holders) > 1 and self.holders[-2].node.keys is None
        if holder.run_on:
            return
        message = f"{shown(key)} stands twice in this mapping"
        if in_list and not holder.flow and key == next(iter(keys)):
            holder.run_on = holder.node.broken = True
            message += "; where a new item of the list begins, a `-` is missing before it"
        self.complain(position, message, keys[key])

    def _check_indent(self, position: Position) -> None:
        """The parser takes a no-break space for text, and so the line for one that is not indented."""
        line = self._line(position)
        problem = indent_problem(line)
        if problem is not None and position[1] <= problem[0]:
            raise _UnreadableError((position[0], problem[0]), problem[1])

    def _line(self, position: Position) -> str:
        return self.source.place(*position).source

    def _is_comma(self, holder: _Holder, position: Position, text: str) -> bool:
        """Complain of a comma inside a number, which ends a value in brackets."""
        problem = comma_in_number(self._line(position), position[1], text) if holder.flow else None
        if problem is None:
            return False
        values = holder.node.value if holder.node.keys is None else list(holder.node.value.values())
        for value in values[-1:]:
            value.broken = True
        place = self.source.place(position[0], problem[0])
        if not self.problems or self.problems[-1].place != place:  # 1,000,000 has two
            self.complain((position[0], problem[0]), problem[1])
        return True

    def _scalar(self, event: Any, position: Position) -> Node:
        if event.value == "" and event.style is None and self.holders and self.holders[-1].key_place is not None:
            # The parser puts a value that is left out wherever the next one begins.
            position = self.holders[-1].key_place
        node = Node(*position, with_whole_characters(event.value))
        if not self._check_tag(event, position):
            node.broken = True
        elif not is_unicode(node.value):
            self.complain(position, f"text with {_HALF}")
            node.value = _HALF_PAIR.sub("\ufffd", node.value)  # what checks it next takes no halves
            node.broken = True
        elif event.style is None:
            node.value, problem = scalar(event.value)
            if problem is not None:
                if not (self.holders and self._is_comma(self.holders[-1], position, event.value)):
                    self.complain(position, problem)
                node.broken = True
            elif self._is_cut_off(event):
                node.broken = True
            elif type(node.value) is not str:
                node.text = event.value
        if event.anchor is not None:
            self.anchors[str(event.anchor)] = node
        return node

    def _is_cut_off(self, event: Any) -> bool:
        """Complain of a `#` inside plain text: what follows it is lost."""
        key = self.holders[-1].key if self.holders and self.holders[-1].node.keys is not None else None
        if key is None:
            return False
        line, end = event.end_mark.line + 1, event.end_mark.column
        if event.value == "":  # the parser puts it wherever the next one begins
            line, column = self.holders[-1].key_place or (line, 1)
            end = self._line((line, column)).find(":", column - 1) + 1
        problem = cut_off(key, event.value, self._line((line, 1)), end)
        if problem is None:
            return False
        self.complain((line, problem[0]), problem[1])
        return True

    def _alias(self, event: Any, position: Position) -> Node:
        name = str(event.anchor)
        if name not in self.anchors:
            if _ANCHOR.search(self.source.text) is None or not name.isidentifier():
                message = (
                    f"text that begins with `*` goes in quotes: {shown(json.dumps('*' + name, ensure_ascii=False))}"
                )
            else:
                near = did_you_mean(name, self.anchors)
                message = f"{shown('*' + name)} stands for nothing; no `&{name}` comes before it{near}"
            self.complain(position, message)
            return Node(*position, None, broken=True)
        node = self.anchors[name]
        if node is None:
            self.complain(position, f"{shown('*' + name)} stands inside the value that it names")
            return Node(*position, None, broken=True)
        self.aliased += node.items
        if self.aliased > MAX_ALIASED:
            raise _UnreadableError(position, f"the aliases up to here stand for more than {MAX_ALIASED} values")
        return node

    def _put(self, node: Node) -> None:
        """Hand a complete value to whoever holds it."""
        if not self.holders:
            self.root = node
            return
        holder = self.holders[-1]
        if holder.node.keys is None:
            holder.node.value.append(node)
        else:
            if holder.flow and node.text == "" and holder.key is not None and holder.key_place is not None:
                self._check_colon(holder, node, holder.key, holder.key_place)
            if holder.key is not None and holder.key_place is not None:
                holder.node.value[holder.key] = node
                holder.node.keys[holder.key] = holder.key_place
            holder.key = holder.key_place = None
        holder.node.items += node.items

    def _check_colon(self, holder: _Holder, node: Node, key: str, place: Position) -> None:
        """Complain of a key in braces that swallowed its value for want of a space."""
        problem = missing_space(key) if self._line(place).startswith(key, place[1] - 1) else None
        if problem is not None and problem[0] not in holder.node.value:
            holder.key, at, message = problem
            node.broken = True
            self.complain((place[0], place[1] + at), message)


_ANCHOR: Final = re.compile(r"(?<!\S)&\w|[\[{,]&\w")
_HALF: Final = "half a surrogate pair; it is not valid Unicode"
_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_STARTS: Final = frozenset({"MappingStartEvent", "SequenceStartEvent"})
_ENDS: Final = frozenset({"MappingEndEvent", "SequenceEndEvent"})
_VALUES: Final = frozenset({"ScalarEvent", "AliasEvent", *_STARTS})


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


def _told(error: Any, text: str) -> _UnreadableError:
    said = " ".join(str(part) for part in (error.context, error.problem) if part) or "it can't be read"
    mark, since = error.problem_mark or error.context_mark, error.context_mark
    if mark is not None:
        at = (mark.line + 1, mark.column + 1)
        meant = slip(text, said, at, None if since is None else (since.line + 1, since.column + 1))
        if meant is not None:
            return _UnreadableError(*meant)
    sentence = _sentence(said)
    for pattern, instead in _NOT_CLOSED:
        if error.context_mark is not None and re.search(pattern, said):
            mark, sentence = error.context_mark, instead
    return _UnreadableError((1, 1) if mark is None else (mark.line + 1, mark.column + 1), sentence)


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
