"""Packs on the command line: loading them, and the requests that the options make of them."""

import os
import re
from collections.abc import Sequence

from ..basics.issues import printable, shown
from ..errors import WhyrouteError
from ..packs import Pack, load_pack
from ..packs.source.sources import SUFFIXES
from ..providers.provider_files import UnreadableFileError
from .output import CommandError

__all__ = ["labels_of", "not_loaded", "opened", "whole_pack"]


def opened(path: str) -> Pack:
    """The pack at a path.

    Raises:
        CommandError: It can't be loaded.
    """
    try:
        return load_pack(path)
    except WhyrouteError as error:
        raise not_loaded(error, path) from None


def not_loaded(error: WhyrouteError, path: str) -> CommandError:
    """That a pack can't be loaded; of a path that isn't there, where it was looked for."""
    if not isinstance(error, UnreadableFileError) or os.path.lexists(path):
        return CommandError(error)
    if os.path.isabs(path):
        return CommandError(error)
    here = os.getcwd()
    hint = "; this folder is a pack itself: write `.`" if _has_files_of_a_pack(here) else ""
    return CommandError(f"{error} in `{printable(here)}`{hint}")


def whole_pack(path: str) -> str | None:
    """The folder that is the pack, when a path is one of several files of it; None when it is no such file."""
    if not os.path.isfile(path):
        return None
    folder = os.path.dirname(path) or "."
    if sum(_begins_a_pack(os.path.join(folder, name)) for name in _names(folder)) < 2 and not _has_files_of_a_pack(
        os.path.join(folder, os.pardir)
    ):
        return None
    found = folder
    for _ in range(_MOST_FOLDERS):
        above = os.path.normpath(os.path.join(found, os.pardir))
        if not _has_files_of_a_pack(above):
            break
        found = above
    return found


_MOST_FOLDERS = 8
_MOST_BYTES = 4096
_FIRST_KEY = re.compile(rb"^whyroute:", re.MULTILINE)


def _names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.lower().endswith(SUFFIXES))
    except OSError:
        return []


def _has_files_of_a_pack(folder: str) -> bool:
    return any(_begins_a_pack(os.path.join(folder, name)) for name in _names(folder))


def _begins_a_pack(file: str) -> bool:
    try:
        if not os.path.isfile(file):
            return False
        with open(file, "rb") as stream:
            return _FIRST_KEY.search(stream.read(_MOST_BYTES)) is not None
    except OSError:
        return False


def labels_of(texts: Sequence[str]) -> dict[str, str]:
    """The labels that texts such as `data=patient` give.

    Raises:
        CommandError: A text is no label, or a key is given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise CommandError(f"{shown(text)} is no label; write KEY=VALUE")
        if key in found:
            raise CommandError(f"label {shown(key)} is given twice")
        found[key] = value
    return found
