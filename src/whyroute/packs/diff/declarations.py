"""Capabilities that requests declare themselves: whether a tenant's rules and groups decide otherwise about some."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Final

from ...model.condition import Leaf
from .matching import Matching
from .pack_view import PackView

__all__ = ["declarations", "region_differing"]

_MOST_FEATURES: Final = 5


def declarations(sides: tuple[PackView, PackView], leaves: Sequence[Leaf]) -> Iterator[dict[str, Any]]:
    """The least declarations that rules tell apart: each kind there is or is named, with each set of features named.

    Further needs only take candidates away: where these are answered alike, all others are. Past five features, only
    each alone and all together are tried.
    """
    kinds: dict[str, None] = {}
    for side in sides:
        kinds |= dict.fromkeys(meta.capability_kind for meta in side.catalog.metadata)
    kinds |= dict.fromkeys(_named(leaves, "kind"))
    features = tuple(dict.fromkeys(_named(leaves, "feature")))
    sizes = range(len(features) + 1) if len(features) <= _MOST_FEATURES else (0, 1, len(features))
    for kind in sorted(each for each in kinds if each):
        for size in sizes:
            for chosen in combinations(features, size):
                yield {"kind": kind, "needs": [{"feature": feature} for feature in chosen]}


def region_differing(sides: tuple[PackView, PackView], matching: Matching) -> str | None:
    """A region, or a group of them, that means other candidates in the two packs; None when there is none."""
    before, after = (side.pack.groups for side in sides)
    if before == after:
        return None
    names = dict.fromkeys(name for side in sides for name in (*side.pack.region_document, *_regions(side)))
    for name in names:
        old = sides[0].catalog.in_any_region(before.meaning(name)) & sides[0].visible
        new = sides[1].catalog.in_any_region(after.meaning(name)) & sides[1].visible & matching.common_new
        if matching.to_new(old) != new:
            return name
    return None


def _regions(side: PackView) -> Iterator[str]:
    return (meta.region for meta in side.catalog.metadata)


def _named(leaves: Sequence[Leaf], field: str) -> Iterator[str]:
    for leaf in leaves:
        if leaf.field == field and leaf.op in ("eq", "in", "ne", "notIn"):
            yield from (leaf.wanted,) if isinstance(leaf.wanted, str) else leaf.wanted
