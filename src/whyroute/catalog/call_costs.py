"""What a call costs at each candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from ..basics.bits import BitSlices
from ..basics.numbers import Number, exact, scaled
from ..model.metadata import ModelInfo

__all__ = ["Call", "CallCosts"]

Call = tuple[int, int]
"""The tokens of a call: of the prompt and of the completion."""


@dataclass(frozen=True, slots=True)
class CallCosts:
    """What a call costs at each candidate, exactly.

    Attributes:
        costs: The costs, as integers.
        exponent: A cost in USD is its integer times 10 to this power.
    """

    costs: BitSlices
    exponent: int

    @classmethod
    def of(cls, models: Sequence[ModelInfo], call: Call) -> Self:
        """What a call costs at each of these models."""
        exponent = min(map(_exponent, models), default=0)
        return cls(BitSlices.build(_costs(models, call, exponent)), exponent)

    def meets(self, op: str, usd: Number) -> int:
        """The candidates whose cost meets a bound."""
        bound = exact(usd) / Fraction(10) ** self.exponent
        return self.costs.meets(op, bound.numerator if bound.denominator == 1 else bound)

    def inserted(self, at: int, models: Sequence[ModelInfo], call: Call) -> Self:
        """The costs with those of new candidates at `at`."""
        exponent = min(self.exponent, *(_exponent(model) for model in models))
        factor = 10 ** (self.exponent - exponent)
        costs = self.costs
        if factor != 1:
            costs = BitSlices(tuple(value * factor for value in costs.values), costs.slices, costs.known)
        return type(self)(costs.inserted(at, _costs(models, call, exponent)), exponent)


def _exponent(model: ModelInfo) -> int:
    cost = model.cost
    return min(scaled(cost.prompt_usd_per_1k_tokens)[1], scaled(cost.completion_usd_per_1k_tokens)[1], 0) - 3


def _costs(models: Sequence[ModelInfo], call: Call, exponent: int) -> list[Number | None]:
    """What a call costs at each of the models, in units of 10 to the power of `exponent`."""
    known: dict[tuple[Number, Number], int] = {}
    found: list[Number | None] = []
    for model in models:
        prices = (model.cost.prompt_usd_per_1k_tokens, model.cost.completion_usd_per_1k_tokens)
        cost = known.get(prices)
        if cost is None:
            parts = zip(call, map(scaled, prices), strict=True)
            # Prices are for 1,000 tokens.
            cost = sum(count * digits * 10 ** (power - 3 - exponent) for count, (digits, power) in parts)
            known[prices] = cost
        found.append(cost)
    return found
