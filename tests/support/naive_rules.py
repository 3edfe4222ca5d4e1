"""A naive router with rules, written from the formats alone: the oracle of the real one.

Wire requests in, plain dictionaries out; one candidate after the other, no index, nothing of whyroute imported.
"""

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Any

import naive
from naive import Model, Provider, Reason, exact

Json = dict[str, Any]
Value = bool | None
SETS = ("feature", "attribute")


def answer(request: Json) -> Json:
    """As `naive.answer`, with rules; and `shadow` where a rule in shadow mode is in force."""
    everyone = [(provider, model) for provider in request["providers"] for model in provider["models"]]
    rules = [rule for rule in request.get("rules", []) if in_force(rule, request)]
    live = [rule for rule in rules if rule.get("mode") != "shadow"]
    checks = constraints(request, live)
    matched = [pair for pair in everyone if all(check(*pair) is None for _, check in checks)]
    found: Json = {"matched": [naive.named(pair) for pair in matched]}
    if matched:
        found["decision"] = decide(request, matched, live)
    else:
        found["error"] = naive.fail(request, everyone, checks)
    if len(live) < len(rules):
        enforced = [pair for pair in everyone if all(check(*pair) is None for _, check in constraints(request, rules))]
        found["shadow"] = {"pick": decide(request, enforced, rules)["pick"]} if enforced else {"unsatisfiable": True}
    return found


def constraints(request: Json, rules: list[Json]) -> list[tuple[str, naive.Check]]:
    """The constraints with the labels: kind, needs, clauses, then the rules."""
    policy = request.get("tenantPolicy")
    found = naive.constraints(request["capability"], policy)
    for index, (label, check) in enumerate(found):
        if label.startswith(("region=", "tenant.regionAllow[")):
            found[index] = label, over_groups(check, request)
    return found + [(f"rule:{rule['name']}", rule_check(rule, request)) for rule in rules if "prefer" not in rule]


def over_groups(check: naive.Check, request: Json) -> naive.Check:
    """A check of regions that a provider passes as well under the name of any group that its region is in."""

    def passes(provider: Provider, model: Model) -> Reason | None:
        region = provider["region"]
        groups = [group for group in request.get("regions", {}) if region in members(group, request)]
        outcomes = [check({**provider, "region": name}, model) for name in (region, *groups)]
        return None if None in outcomes else outcomes[0]

    return passes


def members(name: str, request: Json) -> set[str]:
    """A region, and what it means where it is a group."""
    found = {name}
    for member in request.get("regions", {}).get(name, []):
        found |= members(member, request)
    return found


def in_force(rule: Json, request: Json) -> bool:
    at = instant(request["at"])
    if "from" in rule and at < instant(rule["from"]):
        return False
    if "until" in rule and at >= ending(rule["until"]):
        return False
    if "when" not in rule:
        return True
    value = asked(rule["when"], request)
    return value is True or (value is None and "prefer" not in rule)


def instant(text: str) -> datetime:
    if len(text) == 10:
        return datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
    return datetime.fromisoformat(text.upper())


def ending(text: str) -> datetime:
    return instant(text) + timedelta(days=1) if len(text) == 10 else instant(text)


# Conditions.


def conjunction(values: list[Value]) -> Value:
    return False if False in values else None if None in values else True


def opposite(value: Value) -> Value:
    return None if value is None else not value


def holds(condition: Json, provider: Provider, model: Model, request: Json) -> Value:
    """Whether a condition over candidates holds."""
    return conjunction([part(key, value, provider, model, request) for key, value in condition.items()])


def part(key: str, value: Any, provider: Provider, model: Model, request: Json) -> Value:
    if key == "all":
        return conjunction([holds(each, provider, model, request) for each in value])
    if key == "any":
        return opposite(conjunction([opposite(holds(each, provider, model, request)) for each in value]))
    if key == "not":
        return opposite(holds(value, provider, model, request))
    if key == "is":
        return holds(request["conditions"][value], provider, model, request)
    observed = observe(key, provider, model, request)
    return conjunction([compare(key, op, wanted, observed, request) for op, wanted in matchers(value)])


