"""Constraints of a caller's own: in reasons, cores and explanations as the others are."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

import whyroute as wr
from house_style import broken_rules
from whyroute.render.page import explanation_page
from whyroute.render.prose import explanation_lines


def provider(name: str, **labels: str) -> wr.DeclaredProvider:
    cost = wr.ModelCost(prompt_usd_per_1k_tokens=1, completion_usd_per_1k_tokens=1)
    model = wr.ModelInfo(name="m", context_window=8000, features=["vision"], cost=cost)
    return wr.DeclaredProvider(wr.ProviderMetadata(id=name, region="eu", models=[model], labels=labels))


def says(key: str) -> Any:
    return lambda candidate: {"yes": True, "no": False}.get(candidate.metadata.labels.get(key, ""))


AUDITED = wr.Custom("audited", "audited = yes", says("audited"), "Clients ask for it.")
INSURED = wr.Custom("insured", "insured = yes", says("insured"), "The lender asks for it.")
PROVIDERS = [
    provider("a", audited="no", insured="yes"),
    provider("b", insured="yes"),
    provider("c", audited="yes", insured="no"),
]


@pytest.mark.parametrize("engine", wr.ENGINES)
def test_only_a_certain_yes_passes(engine: wr.EngineName) -> None:
    prepared = wr.prepare({"needs": []}, custom=[AUDITED])
    bound = prepared.bind(PROVIDERS, engine=engine)
    assert bound.route().candidate.key == ("c", "m")
    assert [each.id for each in bound.constraints] == ["kind", "custom/audited"]
    own = bound.constraints[1]
    assert (own.label, own.owner, own.because, len(own)) == ("audited = yes", "caller", "Clients ask for it.", 1)
    assert [own.admits(each) for each in bound.catalog.candidates()] == [False, False, True]
    assert wr.route({"needs": []}, PROVIDERS, custom=[AUDITED], engine=engine).candidate.key == ("c", "m")


def test_it_stands_in_reasons_cores_and_relaxations() -> None:
    rule = {"name": "r", "because": "It is.", "forbid": {"provider": "nobody"}}
    bound = wr.prepare(
        {"needs": [{"feature": "vision"}]},
        {"tenantId": "t", "regionAllow": ["eu"]},
        rules=[rule],
        custom=[AUDITED, INSURED],
    ).bind(PROVIDERS)
    assert [each.id for each in bound.constraints] == [
        *("kind", "needs/0", "custom/audited", "custom/insured", "policy/regionAllow", "rules/r"),
    ]
    with pytest.raises(wr.CapabilityUnsatisfiableError) as caught:
        bound.route()
    error, explanation = caught.value, caught.value.explanation
    assert [reason.requirement for reason in error.reasons] == ["audited = yes", "insured = yes"]
    rejected = error.reasons[0].rejecting_providers
    assert [(each.id, each.reason.code, each.reason.details) for each in rejected] == [
        ("a/m", "custom-violated", {"id": "audited", "because": "Clients ask for it.", "observed": False}),
        ("b/m", "custom-violated", {"id": "audited", "because": "Clients ask for it.", "observed": None}),
    ]
    assert [each.reason.message for each in rejected] == [
        "`audited = yes` (Clients ask for it): it does not hold",
        "`audited = yes` (Clients ask for it): it is not known whether it holds",
    ]
    assert [broken_rules(each.reason.message) for each in rejected] == [[], []]
    assert [[each.id for each in core] for core in explanation.cores] == [["custom/audited", "custom/insured"]]
    assert [(each.id) for (each,) in explanation.corrections] == ["custom/audited", "custom/insured"]
    assert {each.text for each in explanation.relaxations} == {
        "do without `audited = yes` (custom/audited)",
        "do without `insured = yes` (custom/insured)",
    }
    assert {each.patch[0]["path"] for each in explanation.relaxations} == {"/custom/0", "/custom/1"}
    assert all(each.offered for each in explanation.relaxations)
    assert [(each.candidate.key, each.field) for each in explanation.unknowns] == [(("b", "m"), "custom/audited")]
    assert explanation.to_dict()["constraints"][2]["because"] == "Clients ask for it."
    text = "\n".join(map(str, explanation_lines(explanation)))
    assert "do without `audited = yes` (custom/audited)" in text
    assert "audited = yes" in "".join(explanation_page(explanation))
    assert explanation.user_message


def test_contrast_names_it() -> None:
    explanation = wr.explain({"needs": []}, PROVIDERS, custom=[AUDITED], why_not=("a", "m"))
    assert explanation.contrast is not None
    assert [each[0].id for each in explanation.contrast.failed] == ["custom/audited"]


@given(st.lists(st.sampled_from(["yes", "no", ""]), min_size=1, max_size=6))
def test_it_admits_what_the_function_says(values: list[str]) -> None:
    providers = [provider(f"p{at}", audited=value) for at, value in enumerate(values)]
    matched = {f"p{at}" for at, value in enumerate(values) if value == "yes"}
    explanation = wr.explain({"needs": []}, providers, custom=[AUDITED])
    assert explanation.satisfiable is bool(matched)
    if matched:
        found = wr.match({"needs": []}, providers, custom=[AUDITED])
        assert {each.metadata.id for each in found} == matched


@pytest.mark.parametrize(
    ("custom", "path"),
    [
        (AUDITED, "/custom"),
        ("audited", "/custom"),
        (None, "/custom"),
        ([AUDITED, {"id": "x"}], "/custom/1"),
        ([AUDITED, wr.Custom("audited", "x", bool, "y")], "/custom/1/id"),
    ],
)
def test_broken_lists_are_refused(custom: Any, path: str) -> None:
    with pytest.raises(wr.InvalidRequestError) as caught:
        wr.prepare({"needs": []}, custom=custom)
    assert [issue.path for issue in caught.value.issues] == [path]


def test_bundles_take_none() -> None:
    slots: dict[str, Any] = {"x": {"needs": []}, "y": {"needs": []}}
    with pytest.raises(wr.InvalidRequestError, match="custom constraints are for one capability"):
        wr.route_bundle(slots, PROVIDERS, custom=[AUDITED])


@pytest.mark.parametrize(
    "given", [("", "l", bool, "b"), ("i", 1, bool, "b"), ("i", "l", None, "b"), ("i", "l", bool, "")]
)
def test_broken_constraints_are_refused(given: Any) -> None:
    with pytest.raises(TypeError):
        wr.Custom(*given)


def test_non_truth_value_answer_is_an_error() -> None:
    broken = wr.Custom("odd", "odd", lambda candidate: 1, "It is odd.")  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="`custom/odd` says `1`, a number; True, False or None is expected"):
        wr.prepare({"needs": []}, custom=[broken]).bind(PROVIDERS)


def certain(candidate: wr.Candidate) -> bool:
    return candidate.metadata.id == "a"


def test_functions_of_a_module_travel() -> None:
    decision = wr.route({"needs": []}, PROVIDERS, custom=[wr.Custom("a", "is a", certain, "It is.")])
    for again in (copy.deepcopy(decision), pickle.loads(pickle.dumps(decision))):
        assert again.candidate.key == ("a", "m")
