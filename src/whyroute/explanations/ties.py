"""What decides between candidates that score the same, in plain words: as a decision and as an explanation tell it."""

from ..basics import bits
from ..catalog.catalog import Catalog
from ..solving.ranking import Ranking, TieBreak

__all__ = ["deciding_order", "tie_clause"]


def tie_clause(ranking: Ranking) -> str:
    """What puts the pick before the next of those that score the same, of which there is at least one."""
    told, tied = "", ranking.tied
    for order in ranking.orders:
        foremost = order.foremost(tied)
        if foremost != tied:
            if foremost.bit_count() == 1:
                return order.told
            told = f"{order.told}; {foremost.bit_count()} still tie, and "
        tied = foremost
    return told + _by_name(ranking.catalog, tied)


def _by_name(catalog: Catalog, tied: int) -> str:
    """Which part of the tie-break order puts the lowest of a set before the next."""
    best = bits.lowest(tied)
    metadata = catalog.metadata_of(best)
    if catalog.metadata_of(bits.lowest(tied & (tied - 1))) is not metadata:
        return "provider ids are compared to break the tie"
    default = metadata.default_model
    if default is not None and default == catalog.candidate(best).model.name:
        return "it is the provider's default model"
    return "model names are compared to break the tie"


def deciding_order(ranking: Ranking, number: int) -> TieBreak | None:
    """The order that puts the pick before a candidate of the same score; None when none does."""
    both = 1 << ranking.best() | 1 << number
    return next((order for order in ranking.orders if order.foremost(both) != both), None)
