"""Adapters of the service: a check of a registration is told what the factory gets."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.unit.providers.test_adapters import AWS, AZURE, BOTH

from serverkit import make_kit, registration
from whyroute import DeclaredProvider, ModelProvider
from whyroute.providers.adapters import (
    AdapterConfigCheckInput,
    AdapterConfigProblem,
    AdapterFactoryEntry,
    AdapterFactoryInput,
    AdapterFactoryRegistry,
    AdapterIdentities,
)


class Told:
    """An adapter that notes what its check and its factory are told."""

    def __init__(self) -> None:
        self.checked: list[AdapterConfigCheckInput] = []
        self.built: list[AdapterFactoryInput] = []
        self.entry = AdapterFactoryEntry(
            adapter_id="some-adapter", capability_kind="llm-inference", factory=self.build, check_config=self.check
        )

    def check(self, given: AdapterConfigCheckInput) -> Sequence[AdapterConfigProblem]:
        self.checked.append(given)
        return ()

    def build(self, given: AdapterFactoryInput) -> ModelProvider:
        self.built.append(given)
        return DeclaredProvider(given.metadata)


@pytest.mark.parametrize(
    ("options", "present"),
    [
        ({}, None),
        ({"identities": AdapterIdentities()}, (False, False)),
        ({"identities": AdapterIdentities(azure=AZURE)}, (True, False)),
        ({"identities": AdapterIdentities(aws=AWS)}, (False, True)),
        ({"identities": BOTH}, (True, True)),
        ({"identities": BOTH, "server_credentials": False}, (False, False)),
    ],
    ids=["none", "empty", "azure", "aws", "both", "withheld"],
)
@pytest.mark.parametrize("shared", [False, True], ids=["own", "of another registry"])
def test_checks_are_told_what_factories_get(
    tmp_path: Path, options: dict[str, Any], present: tuple[bool, bool] | None, shared: bool
) -> None:
    told = Told()
    adapters = AdapterFactoryRegistry([told.entry], **options)
    if shared:
        adapters = AdapterFactoryRegistry(adapters.list())
    kit = make_kit(tmp_path, adapters=adapters)
    assert kit.post("/v1/providers", registration("p")).status == 201
    assert kit.get("/v1/providers").status == 200
    (checked,), (built,) = told.checked, told.built
    if present is None:  # the factory may have identities of its own
        assert checked == replace(built.for_check(), identities=None)
    else:
        assert checked == built.for_check()
        assert checked.identities is not None
        assert (checked.identities.azure, checked.identities.aws) == present


@pytest.mark.parametrize("options", [{"identities": BOTH}, {}], ids=["the registry's", "the factory's"])
def test_identities_count_whatever_wraps_a_factory(tmp_path: Path, options: dict[str, Any]) -> None:
    def check(given: AdapterConfigCheckInput) -> Sequence[AdapterConfigProblem]:
        if given.identities is not None and not given.identities.azure:
            return [AdapterConfigProblem("/adapter_config/auth", "adapter_config.auth needs an Azure identity.")]
        return ()

    entry = AdapterFactoryEntry(
        adapter_id="some-adapter",
        capability_kind="llm-inference",
        factory=lambda given: DeclaredProvider(given.metadata),
        check_config=check,
    )
    bound = AdapterFactoryRegistry([entry], **options).list()[0]
    wrapped = replace(bound, factory=partial(bound.factory))
    kit = make_kit(tmp_path, adapters=AdapterFactoryRegistry([wrapped]))
    assert kit.post("/v1/providers", registration("p")).status == 201
