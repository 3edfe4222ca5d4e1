"""Which globs a single text can match together: the classes that globs and constants divide all texts into.

Each glob is an automaton in a line, with a loop where a star is; all of them run side by side, a bit for each place.
The characters that no glob names are alike, so that one of them stands for the rest.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Final

from .bits import positions
from .globs import glob

__all__ = ["MOST_STATES", "TextClass", "TextClasses", "text_classes"]

MOST_STATES: Final = 10_000
"""How many states of all globs together are looked at: a second at most."""


@dataclass(frozen=True, slots=True)
class TextClass:
    """Texts that no glob and no constant tells apart.

    Attributes:
        example: One of them, as short as there is.
        like: The globs that they match, in their order.
        unlike: The globs that they don't match.
        constant: Whether it is one of the constants, and the only text of its class.
    """

    example: str
    like: tuple[str, ...]
    unlike: tuple[str, ...]
    constant: bool


@dataclass(frozen=True, slots=True)
class TextClasses:
    """The classes that globs and constants divide all texts into.

    Attributes:
        classes: The constants in their order; then the others, those with the shortest examples first.
        complete: Whether these are all; if not, the examples are right, and some classes are missing.
    """

    classes: tuple[TextClass, ...]
    complete: bool


def text_classes(globs: Iterable[str], constants: Iterable[str] = (), *, most_states: int = MOST_STATES) -> TextClasses:
    """The classes that some globs and constants divide all texts into, each with an example.

    The answer is exact, unless more states are needed than are allowed. It depends on the order of the globs and the
    constants in nothing but the order of what it lists.

    Args:
        globs: The globs; one that is there twice counts once.
        constants: Texts that are compared for equality.
        most_states: After how many states the search ends.
    """
    return _text_classes(tuple(dict.fromkeys(globs)), tuple(dict.fromkeys(constants)), most_states)


@lru_cache(maxsize=256)
def _text_classes(globs: tuple[str, ...], constants: tuple[str, ...], most_states: int) -> TextClasses:
    of_constants = {text: _matched(globs, text) for text in constants}
    automaton = _Automaton(globs)
    examples, complete = _examples(automaton, most_states)
    if not complete:
        for each in globs:
            # The texts that were tried are short. One that a long glob matches tells more than none.
            text = each.replace("*", "").replace("?", automaton.other)
            examples.setdefault(_matched(globs, text), text)
    found: list[tuple[str, int]] = []
    for matched, text in examples.items():
        if text not in of_constants:
            found.append((text, matched))
            continue
        # The shortest text is a constant. Another is looked for beside those that match the same globs.
        same = [each for each, globs_of_it in of_constants.items() if globs_of_it == matched]
        others, all_seen = _examples(_Automaton(globs, same), most_states, until=matched)
        complete = complete and all_seen
        if matched in others:
            found.append((others[matched], matched))
    found.sort(key=lambda each: (len(each[0]), each[0]))
    classes = [_class(globs, text, matched, constant=True) for text, matched in of_constants.items()]
    classes += [_class(globs, text, matched, constant=False) for text, matched in found]
    return TextClasses(tuple(classes), complete)


def _class(globs: Sequence[str], text: str, matched: int, *, constant: bool) -> TextClass:
    like = tuple(each for place, each in enumerate(globs) if matched >> place & 1)
    return TextClass(text, like, tuple(each for each in globs if each not in like), constant)


def _matched(globs: Sequence[str], text: str) -> int:
    return sum(1 << place for place, each in enumerate(globs) if glob(each)(text))


def _examples(automaton: "_Automaton", most_states: int, until: int | None = None) -> tuple[dict[int, str], bool]:
    """The sets of patterns that some text matches, each with the first one; and whether these are all.

    With `until`, the search ends when that set is found.
    """
    found: dict[int, str] = {}
    for number, (state, text) in enumerate(automaton.states()):
        if number == most_states:
            return found, False
        found.setdefault(automaton.matched(state), text)
        if until in found:
            break
    return found, True


class _Automaton:
    """Globs, then constants, each with a bit for every place in it; a state is the set of places that a text led to.

    Attributes:
        other: A character that none of them names.
    """

    def __init__(self, globs: Sequence[str], constants: Sequence[str] = ()) -> None:
        self._start = 0
        self._loops = 0
        self._any = 0
        self._named: dict[str, int] = {}
        self._character: dict[int, str] = {}
        self._ends: list[int] = []
        self._ranges: list[tuple[int, int]] = []
        place = 0
        for pattern, special in (*((each, True) for each in globs), *((each, False) for each in constants)):
            first, loops = place, 0
            for character in pattern:
                if special and character == "*":
                    loops |= 1 << place
                    continue
                if special and character == "?":
                    self._any |= 1 << place
                else:
                    self._named[character] = self._named.get(character, 0) | 1 << place
                    self._character[place] = character
                place += 1
            self._start |= 1 << first
            self._loops |= loops
            self._ends.append(place)
            if loops >> first > 1:
                self._ranges.append((first, loops))
            place += 1
        self._spelt = sum(1 << each for each in self._character)
        self.other = next(each for each in map(chr, count(ord("a"))) if each.isalnum() and each not in self._named)

    def states(self) -> Iterator[tuple[int, str]]:
        """The states that texts lead to, each with the first text that does; the shortest texts come first."""
        seen = {self._start}
        waiting = deque([(self._start, "")])
        while waiting:
            state, text = waiting.popleft()
            yield state, text
            spelt = {self._character[place] for place in positions(state & self._spelt)}
            for character in (*sorted(spelt), self.other):
                after = self._after(state, character)
                if after not in seen:
                    seen.add(after)
                    waiting.append((after, text + character))

    def matched(self, state: int) -> int:
        """The patterns that a text matches that led to a state."""
        return sum(1 << number for number, end in enumerate(self._ends) if state >> end & 1)

    def _after(self, state: int, character: str) -> int:
        moved = (state & (self._any | self._named.get(character, 0))) << 1 | state & self._loops
        for first, loops in self._ranges:
            # Whatever matches from an earlier place on matches from the last star that was reached, too.
            reached = (moved & loops).bit_length() - 1
            if reached > first:
                moved &= ~((1 << reached) - (1 << first))
        return moved
