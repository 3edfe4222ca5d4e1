"""A naive router, written from the contract alone: the oracle of the real one.

Wire requests in, plain dictionaries out; one candidate after the other, no index, nothing of whyroute imported.
"""

import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

Provider = dict[str, Any]
Model = dict[str, Any]
Reason = dict[str, Any]
Check = Callable[[Provider, Model], Reason | None]

COMPARE: dict[str, Callable[[Fraction, Fraction], bool]] = {
    ">=": lambda a, b: not a < b,
    ">": lambda a, b: b < a,
    "=": lambda a, b: not a < b and not b < a,
    "<=": lambda a, b: not b < a,
    "<": lambda a, b: a < b,
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a valid request.

    Returns:
        `matched` in input order, and either `decision` {pick, alternates, fallback, score: Fraction} or
        `error` {code, tenantId?, reasons} without the reasons' messages.
    """
    everyone = [(provider, model) for provider in request["providers"] for model in provider["models"]]
    checks = constraints(request["capability"], request.get("tenantPolicy"))
    matched = [pair for pair in everyone if all(check(*pair) is None for _, check in checks)]
    found: dict[str, Any] = {"matched": [named(pair) for pair in matched]}
    if matched:
        found["decision"] = decide(request, matched)
    else:
        found["error"] = fail(request, everyone, checks)
    return found


def named(pair: tuple[Provider, Model]) -> dict[str, str]:
    return {"provider": pair[0]["id"], "model": pair[1]["name"]}


def constraints(capability: dict[str, Any], policy: dict[str, Any] | None) -> list[tuple[str, Check]]:
    kind = capability.get("kind", "llm-inference")
    found = [(f"capability.kind = {kind}", kind_check(kind))]
    found += [need_constraint(need) for need in capability["needs"]]
    return found + policy_constraints(policy or {})


def kind_check(wanted: str) -> Check:
    def check(provider: Provider, model: Model) -> Reason | None:
        observed = provider.get("capabilityKind", "llm-inference")
        if observed == wanted:
            return None
        return {"code": "capability-kind-mismatch", "observed": observed, "wanted": wanted}

    return check


def need_constraint(need: dict[str, Any]) -> tuple[str, Check]:
    ((key, value),) = need.items()
    if key == "feature":
        return (
            f"feature:{value}",
            lambda provider, model: (
                None if value in model["features"] else {"code": "missing-feature", "feature": value}
            ),
        )
    if key == "contextWindow":
        op, wanted = value["op"], value["value"]
        return f"contextWindow{op}{printed(wanted)}", window_check(op, wanted)
    if key == "costPerCall":
        return f"costPerCall{value['op']}${printed(value['usd'])}", price_check(value["op"], value["usd"])
    if key == "region":
        return (
            f"region={value}",
            lambda provider, model: (
                None
                if provider["region"] == value
                else {"code": "region-mismatch", "observed": provider["region"], "wanted": value}
            ),
        )
    if key == "p95LatencyMs":
        return f"p95LatencyMs{value['op']}{printed(value['value'])}", latency_check(value["op"], value["value"])
    allow, deny = value.get("allow"), value.get("deny")
    label = f"{key}{{allow:[{','.join(allow or [])}]deny:[{','.join(deny or [])}]}}"
    return label, list_check(key, allow, deny)


def window_check(op: str, wanted: float) -> Check:
    def check(provider: Provider, model: Model) -> Reason | None:
        observed = model["contextWindow"]
        if COMPARE[op](exact(observed), exact(wanted)):
            return None
        return {"code": "context-window-mismatch", "observed": observed, "op": op, "wanted": wanted}

    return check


def price_check(op: str, wanted: float) -> Check:
    def check(provider: Provider, model: Model) -> Reason | None:
        observed = model["cost"]["promptUsdPer1kTokens"]
        if COMPARE[op](exact(observed), exact(wanted)):
            return None
        return {"code": "cost-exceeds-cap", "observedUsdPer1k": observed, "op": op, "wantedUsd": wanted}

    return check


def latency_check(op: str, wanted: float) -> Check:
    def check(provider: Provider, model: Model) -> Reason | None:
        if "p95LatencyMs" not in model:
            return {"code": "p95-latency-unknown"}
        observed = model["p95LatencyMs"]
        if COMPARE[op](exact(observed), exact(wanted)):
            return None
        return {"code": "p95-latency-exceeds", "observedMs": observed, "op": op, "wantedMs": wanted}

    return check


def list_check(subject: str, allow: list[str] | None, deny: list[str] | None) -> Check:
    def check(provider: Provider, model: Model) -> Reason | None:
        name = provider["id"] if subject == "providers" else model["name"]
        one, field = ("provider", "providerId") if subject == "providers" else ("model", "modelName")
        if deny is not None and name in deny:
            return {"code": f"{one}-on-denylist", field: name}
        if allow is not None and name not in allow:
            return {"code": f"{one}-not-in-allowlist", field: name, "allow": allow}
        return None

    return check


def policy_constraints(policy: dict[str, Any]) -> list[tuple[str, Check]]:
    found: list[tuple[str, Check]] = []

    def add(label: str, passes: Callable[[Provider, Model], bool], why: Callable[[Provider, Model], Reason]) -> None:
        found.append((label, lambda provider, model: None if passes(provider, model) else why(provider, model)))

    providers, models = policy.get("providers", {}), policy.get("models", {})
    if denied := providers.get("deny", []):
        add(
            f"tenant.providers.deny[{','.join(denied)}]",
            lambda provider, model: provider["id"] not in denied,
            lambda provider, model: {"code": "tenant-denied", "providerId": provider["id"]},
        )
    if "allow" in providers:
        add(
            f"tenant.providers.allow[{','.join(providers['allow'])}]",
            lambda provider, model: provider["id"] in providers["allow"],
            lambda provider, model: {"code": "tenant-not-allowed", "providerId": provider["id"]},
        )
    if forbidden := models.get("deny", []):
        add(
            f"tenant.models.deny[{','.join(forbidden)}]",
            lambda provider, model: model["name"] not in forbidden,
            lambda provider, model: {"code": "tenant-model-denied", "modelName": model["name"]},
        )
    if "allow" in models:
        add(
            f"tenant.models.allow[{','.join(models['allow'])}]",
            lambda provider, model: model["name"] in models["allow"],
            lambda provider, model: {"code": "tenant-model-not-allowed", "modelName": model["name"]},
        )
    if "regionAllow" in policy:
        regions = policy["regionAllow"]
        add(
            f"tenant.regionAllow[{','.join(regions)}]",
            lambda provider, model: provider["region"] in regions,
            lambda provider, model: {
                "code": "tenant-region-not-allowed",
                "observed": provider["region"],
                "allow": regions,
            },
        )
    if "maxCostPerCallUsd" in policy:
        cap = policy["maxCostPerCallUsd"]
        add(
            f"tenant.maxCostPerCallUsd<={printed(cap)}",
            lambda provider, model: exact(model["cost"]["promptUsdPer1kTokens"]) <= exact(cap),
            lambda provider, model: {
                "code": "tenant-cost-cap-exceeded",
                "observedUsd": model["cost"]["promptUsdPer1kTokens"],
                "capUsd": cap,
            },
        )
    if "maxTokensPerCall" in policy:
        floor = policy["maxTokensPerCall"]
        found.append((f"tenant.maxTokensPerCall<={printed(floor)}", window_check(">=", floor)))
    return found


Hint = tuple[Callable[[tuple[Provider, Model]], str], str]


def decide(request: dict[str, Any], matched: list[tuple[Provider, Model]]) -> dict[str, Any]:
    regular = [pair for pair in matched if not pair[0].get("fallback", False)]
    preferences = request["capability"].get("prefer", [])
    hints: list[Hint] = []
    if "preferredProvider" in request:
        hints.append((lambda pair: str(pair[0]["id"]), request["preferredProvider"]))
    if "preferredModel" in request:
        hints.append((lambda pair: str(pair[1]["name"]), request["preferredModel"]))

    def order(pair: tuple[Provider, Model]) -> tuple[Any, ...]:
        provider, model = pair
        hinted = bool(hints) and all(read(pair) == wanted for read, wanted in hints)
        first = "defaultModel" in provider and provider["defaultModel"] == model["name"]
        return (
            not hinted,
            -score(preferences, provider, model),
            [ord(character) for character in provider["id"]],
            not first,
            [ord(character) for character in model["name"]],
        )

    ranked = sorted(regular or matched, key=order)
    return {
        "pick": named(ranked[0]),
        "alternates": [named(pair) for pair in ranked[1:]],
        "fallback": not regular,
        "score": score(preferences, *ranked[0]),
    }


def score(preferences: list[dict[str, Any]], provider: Provider, model: Model) -> Fraction:
    total = Fraction(0)
    for preference in preferences:
        if preference["feature"] in model["features"] or preference["feature"] in provider.get("attributes", []):
            total += exact(preference["weight"])
    return total


def fail(
    request: dict[str, Any], everyone: list[tuple[Provider, Model]], checks: list[tuple[str, Check]]
) -> dict[str, Any]:
    reasons = []
    for label, check in checks:
        outcomes = [(f"{pair[0]['id']}/{pair[1]['name']}", check(*pair)) for pair in everyone]
        rejecting = [{"id": name, "reason": why} for name, why in outcomes if why is not None]
        if rejecting:
            satisfying = [name for name, why in outcomes if why is None]
            reasons.append({"requirement": label, "satisfyingProviders": satisfying, "rejectingProviders": rejecting})
    if failures := request.get("setupFailures", []):
        reasons.append(
            {
                "requirement": "provider set up",
                "satisfyingProviders": [f"{pair[0]['id']}/{pair[1]['name']}" for pair in everyone],
                "rejectingProviders": [
                    {
                        "id": failure["providerId"],
                        "reason": {"code": "provider-setup-failed", "providerId": failure["providerId"]},
                    }
                    for failure in failures
                ],
            }
        )
    found: dict[str, Any] = {"code": "capability-unsatisfiable", "reasons": reasons}
    if "tenantPolicy" in request:
        found["tenantId"] = request["tenantPolicy"]["tenantId"]
    return found


def exact(number: float) -> Fraction:
    """The decimal that a double is written as."""
    return Fraction(repr(float(number)))


def printed(number: float) -> str:
    """A finite number as ECMAScript prints it."""
    double = float(number)
    if double == 0:
        return "0"
    decimal = Decimal(repr(double)).normalize()
    return format(decimal, "f") if Decimal("1e-6") <= abs(decimal) < Decimal("1e21") else format(decimal, "e")


def without_messages(answered: dict[str, Any]) -> dict[str, Any]:
    """An answer of the real router in this module's form: without what the contract leaves open."""
    found: dict[str, Any] = {"matched": answered["matched"]} if "matched" in answered else {}
    if "decision" in answered:
        decision = answered["decision"]
        found["decision"] = {key: decision[key] for key in ("pick", "alternates", "fallback", "score")}
    if "error" in answered:
        error = answered["error"]
        found["error"] = {key: error[key] for key in ("code", "tenantId", "reasons") if key in error}
        found["error"]["reasons"] = [
            {
                **{key: value for key, value in reason.items() if key != "constraint"},
                "rejectingProviders": [
                    {
                        "id": rejected["id"],
                        "reason": {key: value for key, value in rejected["reason"].items() if key != "message"},
                    }
                    for rejected in reason["rejectingProviders"]
                ],
            }
            for reason in error["reasons"]
        ]
    return found


def as_number(value: Fraction) -> float:
    """An exact sum as the wire shows it: a short integer as it is, else the nearest double that is finite."""
    if value.denominator == 1 and abs(value) < 10**21:
        return value.numerator
    largest = Fraction(sys.float_info.max)
    return float(max(-largest, min(value, largest)))
