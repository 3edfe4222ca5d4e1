"""What the entries of a pack say of each other: names that must be defined, and circles."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from ...basics.globs import matching
from ...basics.issues import did_you_mean, quoted, shown
from ...documents.toposort import cycles
from ...model.condition import named_in
from ..source.nodes import Node
from ..source.problems import Problem
from .definitions import Definition, Piece
from .entries import EVERY
from .models import PackTest, no_label, no_value
from .reading import Definitions
from .sections import Entry

__all__ = ["link_problems"]

T = TypeVar("T")
_Known = Collection[str] | None
"""The names that there are; None when they are not all known, so that any may be one."""

_MOST_CIRCLES: Final = 100


def link_problems(definitions: Definitions, every_tenant: Iterable[Entry]) -> list[Problem]:
    """What is wrong with the references between the entries of a pack.

    Args:
        definitions: What the pack defines.
        every_tenant: The names under `everyTenant`.
    """
    return [
        *_unknown_names(definitions, every_tenant),
        *_request_labels(definitions),
        *_circles(definitions.regions, "region group", lambda members: members, ()),
        *_circles(definitions.policies, "policy", lambda part: part.extends, ("extends",)),
        *_circles(definitions.conditions, "condition", lambda condition: named_in(condition.node), ()),
    ]


def _unknown_names(definitions: Definitions, every_tenant: Iterable[Entry]) -> Iterator[Problem]:
    policies, rules = definitions.known("policies"), definitions.known("rules")
    tenants, capabilities = definitions.known("tenants"), definitions.known("capabilities")
    for entry in every_tenant:
        yield from _unless_known(entry.piece, entry.name, policies, "policy")
    for group in (definitions.policies, definitions.tenants):
        for each in group.values():
            yield from _list(each, "extends", policies, "policy")
            yield from _list(each, "rules", rules, "rule")
    for provider in definitions.providers.values():
        yield from _list(provider, "onlyTenants", tenants, "tenant")
    for waiver in definitions.waivers.values():
        if not rules:  # where there are some, the waiver was held against them
            yield from _unless_known(waiver.piece.inner("rule"), waiver.value.rule, rules, "rule")
        yield from _unless_known(waiver.piece.inner("tenant"), waiver.value.tenant, tenants, "tenant")
    for test in definitions.tests.values():
        yield from _of_test(test.piece, "tenant", tenants, "tenant")
        yield from _of_test(test.piece, "capability", capabilities, "capability")
        yield from _constraints_of_test(test.piece, rules)
        if test.value.bundle is not None:
            yield from _bundle_of_test(test, definitions)
    for bundle in definitions.bundles.values():
        slots = bundle.piece.inner("slots")
        for slot in bundle.value.slots:
            yield from _values(slots.inner(slot).inner("capability"), capabilities, "capability")
    yield from _capabilities_of_rules(definitions)


def _list(definition: Definition[Any], key: str, known: _Known, what: str) -> Iterator[Problem]:
    section = definition.piece.inner(key)
    if definition.piece.node.value.get(key) is not None and type(section.node.value) is list:
        for node in section.node.value:
            yield from _unless_known(Piece.of(section.source, node), node.value, known, what)


def _unless_known(piece: Piece, name: Any, known: _Known, what: str) -> Iterator[Problem]:
    if known is not None and isinstance(name, str) and name not in known:
        plural = {"policy": "policies", "capability": "capabilities"}.get(what, f"{what}s")
        listed = f"; the {plural} are {quoted(sorted(known), limit=8)}" if known else f"; the pack defines no {plural}"
        yield Problem(piece.value(), f"{shown(name)} is no {what} of the pack{did_you_mean(name, known) or listed}")


def _of_test(test: Piece, key: str, known: _Known, what: str) -> Iterator[Problem]:
    if key not in test.node.value:
        return
    piece = test.inner(key)
    if piece.node.value != EVERY and piece.node.keys is None:
        yield from _values(piece, known, what)


def _bundle_of_test(test: Definition[PackTest], definitions: Definitions) -> Iterator[Problem]:
    """The bundle that a test names, and the slots whose picks it expects."""
    name = test.value.bundle or ""
    yield from _unless_known(test.piece.inner("bundle"), name, definitions.known("bundles"), "bundle")
    picks = test.value.expect.picks
    if picks is not None and name in definitions.bundles:
        known = definitions.bundles[name].value.slots
        places = test.piece.inner("expect").inner("picks")
        for slot in picks:
            if slot not in known:
                near = did_you_mean(slot, known) or f"; its slots are {quoted(known)}"
                yield Problem(places.inner(slot).place, f"{shown(slot)} is no slot of bundle {shown(name)}{near}")


def _values(piece: Piece, known: _Known, what: str) -> Iterator[Problem]:
    """The names in a scalar, or in a list of them."""
    nodes: list[Node] = piece.node.value if type(piece.node.value) is list else [piece.node]
    for node in nodes:
        yield from _unless_known(Piece.of(piece.source, node), node.value, known, what)


def _constraints_of_test(test: Piece, rules: _Known) -> Iterator[Problem]:
    """Rules among the constraints that a test expects: a name that no rule has can never come true."""
    expect = test.inner("expect")
    lists = [expect.inner("core").node] if "core" in expect.node.value else []
    if "rejected" in expect.node.value:
        rejected = expect.inner("rejected").node
        lists += [node.value["by"] for node in rejected.value if "by" in node.value]
    for each in lists:
        for node in each.value:
            kind, _, name = node.value.partition("/")
            if kind == "rules":
                yield from _unless_known(Piece.of(test.source, node), name, rules, "rule")


def _capabilities_of_rules(definitions: Definitions) -> Iterator[Problem]:
    known = definitions.known("capabilities")
    for rule in definitions.rules.values():
        for op, piece in _capability_leaves(rule.piece.inner("when")):
            if op != "like":
                yield from _values(piece, known, "capability")
            elif known is not None and not matching(piece.node.value, known):
                listed = f"they are {quoted(sorted(known), limit=8)}" if known else "it defines none"
                message = f"{shown(piece.node.value)} matches no capability of the pack; {listed}"
                yield Problem(piece.value(), message)


def _capability_leaves(when: Piece) -> Iterator[tuple[str, Piece]]:
    """Where a condition over the request compares the capability with names or a glob, each with the matcher."""
    for key, _, node in when.node.pairs():
        inner = when.inner(key)
        if key == "capability":
            matchers = [(op, inner.inner(op)) for op in node.value] if node.keys is not None else [("eq", inner)]
            yield from (each for each in matchers if each[0] != "exists")
        elif key == "not":
            yield from _capability_leaves(inner)
        elif key in ("any", "all"):
            for part in node.value:
                yield from _capability_leaves(Piece.of(when.source, part))


def _request_labels(definitions: Definitions) -> Iterator[Problem]:
    """Labels that capabilities, slots and tests give to requests, where the pack declares which there are."""
    if not definitions.declares_labels:
        return
    for capability in definitions.capabilities.values():
        yield from _labels(capability.piece, definitions, fixed="a capability can't fix it")
    for bundle in definitions.bundles.values():
        for slot in bundle.value.slots:
            yield from _labels(bundle.piece.inner("slots", slot), definitions, fixed="a slot can't set it")
    for test in definitions.tests.values():
        yield from _labels(test.piece, definitions)


def _labels(piece: Piece, definitions: Definitions, *, fixed: str | None = None) -> Iterator[Problem]:
    known = definitions.known("labels")
    if known is None or "labels" not in piece.node.value:
        return
    labels = piece.inner("labels")
    for key, position, node in labels.node.pairs():
        if key not in known:
            yield Problem(labels.source.place(*position), no_label(key, known))
        elif key in definitions.labels:
            declared = definitions.labels[key].value
            if fixed and declared.set_by == "operator":
                message = f"{shown(key)} is set by the operator; {fixed}"
                yield Problem(labels.source.place(*position), message)
            elif node.value not in declared.values:
                message = no_value(key, node.value, declared.values)
                yield Problem(labels.source.place(*node.position), message)


def _circles(
    definitions: Mapping[str, Definition[T]],
    what: str,
    refers_to: Callable[[T], Iterable[str]],
    key: tuple[str, ...],
) -> list[Problem]:
    in_order = sorted(definitions.values(), key=lambda each: each.piece.place.order)
    references = {each.name: tuple(refers_to(each.value)) for each in in_order}
    problems = []
    for circle in cycles(references)[:_MOST_CIRCLES]:
        places = [definitions[name].place(*key) for name in circle]
        way = " > ".join(map(shown, [*circle, circle[0]]))
        problems.append(Problem(places[0], f"{what} {shown(circle[0])} leads back to itself: {way}", tuple(places[1:])))
    return problems
