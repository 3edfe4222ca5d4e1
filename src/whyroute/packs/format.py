"""One way to write a file of a pack: the same values and comments, laid out anew.

It prints the events of ruamel.yaml's parser, each scalar as it stands in the file. That library's own round trip would
write numbers anew, fold long lines, and lose or move comments inside flow collections and before a dedent.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from .load.composing import compose
from .source.events import events
from .source.nodes import same_tree
from .source.sources import Source

__all__ = ["UnfaithfulError", "formatted", "is_plain"]

WIDTH: Final = 120
"""How long a line may get when a flow collection that spans lines is joined; longer, it becomes a block."""

STEP: Final = 2


class UnfaithfulError(RuntimeError):
    """Formatting would change what a file means or lose a comment: a fault of the formatter."""


def formatted(source: Source) -> str:
    """The text of a file, laid out anew.

    - two spaces a level, lists further in than their key, one space after `:`, `-`, `,` and before a comment;
    - no spaces at ends of lines, one blank line at most, none at the ends of the file, a line feed at its end;
    - no quotes where every reader of YAML takes the text for text without them;
    - a flow collection on one line stays on one line; one that spans lines is joined where it fits and has no comments,
      and becomes a block otherwise, as one that is the whole file does. Long lines are never folded.

    The order of entries is the author's, and so are numbers, the kinds of quotes, anchors and block scalars.

    Args:
        source: A file that the loader finds nothing wrong with.

    Raises:
        UnfaithfulError: The new text would not be the same tree, or not have the same comments in the same order.
    """
    before = _Reader(source.text)
    text = _Printer(before).text()
    old, _ = compose(source)
    new, problems = compose(Source(source.name, text))
    if problems or not same_tree(old, new):
        raise UnfaithfulError(f"formatting `{source.name}` would change what it means")
    if before.told() != _Reader(text).told():
        raise UnfaithfulError(f"formatting `{source.name}` would lose or move a comment")
    return text


@dataclass(slots=True)
class _Leaf:
    """A scalar or an alias.

    Attributes:
        start: Where its anchor or, without one, its text starts.
        content: Where its text starts.
        end: Where its text ends; of a block scalar, without the blank lines after it that mean nothing.
        style: None, a quote, `|`, `>`, or `*` for an alias.
        value: What the parser makes of it.
        anchor: The anchor, without `&`.
        outer: How far in the block is that it stands in, from 0.
    """

    start: int
    content: int
    end: int
    style: str | None
    value: str
    anchor: str | None = None
    outer: int = 0


@dataclass(slots=True)
class _Collection:
    """A mapping or a list.

    Attributes:
        start: Where its anchor or, without one, it starts.
        content: Where it starts without its anchor.
        end: Where it ends, when it is in flow style.
        column: Of a block: how far in it stands, from 0.
        flow: Whether it is in flow style.
        mapping: Whether it is a mapping: keys and values take turns.
        anchor: The anchor, without `&`.
        items: What it holds.
        dashes: Of a list in block style: where each entry's dash stands.
        indentless: Whether it is a list that stands no further in than its key.
    """

    start: int
    content: int
    end: int
    column: int
    flow: bool
    mapping: bool
    anchor: str | None
    items: list["_Leaf | _Collection"] = field(default_factory=list)
    dashes: list[int] = field(default_factory=list)
    indentless: bool = False


_Item = _Leaf | _Collection


@dataclass(slots=True)
class _Comment:
    """A comment.

    Attributes:
        start: Where it starts.
        text: It, from `#` on.
        column: How far in it stands, from 0.
        own_line: Whether nothing stands before it on its line.
    """

    start: int
    text: str
    column: int
    own_line: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class _Reader:
    """A text as the parser sees it, with the comments that it passes over.

    Attributes:
        text: The text.
        root: Its value.
        comments: Those between values.
        headed: Those after the header of a block scalar.
        directives: The lines before the marker that begin with `%`.
        marker: Where its marker `---` stands, if it has one.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: list[tuple[int, int]] = []
        self.headed: list[_Comment] = []
        self.directives: list[str] = []
        self.marker: int | None = None
        self.root: _Item | None = None
        self._last = 0
        open_now: list[_Collection] = []
        for event in events(text):
            kind = type(event).__name__
            start, end = event.start_mark.index, event.end_mark.index
            if kind in _ITEMS and open_now and not (open_now[-1].flow or open_now[-1].mapping):
                dash = self.after_gap(self._last) if open_now[-1].items else open_now[-1].content
                open_now[-1].dashes.append(dash)
                self._last = dash + 1
            if kind == "DocumentStartEvent" and event.explicit:
                self.marker = text.index("---", start)
                self.directives = [
                    line.split(" #")[0].rstrip() for line in text[: self.marker].split("\n") if line.startswith("%")
                ]
                self.spans.append((self.marker, self.marker + 3))
                self._last = self.marker + 3
            elif kind in ("MappingStartEvent", "SequenceStartEvent"):
                self._open(event, open_now, mapping=kind.startswith("M"))
            elif kind in ("MappingEndEvent", "SequenceEndEvent"):
                node = open_now.pop()
                node.end = end
                if node.flow:
                    self._last = max(self._last, end)
            elif kind == "ScalarEvent":
                self._put(self._scalar(event, open_now), open_now)
            elif kind == "AliasEvent":
                self.spans.append((start, end))
                self._last = end
                self._put(_Leaf(start, start, end, "*", text[start:end]), open_now)
        self.comments = list(self._comments())

    def told(self) -> list[str]:
        """All comments, in order."""
        return [each.text.rstrip() for each in sorted(self.comments + self.headed, key=lambda each: each.start)]

    def column(self, at: int) -> int:
        """How far in a place is."""
        return at - (self.text.rfind("\n", 0, at) + 1)

    def _put(self, item: _Item, open_now: list[_Collection]) -> None:
        if open_now:
            open_now[-1].items.append(item)
        else:
            self.root = item

    def _open(self, event: Any, open_now: list[_Collection], *, mapping: bool) -> None:
        anchor, after = self._anchor(event)
        at = self.after_gap(after)
        node = _Collection(event.start_mark.index, at, at, self.column(at), bool(event.flow_style), mapping, anchor)
        above = open_now[-1] if open_now else None
        node.indentless = not mapping and not node.flow and above is not None and node.column <= above.column
        self._put(node, open_now)
        open_now.append(node)

    def _anchor(self, event: Any) -> tuple[str | None, int]:
        """The anchor of a value, and where it ends."""
        start = event.start_mark.index
        if event.anchor is None:
            return None, start
        anchor = str(event.anchor)
        self._last = start + 1 + len(anchor)
        self.spans.append((start, self._last))
        return anchor, self._last

    def _scalar(self, event: Any, open_now: list[_Collection]) -> _Leaf:
        start, end = event.start_mark.index, event.end_mark.index
        anchor, content = self._anchor(event)
        if anchor is not None:
            content = end if content >= end else self.after_gap(content)
        elif start == end:
            # The parser puts a value that is left out wherever the next one begins.
            colon = self.after_gap(self._last)
            if open_now and open_now[-1].mapping and self.text[colon : colon + 1] == ":":
                self._last = colon + 1
            start = end = content = self._last
        if event.style in ("|", ">"):
            end = self._end_of_block(content, end)
        leaf = _Leaf(
            start, content, end, event.style or None, event.value, anchor, open_now[-1].column if open_now else 0
        )
        if end > content:
            self.spans.append((content, end))
        self._last = max(end, self._last)
        return leaf

    def _end_of_block(self, content: int, end: int) -> int:
        header, sign, comment = self.text[content : self._line_end(content)].partition("#")
        if sign:
            at = content + len(header)
            self.headed.append(_Comment(at, sign + comment, self.column(at), own_line=False))
        if "+" in header:
            return end if self.text[end - 1 : end] != "\n" else end - 1
        found = self.text[content:end].rstrip()
        # Spaces at the end of the last line are text.
        return self._line_end(content + len(found))

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def after_gap(self, at: int) -> int:
        """The place at or after another where neither white space nor a comment is."""
        found = _GAP.match(self.text, at)
        return at if found is None else found.end()

    def _comments(self) -> Iterator[_Comment]:
        """What stands between values is white space, indicators and comments."""
        at = 0
        for start, end in [*sorted(self.spans), (len(self.text), len(self.text))]:
            for found in _COMMENT.finditer(self.text, at, start):
                line = self.text[self.text.rfind("\n", 0, found.start()) + 1 : found.start()]
                yield _Comment(found.start(), found.group().rstrip(), len(line), own_line=not line.strip())
            at = max(at, end)


