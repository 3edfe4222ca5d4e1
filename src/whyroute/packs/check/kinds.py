"""What `whyroute check` may find: every kind of finding, with its code, its name and its level."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["KINDS", "Kind", "Level", "kind_named"]

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding. Codes and names are never given to another kind.

    Attributes:
        code: A short code: `WR1..` loosens a policy or breaks the pack, `WR2..` is likely a mistake, `WR3..` is about
            the comments that silence findings.
        name: Its name in a few words; its page is `docs/checks/<name>.md`.
        level: How bad it is.
        summary: What it is, in lower case, without a final period.
    """

    code: str
    name: str
    level: Level
    summary: str

    @property
    def page(self) -> str:
        """Its page, from the root of the project."""
        return f"docs/checks/{self.name}.md"


_ALL: Final = (
    Kind("WR101", "invalid-pack", "error", "the pack can't be loaded"),
    Kind("WR102", "unmatched-negative", "error", "a forbidden, denied or excluded name or glob matches nothing"),
    Kind("WR103", "case-missed-glob", "error", "a glob forbids or excludes less than it would if case didn't count"),
    Kind("WR104", "impossible-condition", "error", "a condition holds for no candidate or request that there could be"),
    Kind("WR105", "expired-waiver", "error", "a waiver has ended"),
    Kind("WR106", "deceptive-text", "error", "the text of a file reads otherwise than it is"),
    Kind("WR107", "unknown-kind", "error", "a `when` names a kind that nothing has"),
    Kind("WR201", "unmatched-name", "warning", "a name is required, allowed or preferred that nothing has"),
    Kind("WR202", "allow-deny-overlap", "warning", "a name is both allowed and denied"),
    Kind("WR203", "empty-allow", "warning", "a list allows nothing, by itself or with those it is combined with"),
    Kind("WR204", "ambiguous-model", "warning", "a model name is approved that several providers have"),
    Kind("WR205", "model-region-mismatch", "warning", "a model's name says another region than its provider does"),
    Kind("WR206", "idle-cap", "warning", "a cap rejects no candidate"),
    Kind("WR207", "unused-rule", "warning", "a rule holds for no tenant"),
    Kind("WR208", "idle-rule", "warning", "a rule rejects no candidate"),
    Kind("WR209", "blanket-rule", "warning", "a rule rejects everybody"),
    Kind("WR210", "redundant-rule", "warning", "a rule rejects no candidate that other rules don't reject"),
    Kind("WR211", "unroutable-tenant", "warning", "a tenant can be served none of the pack's capabilities"),
    Kind("WR212", "price-per-million", "warning", "a price for 1,000 tokens looks like one for a million"),
    Kind("WR213", "output-above-context", "warning", "a model's longest answer is longer than its context window"),
    Kind("WR214", "rejected-unknown", "warning", "a rule rejects candidates only because a fact about them is unknown"),
    Kind("WR215", "expiring-waiver", "warning", "a waiver ends within 30 days"),
    Kind("WR216", "untested-rule", "warning", "a rule applies in no test"),
    Kind("WR217", "untested-tenant", "warning", "a tenant is in no test"),
    Kind("WR218", "endless-waiver", "warning", "a waiver says no end"),
    Kind("WR219", "idle-preference", "warning", "a rule prefers no candidate"),
    Kind("WR220", "unused-condition", "warning", "a named condition is used by nothing"),
    Kind("WR221", "uncertain-when", "warning", "a rule applies only to requests for which its `when` is unknown"),
    Kind(
        "WR301", "broken-ignore", "warning", "a comment that is to silence a finding can't be read, or gives no reason"
    ),
    Kind("WR302", "unused-ignore", "warning", "a comment silences nothing"),
)

KINDS: Final[Mapping[str, Kind]] = MappingProxyType({kind.name: kind for kind in _ALL})
"""All kinds, by name, in the order of their codes."""

_BY_CODE: Final = {kind.code: kind for kind in _ALL}


def kind_named(text: str) -> Kind | None:
    """The kind of a name or a code; None when there is none."""
    return KINDS.get(text) or _BY_CODE.get(text)
