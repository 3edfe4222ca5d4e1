"""Requests for bundles: what is wrong with their slots and ties, and their parts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ..basics.issues import Issue, child, did_you_mean, quoted, shown
from ..documents.json_text import plain
from ..documents.phrases import missing_keys, unknown_key, wrong
from ..errors import InvalidCapabilityError
from ..model.capability import Capability, read_capability
from ..model.request_facts import label_issues, token_issues
from ..solving.joint import Slot
from ..solving.situation import Situation
from ..solving.ties import Tie, read_tie, tie_issues

__all__ = [
    "SLOT_KEYS",
    "read_slots",
    "read_together",
    "slot_issues",
    "slots_shape_issues",
    "together_issues",
    "why_not_issues",
]

SLOT_KEYS: Final = ("capability", "preferredProvider", "preferredModel", "capabilityName", "labels", "tokens")
"""The keys of a slot. The last three say what the request says under these names, for this slot alone."""

_TEXTS: Final = ("preferredProvider", "preferredModel", "capabilityName")


def slots_shape_issues(value: Any, path: str) -> list[Issue]:
    """What is wrong with the slots as a whole."""
    if not isinstance(value, Mapping):
        return [wrong(path, value, "`slots` is an object of slots by their names")]
    if not value:
        return [Issue(path, "an empty object; a bundle has at least one slot")]
    issues: list[Issue] = []
    for name in value:
        if not isinstance(name, str):
            issues += plain({name: None}, path)[1]
        elif not name:
            issues.append(Issue(child(path, name), "an empty name; a slot has a name"))
    return issues


def slot_issues(slot: Any, path: str, *, named: bool = False) -> list[Issue]:
    """What is wrong with one slot, but for its declaration, which `read_capability` checks.

    Args:
        slot: The slot.
        path: JSON pointer of it.
        named: Whether its capability may be a name.
    """
    if not isinstance(slot, Mapping):
        return [wrong(path, slot, "a slot is an object with `capability`")]
    issues: list[Issue] = []
    for key, value in slot.items():
        if not isinstance(key, str):
            issues += plain({key: None}, path)[1]
        elif key not in SLOT_KEYS:
            issues.append(unknown_key(child(path, key), key, SLOT_KEYS, slot))
        elif key in _TEXTS and not isinstance(value, str):
            issues.append(wrong(child(path, key), value, "a string is expected", wants="string"))
        elif key == "labels":
            issues += label_issues(value, child(path, key))
        elif key == "tokens":
            issues += token_issues(value, child(path, key))
    if missing_keys(["capability"], SLOT_KEYS, [key for key in slot if isinstance(key, str)]):
        what = "a declaration or a name" if named else "a declaration"
        issues.append(Issue(child(path, "capability"), f"missing; a slot has {what} under `capability`"))
    return issues


def together_issues(value: Any, path: str, slots: Any) -> list[Issue]:
    """What is wrong with the ties, beside slots that may be broken themselves."""
    if not isinstance(value, list | tuple):
        return [wrong(path, value, "`together` is a list of ties such as {same: region}")]
    names = [name for name in slots if isinstance(name, str)] if isinstance(slots, Mapping) else None
    return [issue for index, tie in enumerate(value) for issue in tie_issues(tie, child(path, index), names)]


def why_not_issues(value: Any, path: str, slots: Any) -> list[Issue]:
    """What is wrong with the candidates that are asked about."""
    if not isinstance(value, Mapping) or not value:
        return [wrong(path, value, "`whyNot` is an object of candidates by the names of their slots")]
    issues: list[Issue] = []
    known = [name for name in slots if isinstance(name, str)] if isinstance(slots, Mapping) else None
    for name, candidate in value.items():
        at = child(path, name)
        if known is not None and name not in known:
            near = did_you_mean(name, known) or f"; the slots are {quoted(known)}"
            issues.append(Issue(at, f"{shown(name)} is no slot of the bundle{near}"))
        keys = candidate.keys() if isinstance(candidate, Mapping) else ()
        if set(keys) != {"provider", "model"} or not all(isinstance(each, str) for each in candidate.values()):
            issues.append(wrong(at, candidate, "a candidate is {provider, model}, two strings"))
    return issues


def read_slots(
    slots: Mapping[str, Mapping[str, Any]], situation: Situation | None, path: str = "/slots"
) -> tuple[list[Slot], list[InvalidCapabilityError]]:
    """The slots of a document whose shape is fine, and what is wrong with their declarations.

    Args:
        slots: The slots, in the order in which they are written.
        situation: The rules of the request, and what they depend on.
        path: JSON pointer of the slots.
    """
    read: list[Slot] = []
    errors: list[InvalidCapabilityError] = []
    own: dict[Any, Situation] = {}
    for name, slot in slots.items():
        try:
            capability: Capability = read_capability(slot["capability"], child(path, name, "capability"))
        except InvalidCapabilityError as error:
            errors.append(error)
            continue
        key = (
            slot.get("capabilityName"),
            tuple(sorted(slot["labels"].items())) if "labels" in slot else None,
            tuple(sorted(slot["tokens"].items())) if "tokens" in slot else None,
        )
        around = situation
        if situation is not None and key != (None, None, None):
            if key not in own:
                own[key] = _in_slot(situation, slot)
            around = own[key]
        read.append(Slot(name, capability, slot.get("preferredProvider"), slot.get("preferredModel"), around))
    return read, errors


def _in_slot(situation: Situation, slot: Mapping[str, Any]) -> Situation:
    """The situation of a slot that has a name, labels or tokens of its own."""
    from ..constraints.three_valued import Call  # noqa: PLC0415 (takes long to load, and most requests have no rules)

    context = situation.context
    if "tokens" in slot:
        context = replace(context, call=Call.of(slot["tokens"]["prompt"], slot["tokens"]["completion"]))
    return replace(
        situation,
        context=context,
        labels={**situation.labels, **slot.get("labels", {})},
        capability=slot.get("capabilityName", situation.capability),
    )


def read_together(ties: Any, slots: Mapping[str, Any]) -> tuple[Tie, ...]:
    """The ties of a document without issues."""
    return tuple(read_tie(tie, tuple(slots)) for tie in ties)
