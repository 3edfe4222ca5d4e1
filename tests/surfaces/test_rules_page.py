"""The reference of the rule language has every field and matcher, and each of its examples is a pack that loads."""

import re
from pathlib import Path

import pytest

from paths import ROOT
from whyroute.model.condition_grammar import FIELDS, REQUEST_FIELDS, NumberMatcher, TextMatcher
from whyroute.model.rule import Rule
from whyroute.packs import load_pack

PAGE = (ROOT / "docs" / "rules.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CELLS = set(re.findall(r"`([\w.<>]+)`", "\n".join(re.findall(r"^\| [^|]*\|", PAGE, re.MULTILINE))))

MODELS = "contextWindow: 9000, features: [], cost: {promptUsdPer1kTokens: 1, completionUsdPer1kTokens: 1}"
BASE = f"""\
whyroute: 1
providers:
  - {{id: north, region: eu-central-1, models: [{{name: birch, {MODELS}}}]}}
  - {{id: atlantic, region: us-east-1, models: [{{name: gull, {MODELS}}}]}}
tenants: [{{tenantId: clinic}}]
"""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.strip().splitlines()[1].strip())
def test_each_example_loads_as_a_pack_file(example: str, tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE, "utf-8")
    (tmp_path / "example.yaml").write_text(f"whyroute: 1\n{example}", "utf-8")
    pack = load_pack(tmp_path)
    assert pack.rules or pack.capabilities


def test_tables_have_every_field() -> None:
    assert {*FIELDS, "labels.<key>"} <= CELLS
    assert {name for name in REQUEST_FIELDS if name != "labels"} <= CELLS


def test_tables_have_every_matcher_and_rule_key() -> None:
    matchers = {
        field.alias or name for model in (TextMatcher, NumberMatcher) for name, field in model.model_fields.items()
    }
    keys = {field.alias or name for name, field in Rule.model_fields.items()}
    assert matchers | keys <= CELLS, (matchers | keys) - CELLS
