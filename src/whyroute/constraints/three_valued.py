"""Evaluating conditions in Kleene's three values: on the catalog's index for all candidates at once, or one by one.

An unknown fact makes a comparison unknown; `not`, `any` and `all` go on from there as Kleene's strong logic
has it. On the index a value is a pair of sets: the candidates for which the condition certainly holds, and those for
which it certainly does not.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final, NamedTuple

from ..basics.globs import glob
from ..basics.numbers import Number, exact, whole, wire_number
from ..catalog.catalog import Catalog
from ..model.condition import AllOf, AnyOf, Is, Leaf, Node, Not
from ..model.condition_grammar import FIELDS, LABEL_PREFIX
from ..model.features import UNSPECIFIED_REGION
from ..model.metadata import ModelInfo, ProviderMetadata, source_of
from ..model.regions import NO_REGIONS, Regions

__all__ = [
    "NO_CONTEXT",
    "PRICE_OF_CALL",
    "Call",
    "Compiled",
    "Deciding",
    "EvalContext",
    "Known",
    "compiled",
    "observed_value",
    "shown_value",
]

PRICE_OF_CALL: Final = "callUsd"
"""The one field that depends on the tokens of a call."""

Value = bool | None
"""Certainly, certainly not, or unknown."""


@dataclass(frozen=True, slots=True)
class Call:
    """The tokens of a call.

    Attributes:
        prompt: Tokens of the prompt.
        completion: Tokens of the answer.
    """

    prompt: int
    completion: int

    @classmethod
    def of(cls, prompt: Number, completion: Number) -> "Call":
        """The call of tokens as the wire has them."""
        return cls(whole(prompt), whole(completion))


class Known(NamedTuple):
    """The candidates for which a condition certainly holds, and those for which it certainly does not."""

    yes: int
    no: int


class Deciding(NamedTuple):
    """A comparison that decided, and whether it stands under an odd number of negations."""

    leaf: Leaf
    negated: bool


@dataclass(frozen=True, slots=True)
class Compiled:
    """A condition with the named ones that it rests on.

    Attributes:
        node: The condition.
        named: The named conditions that it refers to, each after those that it refers to itself.
        fields: The fields that it looks at, each once.
    """

    node: Node
    named: tuple[tuple[str, Node], ...]
    fields: tuple[str, ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Computed once: a catalog finds what a condition admits by the condition, and conditions are long.
        object.__setattr__(self, "_hash", hash((self.node, self.named)))

    def __hash__(self) -> int:
        return self._hash

    def value(self, observed: Mapping[str, Any], regions: Regions = NO_REGIONS) -> Value:
        """Whether it holds for these values of its fields; None is an unknown one."""
        return self.evaluator(observed, regions)(self.node)

    def deciding(self, observed: Mapping[str, Any], regions: Regions = NO_REGIONS) -> tuple[Deciding, ...]:
        """The comparisons that make it what it is: of every part those that have the value of the whole."""
        value_of = self.evaluator(observed, regions)
        named = dict(self.named)
        found: dict[Deciding, None] = {}
        seen: set[tuple[str, bool]] = set()
        steps: list[tuple[Node, bool]] = [(self.node, False)]
        while steps:
            node, negated = steps.pop()
            match node:
                case Leaf():
                    found[Deciding(node, negated)] = None
                case Not(part):
                    steps.append((part, not negated))
                case Is(name):
                    if (name, negated) not in seen:
                        seen.add((name, negated))
                        steps.append((named[name], negated))
                case AllOf(parts) | AnyOf(parts):
                    value = value_of(node)
                    steps += [(part, negated) for part in reversed(parts) if value_of(part) is value]
        return tuple(found)

    def evaluator(self, observed: Mapping[str, Any], regions: Regions) -> Callable[[Node], Value]:
        """Tells whether a part of it holds for these values of its fields."""
        known: dict[str, Value] = {}

        def value_of(node: Node) -> Value:
            match node:
                case Leaf():
                    return _holds(node, observed[node.field], regions)
                case AllOf(parts):
                    return _all(map(value_of, parts))
                case AnyOf(parts):
                    return _inverse(_all(_inverse(value_of(part)) for part in parts))
                case Not(part):
                    return _inverse(value_of(part))
                case Is(name):
                    return known[name]

        for name, node in self.named:
            known[name] = value_of(node)
        return value_of


def compiled(node: Node, conditions: Mapping[str, Node], order: Sequence[str]) -> Compiled:
    """A condition with the named ones it needs.

    Args:
        node: The condition.
        conditions: The named conditions.
        order: Their names, each after those it refers to.
    """
    needed: dict[str, None] = {}
    fields: dict[str, None] = {}
    steps = [node]
    while steps:
        match steps.pop():
            case Leaf(field=name):
                fields[name] = None
            case AllOf(parts) | AnyOf(parts):
                steps += reversed(parts)
            case Not(part):
                steps.append(part)
            case Is(name):
                if name not in needed:
                    needed[name] = None
                    steps.append(conditions[name])
    named = tuple((name, conditions[name]) for name in order if name in needed) if needed else ()
    return Compiled(node, named, tuple(fields))


@dataclass(frozen=True, slots=True)
class EvalContext:
    """What conditions over candidates depend on beside the candidates.

    Attributes:
        regions: The groups of regions.
        call: The tokens of the call; None: unknown, and so is what it costs.
    """

    regions: Regions = NO_REGIONS
    call: Call | None = None

    def known(self, condition: Compiled, catalog: Catalog, named: dict[str, Known] | None = None) -> Known:
        """For which candidates a condition holds, and for which it does not, from the catalog's index.

        Args:
            condition: The condition.
            catalog: The candidates. It keeps the answer.
            named: What named conditions are already known to be, of the same rulebook; more are added.
        """
        call = self.call if PRICE_OF_CALL in condition.fields else None
        key = condition, self.regions, call

        def evaluate() -> Known:
            found = {} if named is None else named
            for name, node in condition.named:
                if name not in found:
                    found[name] = self._known(node, catalog, found)
            return self._known(condition.node, catalog, found)

        return catalog.kept(key, evaluate)

    def _known(self, node: Node, catalog: Catalog, named: Mapping[str, Known]) -> Known:
        match node:
            case Leaf():
                return self._of_leaf(node, catalog)
            case AllOf(parts):
                yes, no = catalog.all(), 0
                for part in parts:
                    of_part = self._known(part, catalog, named)
                    yes &= of_part.yes
                    no |= of_part.no
                return Known(yes, no)
            case AnyOf(parts):
                yes, no = 0, catalog.all()
                for part in parts:
                    of_part = self._known(part, catalog, named)
                    yes |= of_part.yes
                    no &= of_part.no
                return Known(yes, no)
            case Not(part):
                of_part = self._known(part, catalog, named)
                return Known(of_part.no, of_part.yes)
            case Is(name):
                return named[name]

    def _of_leaf(self, leaf: Leaf, catalog: Catalog) -> Known:
        kind = _kind(leaf.field)
        if leaf.op == "exists":
            there = self._there(leaf.field, catalog)
            missing = catalog.all() & ~there
            return Known(there, missing) if leaf.wanted else Known(missing, there)
        if kind == "number":
            known, matched = self._compared(leaf, catalog)
        else:
            known = catalog.all() if kind == "set" else catalog.known(leaf.field)
            if leaf.op == "like":
                matched = catalog.matching(leaf.field, leaf.wanted)
            else:
                matched = catalog.having(leaf.field, _names(leaf, self.regions))
        yes = known & matched
        no = known & ~matched
        return Known(no, yes) if leaf.op in ("ne", "notIn") else Known(yes, no)

    def _there(self, name: str, catalog: Catalog) -> int:
        if name == PRICE_OF_CALL:
            return 0 if self.call is None else catalog.all()
        return catalog.numbers(name).known if _kind(name) == "number" else catalog.known(name)

    def _compared(self, leaf: Leaf, catalog: Catalog) -> tuple[int, int]:
        """The candidates whose number is known, and those that match; `ne` and `notIn` are taken as their opposites."""
        if leaf.field == PRICE_OF_CALL:
            if self.call is None:
                return 0, 0
            known = catalog.all()
            meets: Callable[[str, Number], int] = catalog.call_costs(self.call.prompt, self.call.completion).meets
        else:
            slices = catalog.numbers(leaf.field)
            known, meets = slices.known, slices.meets
        if leaf.op in _BOUNDS:
            return known, meets(_BOUNDS[leaf.op], leaf.wanted)
        matched = 0
        for wanted in leaf.wanted if leaf.op in ("in", "notIn") else (leaf.wanted,):
            matched |= meets("=", wanted)
        return known, matched


NO_CONTEXT: Final = EvalContext()
"""No groups of regions, and no call."""

_BOUNDS: Final = {"lt": "<", "lte": "<=", "gt": ">", "gte": ">="}


def _kind(name: str) -> str:
    return "text" if name.startswith(LABEL_PREFIX) else FIELDS.get(name, "text")


def _names(leaf: Leaf, regions: Regions) -> tuple[str, ...]:
    """The names that a comparison of text for equality is about; a group of regions means its members too."""
    names: tuple[str, ...] = leaf.wanted if leaf.op in ("in", "notIn") else (leaf.wanted,)
    return regions.meanings(names) if leaf.field == "region" and regions.groups else names


def observed_value(name: str, metadata: ProviderMetadata, model: ModelInfo, call: Call | None) -> Hashable:
    """What a candidate has in a field; None when that is unknown."""
    if name.startswith(LABEL_PREFIX):
        return metadata.labels.get(name[len(LABEL_PREFIX) :])
    return _OBSERVE[name](metadata, model, call)


def _cost(metadata: ProviderMetadata, model: ModelInfo, call: Call | None) -> Fraction | None:
    if call is None:
        return None
    prompt = exact(model.cost.prompt_usd_per_1k_tokens) * call.prompt
    return (prompt + exact(model.cost.completion_usd_per_1k_tokens) * call.completion) / 1000


_OBSERVE: Final[Mapping[str, Callable[[ProviderMetadata, ModelInfo, Call | None], Hashable]]] = {
    "provider": lambda metadata, model, call: metadata.id,
    "model": lambda metadata, model, call: model.name,
    "region": lambda metadata, model, call: None if metadata.region == UNSPECIFIED_REGION else metadata.region,
    "kind": lambda metadata, model, call: metadata.capability_kind,
    "feature": lambda metadata, model, call: model.features,
    "attribute": lambda metadata, model, call: metadata.attributes,
    "source": lambda metadata, model, call: source_of(metadata),
    "contextWindow": lambda metadata, model, call: model.context_window,
    "maxOutputTokens": lambda metadata, model, call: model.max_output_tokens,
    "promptUsdPer1kTokens": lambda metadata, model, call: model.cost.prompt_usd_per_1k_tokens,
    "completionUsdPer1kTokens": lambda metadata, model, call: model.cost.completion_usd_per_1k_tokens,
    "callUsd": _cost,
    "p95LatencyMs": lambda metadata, model, call: model.p95_latency_ms,
}


def shown_value(observed: Hashable) -> Any:
    """What a candidate has in a field, as it goes over the wire."""
    if isinstance(observed, Fraction):
        return wire_number(observed)
    return list(observed) if isinstance(observed, tuple) else observed


def _all(values: Iterable[Value]) -> Value:
    found: Value = True
    for value in values:
        if value is False:
            return False
        if value is None:
            found = None
    return found


def _inverse(value: Value) -> Value:
    return None if value is None else not value


def _holds(leaf: Leaf, observed: Any, regions: Regions) -> Value:
    if leaf.op == "exists":
        there = observed is not None and observed != ()
        return there is leaf.wanted
    if observed is None:
        return None
    if _kind(leaf.field) == "number":
        return _number_holds(leaf, observed)
    if leaf.op == "like":
        return glob(leaf.wanted)(observed)
    names = _names(leaf, regions)
    has = any(name in observed for name in names) if isinstance(observed, tuple) else observed in names
    return has is not (leaf.op in ("ne", "notIn"))


def _number_holds(leaf: Leaf, observed: Number | Fraction) -> bool:
    # A price that is calculated is compared with the decimal that is written, not with the double next to it.
    read: Callable[[Number], Number | Fraction] = exact if isinstance(observed, Fraction) else lambda wanted: wanted
    match leaf.op:
        case "lt":
            return observed < read(leaf.wanted)
        case "lte":
            return observed <= read(leaf.wanted)
        case "gt":
            return observed > read(leaf.wanted)
        case "gte":
            return observed >= read(leaf.wanted)
        case "eq":
            return observed == read(leaf.wanted)
        case "ne":
            return observed != read(leaf.wanted)
        case "in":
            return any(observed == read(each) for each in leaf.wanted)
        case "notIn":
            return all(observed != read(each) for each in leaf.wanted)
        case _:
            raise ValueError(f"`{leaf.op}` is no matcher")
