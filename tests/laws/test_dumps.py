"""Every public model survives a dump and a load: by alias, by name, and as JSON."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import BaseModel, TypeAdapter
from tests.unit.model.test_calls import inputs, results

import declaration_strategies
import rule_strategies
import strategies
import whyroute as wr

PUBLIC = [found for name in wr.__all__ if isinstance(found := getattr(wr, name), type) and issubclass(found, BaseModel)]


@st.composite
def metadata(draw: st.DrawFn) -> wr.ProviderMetadata:
    document = draw(strategies.provider_lists(at_most=1).filter(bool))[0]
    more: dict[str, st.SearchStrategy[Any]] = {
        "sampling": st.booleans(),
        "thinking": st.fixed_dictionaries({"mode": st.sampled_from(["adaptive", "always"]), "lowest": st.just("low")}),
        "description": st.text(st.characters(codec="utf-8"), max_size=3),
        "endpoint": st.sampled_from([None, {"port": 1}, "x"]),
    }
    for model in document["models"]:
        model.update(draw(st.fixed_dictionaries({}, optional=more)))
    labels = st.dictionaries(st.sampled_from(["team", "1"]), st.text(st.characters(codec="utf-8"), max_size=3))
    optional: dict[str, st.SearchStrategy[Any]] = {"labels": labels, "source": st.sampled_from([None, "pack"])}
    return wr.ProviderMetadata.model_validate(document | draw(st.fixed_dictionaries({}, optional=optional)))


EVENTS: TypeAdapter[Any] = TypeAdapter(wr.PrepareEvent)
texts = st.text(st.characters(codec="utf-8"), max_size=3)
events = st.one_of(
    st.fixed_dictionaries(
        {"kind": st.just("progress")},
        optional={"message": texts, "ratio": st.floats(0, 1), "loadedBytes": st.integers(0, 9), "file": texts},
    ),
    st.fixed_dictionaries({"kind": st.just("ready")}, optional={"message": texts}),
    st.fixed_dictionaries({"kind": st.just("error"), "message": texts}),
)

WHOLES: Mapping[str, st.SearchStrategy[BaseModel]] = {
    "metadata": metadata(),
    "policy": strategies.policies.map(wr.TenantPolicy.model_validate),
    "declaration": declaration_strategies.declarations.map(wr.Capability.model_validate),
    "call": inputs | results,
    "delta": texts.map(lambda text: wr.ModelCallDelta(content=text)),
    "rule": rule_strategies.rules("r").map(wr.Rule.model_validate),
    "waiver": rule_strategies.waivers(["r"]).map(lambda each: wr.Waiver.model_validate({"name": "w", **each})),
    "event": events.map(EVENTS.validate_python),
    "failure": st.builds(lambda one, other: wr.SetupFailure(provider_id=one, message=other), texts, texts),
}


def parts(value: Any) -> Iterator[BaseModel]:
    """A model and the models within it."""
    if isinstance(value, BaseModel):
        yield value
        for name in type(value).model_fields:
            yield from parts(getattr(value, name))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from parts(item)


def check(value: BaseModel) -> None:
    model = type(value)
    assert model.model_validate(value.model_dump()) == value
    assert model.model_validate(value.model_dump(by_alias=True)) == value
    assert model.model_validate(value.model_dump(mode="json")) == value
    assert model.model_validate_json(value.model_dump_json()) == value
    assert model.model_validate_json(value.model_dump_json(by_alias=True)) == value
    assert model.model_validate(value.to_dict()) == value  # type: ignore[attr-defined]  # all have it, not their base
    assert not [name for name in model.model_fields if value.model_dump().get(name, name) is None]


@pytest.mark.parametrize("whole", WHOLES)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_dumps_read_back(whole: str, data: st.DataObject) -> None:
    for value in parts(data.draw(WHOLES[whole])):
        check(value)


def test_every_public_model_is_drawn() -> None:
    """None is left out of the law above."""
    drawn: set[str] = set()
    once = settings(
        deadline=None, database=None, max_examples=100, suppress_health_check=list(HealthCheck), derandomize=True
    )
    for whole in WHOLES.values():

        @once
        @given(whole)
        def draw(value: BaseModel) -> None:
            drawn.update(type(part).__name__ for part in parts(value))

        draw()
    assert {model.__name__ for model in PUBLIC} - drawn == set()
