"""Rules and waivers: what policy authors write, and what is wrong with it."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

from ..basics.issues import Issue, child, did_you_mean, quoted, shown
from ..basics.numbers import as_double
from ..documents.fields import Number, OrAbsent, WireModel
from ..documents.phrases import found, in_backticks, in_document_order, missing, missing_keys, unknown_key, wrong
from .condition import Condition, Grammatical, When, of_checked
from .condition_grammar import FIELDS, condition_issues, when_issues
from .timestamps import MOMENT_PATTERN, is_within, moment_issues, read_moment

__all__ = [
    "EFFECTS",
    "ORDERED_FIELDS",
    "Effect",
    "Order",
    "Rule",
    "Waiver",
    "rule_issues",
    "rules_issues",
    "waiver_issues",
    "waivers_issues",
]

Effect = Literal["require", "forbid", "prefer"]
EFFECTS: Final[tuple[Effect, ...]] = ("require", "forbid", "prefer")
"""What a rule does; it does exactly one of these."""

ORDERED_FIELDS: Final = tuple(name for name, kind in FIELDS.items() if kind == "number")
"""The fields that `lowest` and `highest` can order by."""

_ORDERS = ("lowest", "highest")
_MODES = ("enforce", "shadow")
_TIME = "a date, which covers its whole UTC day, or a date and time with its zone"


class Order(WireModel):
    """A preference for low or high values of a field: it orders candidates of equal score, unknown values last."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        json_schema_extra={"oneOf": [{"required": [order]} for order in ("lowest", "highest")]}
    )

    lowest: OrAbsent[str] = Field(
        default=None,
        description="of equal scores the lowest comes first, the unknown last",
        json_schema_extra={"enum": list(ORDERED_FIELDS)},
    )
    highest: OrAbsent[str] = Field(
        default=None,
        description="of equal scores the highest comes first, the unknown last",
        json_schema_extra={"enum": list(ORDERED_FIELDS)},
    )

    @property
    def field(self) -> str:
        """The field that it orders by."""
        return self.lowest or self.highest or ""