def matchers(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(value.items())
    return [("in" if isinstance(value, list) else "eq", value)]


def observe(field: str, provider: Provider, model: Model, request: Json) -> Any:
    """What a candidate has; None when nobody knows."""
    if field.startswith("labels."):
        return provider.get("labels", {}).get(field.removeprefix("labels."))
    match field:
        case "provider":
            return provider["id"]
        case "model":
            return model["name"]
        case "region":
            return None if provider["region"] == "unspecified" else provider["region"]
        case "kind":
            return provider.get("capabilityKind", "llm-inference")
        case "feature":
            return model["features"]
        case "attribute":
            return provider.get("attributes", [])
        case "source":
            return "pack" if provider.get("source") == "pack" else "registered"
        case "promptUsdPer1kTokens" | "completionUsdPer1kTokens":
            return model["cost"][field]
        case "callUsd":
            return call_usd(model, request)
        case _:
            return model.get(field)


def call_usd(model: Model, request: Json) -> Fraction | None:
    if "tokens" not in request:
        return None
    prices = (model["cost"]["promptUsdPer1kTokens"], model["cost"]["completionUsdPer1kTokens"])
    counts = (request["tokens"]["prompt"], request["tokens"]["completion"])
    return sum((exact(price) * exact(count) / 1000 for price, count in zip(prices, counts, strict=True)), Fraction(0))


def compare(field: str, op: str, wanted: Any, observed: Any, request: Json) -> Value:
    if op == "exists":
        return (observed is not None and observed != []) is wanted
    if observed is None:
        return None
    if op in ("ne", "notIn"):
        return not compare(field, {"ne": "eq", "notIn": "in"}[op], wanted, observed, request)
    if op == "in":
        return any(compare(field, "eq", each, observed, request) for each in wanted)
    if op == "like":
        pattern = "".join({"*": ".*", "?": "."}.get(character, re.escape(character)) for character in wanted)
        return re.fullmatch(pattern, observed, re.DOTALL) is not None
    if field in SETS:
        return wanted in observed
    if field == "region":
        return observed in members(wanted, request)
    if isinstance(wanted, str):
        return bool(observed == wanted)
    left = observed if isinstance(observed, Fraction) else exact(observed)
    right = exact(wanted)
    return {"eq": left == right, "lt": left < right, "lte": left <= right, "gt": left > right, "gte": left >= right}[op]


def asked(condition: Json, request: Json) -> Value:
    """Whether a condition over the request holds."""
    values: list[Value] = []
    for key, value in condition.items():
        if key == "all":
            values.append(conjunction([asked(each, request) for each in value]))
        elif key == "any":
            values.append(opposite(conjunction([opposite(asked(each, request)) for each in value])))
        elif key == "not":
            values.append(opposite(asked(value, request)))
        elif key == "labels":
            values += [asked({f"labels.{name}": matcher}, request) for name, matcher in value.items()]
        else:
            observed = of_request(key, request)
            values += [
                compare("feature" if key == "feature" else "text", op, w, observed, request)
                for op, w in matchers(value)
            ]
    return conjunction(values)


def of_request(field: str, request: Json) -> Any:
    if field.startswith("labels."):
        return request.get("labels", {}).get(field.removeprefix("labels."))
    if field == "kind":
        return request["capability"].get("kind", "llm-inference")
    if field == "feature":
        return [need["feature"] for need in request["capability"]["needs"] if "feature" in need]
    return request.get("capabilityName")


# Rules.


def waived(rule: Json, provider: Provider, model: Model, request: Json) -> bool:
    return any(
        waiver["rule"] == rule["name"]
        and waiver["tenant"] == request.get("tenantPolicy", {}).get("tenantId")
        and ("until" not in waiver or instant(request["at"]) < ending(waiver["until"]))
        and holds(waiver["admits"], provider, model, request) is True
        for waiver in request.get("waivers", [])
    )


def rule_check(rule: Json, request: Json) -> naive.Check:
    forbids = "forbid" in rule
    condition = rule["forbid" if forbids else "require"]

    def check(provider: Provider, model: Model) -> Reason | None:
        value = holds(condition, provider, model, request)
        if value is (not forbids) or waived(rule, provider, model, request):
            return None
        failed: list[Json] = []
        for negated, field, op, wanted in deciding(condition, provider, model, request):
            observed = observe(field, provider, model, request)
            shown = naive.as_number(observed) if isinstance(observed, Fraction) else observed
            matcher = wanted if op in ("eq", "in") else {op: wanted}
            each = {"field": field, "observed": shown, "wanted": {"not": matcher} if negated != forbids else matcher}
            if each not in failed:
                failed.append(each)
        return {"code": "rule-violated", "rule": rule["name"], "because": rule["because"], "failed": failed}

    return check


def deciding(condition: Json, provider: Provider, model: Model, request: Json) -> list[tuple[bool, str, str, Any]]:
    """The comparisons that have the value of the whole, as (under an odd number of nots, field, op, wanted)."""
    whole = holds(condition, provider, model, request)
    found: list[tuple[bool, str, str, Any]] = []
    for key, value in condition.items():
        if part(key, value, provider, model, request) is not whole:
            continue
        if key in ("all", "any"):
            for each in value:
                if holds(each, provider, model, request) is whole:
                    found += deciding(each, provider, model, request)
        elif key == "not":
            inner = deciding(value, provider, model, request)
            found += [(not negated, field, op, wanted) for negated, field, op, wanted in inner]
        elif key == "is":
            found += deciding(request["conditions"][value], provider, model, request)
        else:
            observed = observe(key, provider, model, request)
            found += [
                (False, key, op, wanted)
                for op, wanted in matchers(value)
                if compare(key, op, wanted, observed, request) is whole
            ]
    return found


def decide(request: Json, matched: list[tuple[Provider, Model]], rules: list[Json]) -> Json:
    """As `naive.decide`, with the rules that prefer."""
    regular = [pair for pair in matched if not pair[0].get("fallback", False)]
    wishes = [rule for rule in rules if "weight" in rule]
    orders = [rule["prefer"] for rule in rules if "prefer" in rule and "weight" not in rule]

    def score(pair: tuple[Provider, Model]) -> Fraction:
        gained = [exact(rule["weight"]) for rule in wishes if holds(rule["prefer"], *pair, request) is True]
        return naive.score(request["capability"].get("prefer", []), *pair) + sum(gained, Fraction(0))

    def order(pair: tuple[Provider, Model]) -> tuple[Any, ...]:
        provider, model = pair
        hints = [("preferredProvider", provider["id"]), ("preferredModel", model["name"])]
        given = [(request[key], name) for key, name in hints if key in request]
        hinted = bool(given) and all(wanted == name for wanted, name in given)
        places: list[tuple[bool, Fraction]] = []
        for each in orders:
            ((direction, field),) = each.items()
            observed = observe(field, provider, model, request)
            number = (
                Fraction(0) if observed is None else observed if isinstance(observed, Fraction) else exact(observed)
            )
            places.append((observed is None, number if direction == "lowest" else -number))
        first = "defaultModel" in provider and provider["defaultModel"] == model["name"]
        ids = [ord(character) for character in provider["id"]]
        return (not hinted, -score(pair), places, ids, not first, [ord(character) for character in model["name"]])

    ranked = sorted(regular or matched, key=order)
    return {
        "pick": naive.named(ranked[0]),
        "alternates": [naive.named(pair) for pair in ranked[1:]],
        "fallback": not regular,
        "score": score(ranked[0]),
    }
