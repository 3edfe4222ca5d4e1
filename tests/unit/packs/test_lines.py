"""Lines that fit a terminal."""

from whyroute.render.lines import Line, Unbroken, fitted


def _plain(line: Line, width: int) -> list[str]:
    return ["".join(text for text, _ in each) for each in fitted(line, width)]


def test_what_follows_a_label_hangs_under_it() -> None:
    line = (("  why   ", "dim"), ("one two three four five six", ""))
    assert _plain(line, 24) == ["  why   one two three ", "        four five six"]


def test_text_hangs_by_four() -> None:
    assert _plain((("  one two three four five six", ""),), 21) == ["  one two three four ", "      five six"]


def test_what_is_copied_stays_in_one_piece() -> None:
    line = Unbroken((("  again: ", "dim"), ("whyroute explain pack " * 9, "")))
    assert list(fitted(line, 30)) == [line]


def test_a_line_that_fits_is_left_alone() -> None:
    line = (("x" * 30, ""),)
    assert list(fitted(line, 30)) == [line]
    assert list(fitted(line, 0)) == [line]
