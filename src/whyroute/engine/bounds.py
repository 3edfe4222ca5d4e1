"""Bounds of joint search: what breaking ties would cost, as prices that make the least costs add up to more.

Every tie is dropped and paid for instead (Lagrangian relaxation; Geoffrion, "Lagrangean relaxation for integer
programming", Mathematical Programming Study 2, 1974). Given the prices of caps, those of values that must differ are
the duals of an assignment, found exactly. The price of a single cap is where lines of cost over value cross; those of
several are found by steps along the supergradient. Floating point only chooses prices, which may be any: what they come
to is reckoned in integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from .joint import AtMost, Different, Reduced, SearchTie

__all__ = ["reduced"]

_STEPS = 24
"""How many prices of several caps are tried."""

_FINE = 1 << 16
"""Into how many parts the unit of a price is cut."""

_MOST = 1e100
"""How far floating point goes; the square of it is still within its range."""


def reduced(costs: Sequence[Sequence[int]], ties: Sequence[SearchTie], below: int | None = None) -> Reduced | None:
    """Reduced costs with a high bound; None when it shows that nothing meets the ties and costs less than asked.

    Args:
        costs: For each variable, the cost of each of its rows; there is at least one of each.
        ties: What ties the variables; those that have no price are passed over.
        below: Only assignments that cost less are wanted; None: any.
    """
    relaxed = _Relaxed(costs, ties, below)
    try:
        relaxed.price()
    except _NoneError:
        return None
    assert relaxed.best is not None  # prices of nothing were tried at least
    return relaxed.best.reduced


class _NoneError(Exception):
    """Nothing meets the ties and costs less than asked."""


@dataclass(frozen=True, slots=True)
class _Point:
    """What some prices come to.

    Attributes:
        prices: The price of a unit of each cap's value.
        reduced: The reduced costs.
        bound: No assignment that meets the ties costs less.
        cost: What the least combination at these prices costs without them.
        used: Its value in each cap.
    """

    prices: tuple[Fraction, ...]
    reduced: Reduced
    bound: Fraction
    cost: int
    used: tuple[int, ...]


class _Relaxed:
    def __init__(self, costs: Sequence[Sequence[int]], ties: Sequence[SearchTie], below: int | None) -> None:
        self.costs = costs
        self.caps = [tie for tie in ties if isinstance(tie, AtMost)]
        self.differing = [tie for tie in ties if isinstance(tie, Different)]
        self.most = sum(map(max, costs)) if below is None else below - 1
        self.best: _Point | None = None

    def price(self) -> None:
        """Set the prices, one point after the other; `best` is the highest."""
        free = self.at([Fraction(0)] * len(self.caps))
        over = [used - cap.cap for used, cap in zip(free.used, self.caps, strict=True)]
        for cap in self.caps:
            if sum(map(min, cap.values)) > cap.cap:
                raise _NoneError
        if max(over, default=0) <= 0:
            return
        if len(self.caps) == 1:
            self._price_one(free)
        else:
            self._price_several(free)

    def _price_one(self, free: _Point) -> None:
        """Between a point that exceeds the cap and one that keeps it, the next is where their lines cross."""
        (cap,) = self.caps
        least = [
            min(zip(values, self.costs[v], strict=True)) for v, values in zip(cap.variables, cap.values, strict=True)
        ]
        # Keeping it costs at least this much with the least values; what differing values cost comes on top.
        keeping = sum(cost for _, cost in least) + sum(
            min(rows) for variable, rows in enumerate(self.costs) if variable not in cap.variables
        )
        line = (keeping, sum(value for value, _ in least))
        over = free
        for _ in range(_STEPS):
            price = Fraction(line[0] - over.cost, over.used[0] - line[1])
            if price <= 0:
                return
            found = self.at([price])
            if found.used[0] > cap.cap:
                if found.used == over.used and found.cost == over.cost:
                    return
                over = found
            else:
                if (found.cost, found.used[0]) == line:
                    return
                line = (found.cost, found.used[0])
            if line[1] >= over.used[0]:
                return

    def _price_several(self, free: _Point) -> None:
        """Polyak's steps towards a level above the best, which rises with success and sinks with failure."""
        unit = max(max(rows) - min(rows) for rows in self.costs) or 1
        spreads = [
            max(1, sum(max(values) - min(values) for values in cap.values) // len(cap.variables)) for cap in self.caps
        ]
        # Where all costs are alike, prices of nothing lead nowhere.
        flat = not any(map(any, self.costs))
        weights = [1.0 if flat else 0.0 for _ in self.caps]
        step, behind = len(self.costs) / 4, 0.0
        at = best = self._weighted(weights, spreads, unit) if flat else free
        kept = weights
        for _ in range(_STEPS):
            over = [
                _quotient(used - cap.cap, spread) for used, cap, spread in zip(at.used, self.caps, spreads, strict=True)
            ]
            ascent = [max(each, 0.0) if weight <= 0 else each for each, weight in zip(over, weights, strict=True)]
            length = sum(each * each for each in ascent)
            if length == 0:
                return
            ahead = min((step + behind) / length, _MOST)
            weights = [
                min(max(0.0, weight + ahead * each), _MOST) for weight, each in zip(weights, ascent, strict=True)
            ]
            at = self._weighted(weights, spreads, unit)
            if at.bound > best.bound:
                best, kept, behind = at, weights, 0.0
                step *= 1.25
            else:
                step /= 2
                behind = _quotient(best.bound - at.bound, unit)
                if behind > 4 * step:
                    at, weights, behind = best, kept, 0.0

    def _weighted(self, weights: Sequence[float], spreads: Sequence[int], unit: int) -> "_Point":
        """What prices come to that are given in units of cost for a spread of values."""
        pairs = zip(weights, spreads, strict=True)
        return self.at([Fraction(int(weight * _FINE) * unit, spread * _FINE) for weight, spread in pairs])

    def at(self, prices: Sequence[Fraction]) -> _Point:
        """What prices come to."""
        scale = lcm(*(price.denominator for price in prices))
        found = [[scale * cost for cost in rows] for rows in self.costs] if scale > 1 else list(map(list, self.costs))
        offset = 0
        for cap, price in zip(self.caps, prices, strict=True):
            whole = int(price * scale)
            if not whole:
                continue
            offset += whole * cap.cap
            for variable, values in zip(cap.variables, cap.values, strict=True):
                found[variable] = [cost + whole * value for cost, value in zip(found[variable], values, strict=True)]
        taken = [min(range(len(rows)), key=rows.__getitem__) for rows in found]
        for tie in self.differing:
            assigned = _assignment(found, tie)
            if assigned is None:
                raise _NoneError
            value_prices, rows = assigned
            offset += sum(value_prices.values())
            for variable, codes, row in zip(tie.variables, tie.values, rows, strict=True):
                taken[variable] = row
                found[variable] = [
                    cost + value_prices.get(code, 0) for cost, code in zip(found[variable], codes, strict=True)
                ]
        point_reduced = Reduced(found, scale, offset)
        bound = Fraction(point_reduced.bound, scale)
        if bound > self.most:
            raise _NoneError
        used = tuple(
            sum(values[taken[variable]] for variable, values in zip(cap.variables, cap.values, strict=True))
            for cap in self.caps
        )
        cost = sum(rows[row] for rows, row in zip(self.costs, taken, strict=True))
        point = _Point(tuple(prices), point_reduced, bound, cost, used)
        if self.best is None or bound > self.best.bound:
            self.best = point
        return point


def _quotient(part: int | Fraction, whole: int) -> float:
    """What a part is of a whole above 0, as near as floating point goes."""
    most = whole * int(_MOST)
    return float(Fraction(max(-most, min(part, most))) / whole)


def _assignment(costs: Sequence[Sequence[int]], tie: Different) -> tuple[dict[int, int], list[int]] | None:
    """Prices of values that make the bound highest, and a row for each variable; None when there are too few values.

    The duals of the assignment of variables to values (Kuhn, "The Hungarian method for the assignment problem", Naval
    Research Logistics Quarterly 2, 1955), by shortest augmenting paths.
    """
    least = [_cheapest(costs[v], codes) for v, codes in zip(tie.variables, tie.values, strict=True)]
    first = [next(iter(cheapest.items())) for cheapest in least]
    if len({code for code, _ in first}) == len(first):
        return {}, [row for _, row in first]
    owner: dict[int, int] = {}
    potential = [0] * len(least)
    price: dict[int, int] = {}
    for start in range(len(least)):
        distance: dict[int, int] = {}
        came: dict[int, int | None] = {}
        done: dict[int, int] = {}  # settled values, with their distance
        variable, at, through = start, 0, None
        while True:
            own, ahead = costs[tie.variables[variable]], at - potential[variable]
            for code, row in least[variable].items():
                if code in done:
                    continue
                length = ahead + own[row] + price.get(code, 0)
                if code not in distance or length < distance[code]:
                    distance[code], came[code] = length, through
            if not distance:
                return None
            code = min(distance, key=distance.__getitem__)
            at = distance.pop(code)
            done[code] = at
            if code not in owner:
                break
            variable, through = owner[code], code
        potential[start] += at
        for settled, length in done.items():
            if settled in owner:
                potential[owner[settled]] += at - length
                price[settled] = price.get(settled, 0) + at - length
        end: int | None = code
        while end is not None:
            before = came[end]
            owner[end] = start if before is None else owner[before]
            end = before
    codes_of = {variable: code for code, variable in owner.items()}
    return price, [cheapest[codes_of[at]] for at, cheapest in enumerate(least)]


def _cheapest(costs: Sequence[int], codes: Sequence[int]) -> dict[int, int]:
    """For each value, the row that has it and costs least; the least costly first."""
    found: dict[int, int] = {}
    for row in sorted(range(len(costs)), key=costs.__getitem__):
        found.setdefault(codes[row], row)
    return found