_ITEMS: Final = frozenset({"MappingStartEvent", "SequenceStartEvent", "ScalarEvent", "AliasEvent"})
_SAFE: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_./@ -]*[A-Za-z0-9_./@-])?", re.ASCII)
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_INDICATORS: Final = ("-", "?", ":")
"""Text in flow style, where what follows tells them from the signs that they are in block style."""
_COMMENT: Final = re.compile(r"#[^\n]*")
_GAP: Final = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")


class _Printer:
    """Prints values and comments in the order in which they stand."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.comments = reader.comments
        self.next = 0  # the comment that comes next
        self.lines: list[str] = []
        self.last = 0  # how far the text is printed
        self.opened = True  # nothing stands in the block at hand yet: no blank line
        self.takes_comment = False  # the last line may end in a comment

    def text(self) -> str:
        """The whole file."""
        reader, root = self.reader, self.reader.root
        if reader.marker is not None:
            self._before(reader.marker, 0)
            self.lines += reader.directives
            self._line("---", reader.marker + 3)
        spans = isinstance(root, _Collection) and "\n" in reader.text[root.content : root.end].rstrip()
        if isinstance(root, _Collection) and root.items and (spans or not self._on_one_line(root, "")):
            if root.anchor is not None:
                self._before(root.start, 0)
                self._line(f"&{root.anchor}", root.start + 1 + len(root.anchor))
            self._block(root, 0, None, len(reader.text))
        elif root is not None:
            self._before(root.start, 0)
            self._inline(root, "", -STEP)
        self._before(len(reader.text), 0, blank=False)
        return "\n".join(self.lines) + "\n"

    # Lines, comments and blank lines.

    def _line(self, line: str, end: int) -> None:
        self.lines.append(line)
        self.last = max(self.last, end)
        self.opened = False
        self.takes_comment = True

    def _pending(self, before: int) -> _Comment | None:
        """The next comment, when it stands before a place."""
        if self.next < len(self.comments) and self.comments[self.next].start < before:
            return self.comments[self.next]
        return None

    def _comment(self, comment: _Comment, indent: int) -> None:
        self.next += 1
        if not comment.own_line and self.takes_comment:
            self.lines[-1] += f" {comment.text}"
            self.last = max(self.last, comment.end)
        else:
            self._blank(comment.start)
            self._line(" " * max(0, indent) + comment.text, comment.end)
        self.takes_comment = False

    def _blank(self, before: int) -> None:
        if not self.opened and _BLANK_LINE.search(self.reader.text, self.last, before):
            self.lines.append("")

    def _before(self, at: int, indent: int, *, blank: bool = True) -> None:
        """The comments before what starts at a place, and the blank line."""
        while (comment := self._pending(at)) is not None:
            self._comment(comment, indent)
        if blank:
            self._blank(at)

    def _closing(self, node: _Collection, indent: int, following: int) -> None:
        """The comments at the end of a collection that are as far in as its entries are."""
        if node.flow:
            self._before(node.end, indent, blank=False)
            self.last = max(self.last, node.end)
            return
        least = node.column + int(node.indentless)
        while (comment := self._pending(following)) is not None and not (comment.own_line and comment.column < least):
            self._comment(comment, indent)

    # Values.

    def _block(self, node: _Collection, indent: int, lead: str | None, following: int) -> None:
        """A collection, one entry a line.

        Args:
            node: The collection.
            indent: How far in its entries stand.
            lead: What stands on the line of its first entry already.
            following: Where the next value after it starts.
        """
        step = 2 if node.mapping else 1
        for index in range(0, len(node.items), step):
            first = node.items[index]
            if lead is None:
                self._before(_entry(node, index), indent)
                lead = " " * indent
            after = index + step
            then = _entry(node, after) if after < len(node.items) else following
            if node.mapping:
                self._value(node.items[index + 1], f"{lead}{self._key(first)}:", indent, then)
            else:
                self._value(first, f"{lead}-", indent, then)
            lead = None
        self._closing(node, indent, following)

    def _key(self, key: _Item) -> str:
        if isinstance(key, _Collection):
            raise UnfaithfulError("a key is no text")
        anchor = "" if key.anchor is None else f"&{key.anchor} "
        self.last = max(self.last, key.end)
        if key.style == "*":
            return f"{key.value} "
        text = self._leaf(key)
        if key.style in ("|", ">") or "\n" in text:
            text = key.value if is_plain(key.value) else json.dumps(key.value, ensure_ascii=False)
        return anchor + text

    def _value(self, value: _Item, head: str, indent: int, following: int) -> None:
        """The value that goes with a key or a dash."""
        if isinstance(value, _Leaf) or self._on_one_line(value, head):
            self._inline(value, head, indent)
            return
        lead: str | None = f"{head} "
        if not head.endswith("-") or value.anchor is not None or self._pending(value.items[0].start) is not None:
            self._line(head if value.anchor is None else f"{head} &{value.anchor}", value.start)
            self.opened = True
            lead = None
        self._block(value, indent + STEP, lead, following)

    def _inline(self, value: _Item, head: str, indent: int) -> None:
        """A value that goes on the line of its key, but for what spans lines by itself."""
        below = indent + STEP
        if value.anchor is not None:
            head = f"{head} &{value.anchor}" if head else f"&{value.anchor}"
        if head and self._pending(value.content) is not None:
            self._line(head, self.last)
            self.opened = True
            self._before(value.content, below, blank=False)
            head = " " * (below - 1)
        text = self._one_line(value) if isinstance(value, _Collection) else self._leaf(value, indent)
        if text in _INDICATORS:
            text = f"'{text}'"
        joined = f"{head} {text}" if text and head else head or text
        for line in joined.split("\n"):
            self._line(line, value.end)
        if isinstance(value, _Leaf) and value.style in ("|", ">"):
            self.takes_comment = False

    def _on_one_line(self, node: _Collection, head: str) -> bool:
        """Whether a collection is printed in flow style."""
        if not node.flow or not node.items:
            return node.flow
        if any(node.content < each.start < node.end for each in self.comments):
            return False
        line = self._one_line(node)
        joined = "\n" in self.reader.text[node.content : node.end]
        return "\n" not in line and not (joined and len(f"{head} {line}") > WIDTH)

    def _one_line(self, item: _Item) -> str:
        if isinstance(item, _Leaf):
            return self._leaf(item)
        texts = [self._anchored(each) for each in item.items]
        if not item.mapping:
            return f"[{', '.join(texts)}]"
        for index, key in enumerate(item.items):
            if index % 2 == 0 and isinstance(key, _Leaf) and key.style == "*":
                texts[index] += " "
        return "{" + ", ".join(f"{key}: {text}" for key, text in zip(texts[::2], texts[1::2], strict=True)) + "}"

    def _anchored(self, item: _Item) -> str:
        text = self._one_line(item)
        return text if item.anchor is None else f"&{item.anchor} {text}"

    def _leaf(self, leaf: _Leaf, indent: int = 0) -> str:
        """A scalar as it stands in the file, its further lines moved."""
        text = self.reader.text[leaf.content : leaf.end]
        if leaf.style in ("|", ">"):
            return self._block_scalar(leaf, text, indent)
        if "\n" not in text:
            quoted = leaf.style in ("'", '"') and text[1:-1] == leaf.value
            return leaf.value if quoted and is_plain(leaf.value) else text
        first, *others = text.split("\n")
        *moved, last = [first, *(each.lstrip(" \t") for each in others)]
        first, *others = (_without_end(line, escapes=leaf.style == '"') for line in moved)
        return _below([first, *others, last], indent)

    def _block_scalar(self, leaf: _Leaf, text: str, indent: int) -> str:
        header, *lines = text.split("\n")
        header = re.sub(r"\s+#", " #", header).rstrip()
        digit = header.lstrip("|>-+")[:1]
        if digit.isdigit():
            cut = leaf.outer + int(digit)
            header = header.replace(digit, str(STEP), 1)
        else:
            first = next((line for line in lines if line.strip(" ")), "")
            cut = len(first) - len(first.lstrip(" "))
        if leaf.value and not leaf.value.endswith("\n"):
            # At the end of a file without a line feed, the scalar had none either.
            header = re.sub(r"^([|>][1-9]?)\+?([1-9]?)(?!-)", r"\1\2-", header) if "-" not in header[:3] else header
        return _below(
            [header, *(line[cut:] if line[:cut].strip(" ") == "" else line.lstrip(" ") for line in lines)], indent
        )


def is_plain(text: str) -> bool:
    """Whether every reader of YAML, of version 1.1 too, takes the text for the same text when it has no quotes."""
    return _SAFE.fullmatch(text) is not None and text.lower() not in _WORDS


def _below(lines: list[str], indent: int) -> str:
    """The lines of a scalar, those after the first further in than its key."""
    return "\n".join([lines[0], *(" " * (indent + STEP) + line if line else "" for line in lines[1:])])


def _entry(node: _Collection, index: int) -> int:
    """Where an entry starts. What comes after a dash stands inside the entry, comments included."""
    return node.dashes[index] if node.dashes else node.items[index].start


def _without_end(line: str, *, escapes: bool) -> str:
    """A line of a scalar without the white space at its end, which means nothing unless it is escaped."""
    bare = line.rstrip(" \t")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return line if escapes and backslashes % 2 else bare