class Rule(Grammatical):
    """A named condition that candidates must meet, must not meet, or had better meet.

    Raises:
        ValidationError: It breaks the grammar; all its issues, in document order.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        json_schema_extra={
            "oneOf": [{"required": [effect]} for effect in EFFECTS],
            "if": {
                "required": ["prefer"],
                "properties": {
                    "prefer": {"not": {"anyOf": [{"required": [order]} for order in ("lowest", "highest")]}}
                },
            },
            "then": {"required": ["weight"]},
            "else": {"properties": {"weight": False}},
        }
    )

    name: str = Field(description="unique; its constraint is `rules/<name>`", min_length=1)
    because: str = Field(description="why there is this rule: what a rejected caller reads", min_length=1)
    owner: OrAbsent[str] = Field(default=None, description="the contact for questions about it", min_length=1)
    when: OrAbsent[When] = Field(
        default=None,
        description="the requests that it applies to; where that is unknown, `require` and `forbid` apply, "
        "`prefer` does not",
    )
    require: OrAbsent[Condition] = Field(default=None, description="admits only candidates that certainly meet this")
    forbid: OrAbsent[Condition] = Field(
        default=None, description="admits only candidates that certainly do not meet this"
    )
    prefer: OrAbsent[Order | Condition] = Field(
        default=None,
        description="candidates that certainly meet this gain `weight`; `lowest` or `highest` orders equal scores",
    )
    weight: OrAbsent[Number] = Field(default=None, description="what a preference adds to the score")
    waivable: bool = Field(default=False, description="whether a waiver may lift it")
    from_: OrAbsent[str] = Field(
        default=None,
        alias="from",
        description=f"when it starts: {_TIME}",
        json_schema_extra={"pattern": MOMENT_PATTERN},
    )
    until: OrAbsent[str] = Field(
        default=None,
        description=f"when it ends: {_TIME}; a date is the last day",
        json_schema_extra={"pattern": MOMENT_PATTERN},
    )
    mode: Literal["enforce", "shadow"] = Field(
        default="enforce",
        description="shadow: it rejects no candidate, and the answer says what enforcing it would give",
    )

    @classmethod
    def issues_in(cls, document: Any, path: str = "") -> list[Issue]:
        return rule_issues(document, path)

    @property
    def effect(self) -> Effect:
        """Which of `require`, `forbid` and `prefer` it has."""
        return "require" if self.require is not None else "forbid" if self.forbid is not None else "prefer"

    @property
    def condition(self) -> Condition | None:
        """Its condition; None when it orders by a field."""
        given = self.require or self.forbid or self.prefer
        return given if isinstance(given, Condition) else None

    @property
    def order(self) -> Order | None:
        """What it orders by; None when it has a condition."""
        return self.prefer if isinstance(self.prefer, Order) else None

    @property
    def shadow(self) -> bool:
        """Whether it is only tried out."""
        return self.mode == "shadow"

    def is_in_force(self, at: str) -> bool:
        """Whether a time, as on the wire, is between its `from` and its `until`."""
        return _within(at, self.from_, self.until)


class Waiver(Grammatical):
    """The exception from a rule that a tenant has for some candidates, for a time.

    Raises:
        ValidationError: It breaks the grammar; all its issues, in document order.
    """

    name: str = Field(description="unique among the waivers", min_length=1)
    rule: str = Field(description="the name of a waivable rule", min_length=1)
    tenant: str = Field(description="the tenant that has it")
    admits: Condition = Field(description="the rule is lifted for candidates that certainly meet this")
    because: str = Field(description="why it was given", min_length=1)
    owner: OrAbsent[str] = Field(default=None, description="who answers for it", min_length=1)
    until: OrAbsent[str] = Field(
        default=None,
        description=f"when it ends: {_TIME}; a date is the last day",
        json_schema_extra={"pattern": MOMENT_PATTERN},
    )

    @classmethod
    def issues_in(cls, document: Any, path: str = "") -> list[Issue]:
        return waiver_issues(document, path)

    def is_in_force(self, at: str) -> bool:
        """Whether it has not ended at a time, as on the wire."""
        return _within(at, None, self.until)


def _within(at: str, since: str | None, until: str | None) -> bool:
    if since is None and until is None:
        return True
    start, end = (None if each is None else read_moment(each) for each in (since, until))
    return is_within(read_moment(at), start, end)


def rules_of(document: Sequence[Any]) -> tuple[Rule, ...]:
    """The rules of a document without issues."""
    return tuple(of_checked(Rule, each) for each in document)


def waivers_of(document: Sequence[Any]) -> tuple[Waiver, ...]:
    """The waivers of a document without issues."""
    return tuple(of_checked(Waiver, each) for each in document)


def rules_issues(document: Any, path: str = "", *, conditions: Collection[str] | None = None) -> list[Issue]:
    """What is wrong with a list of rules, as plain JSON; the arguments are those of `rule_issues`."""
    return _list_issues(document, path, "rules", lambda rule, at: rule_issues(rule, at, conditions=conditions))


def waivers_issues(
    document: Any,
    path: str = "",
    *,
    rules: Mapping[str, bool] | None = None,
    conditions: Collection[str] | None = None,
) -> list[Issue]:
    """What is wrong with a list of waivers, as plain JSON; the arguments are those of `waiver_issues`."""
    return _list_issues(
        document, path, "waivers", lambda waiver, at: waiver_issues(waiver, at, rules=rules, conditions=conditions)
    )


def _list_issues(document: Any, path: str, what: str, issues_of: Callable[[Any, str], list[Issue]]) -> list[Issue]:
    if not isinstance(document, list):
        return [wrong(path, document, f"{what} are a list")]
    issues = [issue for index, each in enumerate(document) for issue in issues_of(each, child(path, index))]
    return in_document_order([*issues, *_twice(document, path)], document, path)


def _twice(document: Sequence[Any], path: str) -> list[Issue]:
    issues: list[Issue] = []
    seen: dict[str, int] = {}
    for index, each in enumerate(document):
        name = each.get("name") if isinstance(each, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            message = f"{shown(name)} is the name of {child(path, seen[name])} too; names are unique"
            issues.append(Issue(child(path, index, "name"), message))
        else:
            seen[name] = index
    return issues


_RULE_KEYS = tuple(field.alias or name for name, field in Rule.model_fields.items())
_WAIVER_KEYS = tuple(field.alias or name for name, field in Waiver.model_fields.items())


def rule_issues(
    document: Any,
    path: str = "",
    *,
    conditions: Collection[str] | None = None,
    labels: Mapping[str, Collection[str]] | None = None,
) -> list[Issue]:
    """What is wrong with one rule, as plain JSON.

    Args:
        document: The rule.
        path: JSON pointer of the rule.
        conditions: The named conditions that `is` may refer to; None: any.
        labels: The label keys that a request may have, each with its values; None: any.
    """
    if not isinstance(document, dict):
        return [wrong(path, document, f"a rule is an object with {quoted(('name', 'because', *EFFECTS))}")]
    issues = _keys(document, path, _RULE_KEYS, ("name", "because"))
    issues += _texts(document, path, ("name", "because", "owner"))
    if "when" in document:
        issues += when_issues(document["when"], child(path, "when"), labels=labels)
    issues += _effect_issues(document, path, conditions)
    if "waivable" in document:
        issues += _waivable_issues(document, child(path, "waivable"))
    issues += _period_issues(document, path)
    if "mode" in document and document["mode"] not in _MODES:
        mode = document["mode"]
        near = did_you_mean(mode, _MODES) if isinstance(mode, str) else ""
        hint = near or f"; a mode is {in_backticks(_MODES, 'or')}"
        issues.append(Issue(child(path, "mode"), f"{found(mode)}{hint}", Issue.VALUE, value=mode))
    return in_document_order(issues, document, path)


def waiver_issues(
    document: Any,
    path: str = "",
    *,
    rules: Mapping[str, bool] | None = None,
    conditions: Collection[str] | None = None,
) -> list[Issue]:
    """What is wrong with one waiver, as plain JSON.

    Args:
        document: The waiver.
        path: JSON pointer of the waiver.
        rules: The names of the rules that there are, each with whether it is waivable; None: they are not known yet.
        conditions: The named conditions that `is` may refer to; None: any.
    """
    required = ("name", "rule", "tenant", "admits", "because")
    if not isinstance(document, dict):
        return [wrong(path, document, f"a waiver is an object with {quoted(required)}")]
    issues = _keys(document, path, _WAIVER_KEYS, required)
    issues += _texts(document, path, ("name", "rule", "tenant", "because", "owner"))
    if "admits" in document:
        issues += condition_issues(document["admits"], child(path, "admits"), conditions=conditions)
    issues += _period_issues(document, path)
    rule = document.get("rule")
    if rules is not None and isinstance(rule, str) and rule:
        at = child(path, "rule")
        if rule not in rules:
            near = did_you_mean(rule, rules) or (f"; the rules are {quoted(rules)}" if rules else "; there are none")
            issues.append(Issue(at, f"{shown(rule)} is no rule here{near}"))
        elif not rules[rule]:
            issues.append(Issue(at, f"rule {shown(rule)} is not waivable; its owner can write `waivable: true`"))
    return in_document_order(issues, document, path)


def _keys(document: Mapping[str, Any], path: str, known: Collection[str], required: Collection[str]) -> list[Issue]:
    issues = [missing(path, key) for key in missing_keys(required, known, document)]
    issues += [unknown_key(child(path, key), key, known, document) for key in document if key not in known]
    return issues


def _texts(document: Mapping[str, Any], path: str, keys: Collection[str]) -> list[Issue]:
    issues: list[Issue] = []
    for key in keys:
        value = document.get(key, key)
        if not isinstance(value, str) or not value:
            quotes = "; put it in quotes" if isinstance(value, bool | int | float) else ""
            issues.append(wrong(child(path, key), value, f"a non-empty string is expected{quotes}"))
    return issues


def _effect_issues(document: Mapping[str, Any], path: str, conditions: Collection[str] | None) -> list[Issue]:
    effects = [effect for effect in EFFECTS if effect in document]
    issues: list[Issue] = []
    if len(effects) > 1:
        message = f"{in_backticks(effects, 'and')} in one rule; it has exactly one of them: split it"
        issues.append(Issue(child(path, effects[1]), message))
    elif not effects and not any(did_you_mean(key, EFFECTS) for key in document if key not in _RULE_KEYS):
        issues.append(Issue(path, f"none of {in_backticks(EFFECTS, 'or')}; a rule has exactly one of them"))
    for effect in ("require", "forbid"):
        if effect in document:
            issues += condition_issues(
                document[effect], child(path, effect), under_negation=effect == "forbid", conditions=conditions
            )
    if "prefer" in document:
        issues += _prefer_issues(document, path, conditions)
    elif "weight" in document and effects:
        message = f"`weight` goes with `prefer`, not with {in_backticks(effects, 'and')}"
        issues.append(Issue(child(path, "weight"), message, Issue.KEY))
    return issues


def _prefer_issues(document: Mapping[str, Any], path: str, conditions: Collection[str] | None) -> list[Issue]:
    preferred, at = document["prefer"], child(path, "prefer")
    orders = [key for key in _ORDERS if isinstance(preferred, dict) and key in preferred]
    if not orders:
        issues = condition_issues(preferred, at, conditions=conditions)
        if "weight" not in document:
            issues.append(missing(path, "weight", "; it is what a candidate gains that meets `prefer`"))
        return issues + _weight_issues(document, path)
    issues = []
    if len(preferred) > 1:
        names = in_backticks(preferred, "and")
        message = f"{names} side by side; `lowest` or `highest` stands alone, one a rule"
        issues.append(Issue(at, message))
    for key in orders:
        field = preferred[key]
        if not isinstance(field, str) or field not in ORDERED_FIELDS:
            near = did_you_mean(field, ORDERED_FIELDS) if isinstance(field, str) else ""
            listed = f"; the fields that order are {quoted(ORDERED_FIELDS)}"
            told = shown(field) if near else found(field)
            issues.append(Issue(child(at, key), f"{told}{near or listed}", Issue.VALUE, value=field))
    if "weight" in document:
        message = f"{shown(orders[0])} takes no weight: it orders candidates of equal score"
        issues.append(Issue(child(path, "weight"), message))
    return issues


def _weight_issues(document: Mapping[str, Any], path: str) -> list[Issue]:
    if "weight" not in document:
        return []
    weight = document["weight"]
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        return [wrong(child(path, "weight"), weight, "a number is expected", wants="number")]
    if not math.isfinite(as_double(weight)):
        return [
            Issue(child(path, "weight"), f"{shown(weight)}; a finite number is expected", Issue.VALUE, value=weight)
        ]
    return []


def _waivable_issues(document: Mapping[str, Any], path: str) -> list[Issue]:
    if not isinstance(document["waivable"], bool):
        return [wrong(path, document["waivable"], "true or false is expected", wants="boolean")]
    if document["waivable"] and "prefer" in document:
        return [Issue(path, "a preference rejects no candidate, so that there is nothing to waive")]
    return []


def _period_issues(document: Mapping[str, Any], path: str) -> list[Issue]:
    given = [key for key in ("from", "until") if key in document]
    issues = [issue for key in given for issue in moment_issues(document[key], child(path, key))]
    if not issues and "from" in document and "until" in document:
        start, end = read_moment(document["from"]), read_moment(document["until"])
        if end.end <= start.start:
            message = f"{shown(document['until'])} is before `from`, {shown(document['from'])}: it would never apply"
            issues.append(Issue(child(path, "until"), message))
    return issues
