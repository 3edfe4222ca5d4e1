"""What a comparison says of random packs against what each pack answers, route by route; and laws."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import pack_strategies as packs
from pack_strategies import AT, CAPABILITIES, TENANTS, documents, loaded, pairs
from whyroute.errors import InvalidRequestError
from whyroute.packs import Pack, Resolved
from whyroute.packs.diff import Comparison, compare_packs
from whyroute.packs.diff.comparison import Change, Scope
from whyroute.packs.diff.labels import LabelValue

Key = tuple[str, str]
Json = dict[str, Any]
LABELS = [
    {key: value for key, value in (("data", data), ("env", env)) if value is not None}
    for data in (None, *packs.DATA, "elsewhere")
    for env in (None, "dev", "prod", "p", "x")
]


def resolved(pack: Pack, tenant: str, capability: str, labels: dict[str, str]) -> Resolved | None:
    """The request under a pack; None when it is refused."""
    operator = {"env": labels["env"]} if pack.labels is not None and "env" in labels else {}
    given_labels = {key: value for key, value in labels.items() if key not in operator}
    try:
        return pack.resolve(tenant, capability, labels=given_labels, operator_labels=operator, at=AT)
    except InvalidRequestError:
        return None


def routes(old: Pack, new: Pack) -> Iterator[tuple[str, str, dict[str, str], Resolved, Resolved]]:
    """Every route that both packs answer."""
    for tenant in TENANTS:
        for capability in CAPABILITIES:
            for labels in LABELS:
                before, after = (resolved(pack, tenant, capability, labels) for pack in (old, new))
                if before is not None and after is not None:
                    yield tenant, capability, labels, before, after


def answered(request: Resolved) -> tuple[Key | None, bool, set[Key], Any]:
    """The pick, whether it is a fallback, who qualifies, and what shadow rules come to."""
    found = request.answer(include=["matched"])
    decision = found.get("decision")
    pick = None if decision is None else key_of(decision["pick"])
    return pick, bool(decision and decision["fallback"]), set(map(key_of, found["matched"])), found.get("shadow")


def key_of(candidate: Json) -> Key:
    return candidate["provider"], candidate["model"]


def candidates(pack: Pack) -> set[Key]:
    return {(each.name, model.name) for each in pack.providers.values() for model in each.value.metadata.models}


def covers(scope: Scope, tenant: str, capability: str, labels: dict[str, str]) -> bool:
    if tenant not in scope.tenants or capability not in scope.capabilities:
        return False
    return any(all(any(fits(value, key, labels) for value in values) for key, values in case) for case in scope.labels)


def fits(value: LabelValue, key: str, labels: dict[str, str]) -> bool:
    if value.other_than is not None:
        return key in labels and labels[key] not in value.other_than
    return labels.get(key) == value.text


def effect_on(changes: tuple[Change, ...], tenant: str, capability: str, labels: dict[str, str]) -> list[Change]:
    return [each for each in changes if any(covers(scope, tenant, capability, labels) for scope in each.scopes)]


def rejecting(request: Resolved, candidate: Key, everyone: dict[Key, Any]) -> list[str]:
    """The constraints that reject a candidate, each judged by its metadata."""
    solved = request.read().solve("plain")
    ids = [each.id for each in solved.constraints if not each.admits(everyone[candidate])]
    visible = {each.key for each in request.catalog.candidates()}
    return ids if candidate in visible else ["onlyTenants", *ids]


def known(value: Any) -> Any:
    return None if value is None else (None if value.pick is None else value.pick, list(value.by))


def wire_shadow(value: Any) -> Any:
    if value is None:
        return None
    return (None if value.get("unsatisfiable") else key_of(value["pick"]), value["by"])


@settings(max_examples=15)
@given(pairs())
def test_every_route_differs_as_the_answers_do(drawn: tuple[Json, Json]) -> None:
    check_every_route(drawn)


@pytest.mark.slow
@settings(max_examples=1000)
@given(pairs())
def test_so_do_those_of_many_packs(drawn: tuple[Json, Json]) -> None:
    check_every_route(drawn)


def check_every_route(drawn: tuple[Json, Json]) -> None:
    old, new = (loaded(document) for document in drawn)
    found = compare_packs(old, new, at=AT)
    common = candidates(old) & candidates(new)
    everyone = [
        {each.key: each for tenant in TENANTS for each in pack.catalog(tenant).candidates()} for pack in (old, new)
    ]
    gained_by: dict[str, bool] = {}
    lost_by: dict[str, bool] = {}
    for tenant, capability, labels, before, after in routes(old, new):
        was, now = answered(before), answered(after)
        lost, gained = (was[2] - now[2]) & common, (now[2] - was[2]) & common
        gained_by[tenant] = gained_by.get(tenant, False) or bool(gained)
        lost_by[tenant] = lost_by.get(tenant, False) or bool(lost)
        changes = effect_on(found.changes, tenant, capability, labels)
        if was[:3] == now[:3] or not changes:
            assert was[:3] == now[:3]
            assert not changes
        else:
            (change,) = changes
            effect = change.effect
            assert (effect.old.pick, effect.old.fallback) == was[:2]
            assert (effect.new.pick, effect.new.fallback) == now[:2]
            assert {each for movement in effect.lost for each in movement.candidates} == lost
            assert {each for movement in effect.gained for each in movement.candidates} == gained
            assert set(effect.withdrawn) == was[2] - candidates(new)
            assert set(effect.arrived) == now[2] - candidates(old)
            for movements, side, request in ((effect.lost, 1, after), (effect.gained, 0, before)):
                for movement in movements:
                    ids = [cause.constraint for cause in movement.causes]
                    for candidate in movement.candidates:
                        if candidate in everyone[side]:
                            assert ids == rejecting(request, candidate, everyone[side])
        expected = wire_shadow(was[3]), wire_shadow(now[3])
        shadows = [each for each in found.shadows if any(covers(s, tenant, capability, labels) for s in each.scopes)]
        assert [(known(each.old), known(each.new)) for each in shadows] == [expected] * (expected[0] != expected[1])
    for verdict in found.tenants:
        expected_verdict = {
            (False, False): "same",
            (True, False): "stricter",
            (False, True): "looser",
            (True, True): "both",
        }[lost_by[verdict.tenant], gained_by[verdict.tenant]]
        assert verdict.verdict == expected_verdict


def shuffled(document: Json, random: Any) -> Json:
    """The same pack with sections, and the entries of sections whose order says nothing, in another order."""
    keys = list(document)
    random.shuffle(keys)
    found: Json = {}
    for key in keys:
        value = document[key]
        if isinstance(value, list):
            value = list(value)
            random.shuffle(value)
        found[key] = value
    return found


@settings(max_examples=15)
@given(documents(), st.randoms(use_true_random=False))
def test_a_pack_does_not_differ_from_itself(document: Json, random: Any) -> None:
    again = loaded(shuffled(document, random), "renamed/other.yml")
    found = compare_packs(loaded(document), again, at=AT)
    assert found.is_same
    assert {each.verdict for each in found.tenants} == {"same"}
    assert found.to_dict()["changes"] == []


@settings(max_examples=15)
@given(documents(), st.sampled_from(["clause", "require", "forbid", "policy"]), st.data())
def test_what_is_added_never_loosens(document: Json, kind: str, data: st.DataObject) -> None:
    new = json.loads(json.dumps(document))
    if kind in ("require", "forbid"):
        new["rules"].append({"name": "added", "because": "More.", kind: data.draw(packs.conditions)})
        new["tenants"][0]["rules"].append("added")
    else:
        part = data.draw(st.fixed_dictionaries({}, optional=packs.clauses))
        new["policies"].append({"name": "added", **part})
        new["tenants"][0]["extends"].append("added")
    found = compare_packs(loaded(document), loaded(new), at=AT)
    assert not found.is_looser
    assert all(each.verdict in ("same", "stricter") for each in found.tenants)
    assert not [each for each in found.changes if each.effect.gained or each.effect.kind == "appeared"]


MIRRORED = {"stricter": "looser", "looser": "stricter", "both": "both", "same": "same"}


@settings(max_examples=15)
@given(pairs())
def test_the_other_way_round_everything_is_mirrored(drawn: tuple[Json, Json]) -> None:
    old, new = (loaded(document) for document in drawn)
    there, back = compare_packs(old, new, at=AT), compare_packs(new, old, at=AT)
    assert [MIRRORED[each.verdict] for each in there.tenants] == [each.verdict for each in back.tenants]
    assert (there.added, there.removed) == (back.removed, back.added)
    assert sorted(map(moved, sides(there, mirrored=False))) == sorted(map(moved, sides(back, mirrored=True)))


def sides(comparison: Comparison, *, mirrored: bool) -> Iterator[tuple[Any, ...]]:
    for change in comparison.changes:
        effect = change.effect
        pair = [(effect.old, effect.lost, effect.withdrawn), (effect.new, effect.gained, effect.arrived)]
        for scope in change.scopes:
            for tenant in scope.tenants:
                for capability in scope.capabilities:
                    yield tenant, capability, *(reversed(pair) if mirrored else pair)


def moved(side: tuple[Any, ...]) -> str:
    tenant, capability, *pair = side
    told = [
        (answer, sorted(each for movement in movements for each in movement.candidates), sorted(gone))
        for answer, movements, gone in pair
    ]
    return repr((tenant, capability, told))
