"""A large pack: 1,000 rules, 200 tenants and 5,000 candidates, of many kinds, written the same every time."""

from collections.abc import Iterator
from pathlib import Path

REGIONS = ("eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-southeast-1", "ca-central-1")
WINDOWS = (8_000, 32_000, 128_000, 200_000, 1_000_000)


def write_large_pack(
    directory: Path, *, providers: int = 100, models: int = 50, rules: int = 1_000, tenants: int = 200
) -> None:
    """Write the pack as a file of providers, one of rules and one of policies, tenants and tests."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, lines in (
        ("providers.yaml", _providers(providers, models, tenants)),
        ("rules.yaml", _rules(rules, providers)),
        ("tenants.yaml", _tenants(rules, tenants)),
    ):
        text = "\n".join(["whyroute: 1", *lines]) + "\n"
        (directory / name).write_text(text, "utf-8")


def _providers(count: int, models: int, tenants: int) -> Iterator[str]:
    yield "providers:"
    for number in range(count):
        yield f"  - id: provider-{number:03}"
        yield f"    region: {REGIONS[number % len(REGIONS)]}"
        yield f"    attributes: [tier-{number % 4}]"
        yield f"    labels: {{owner: team-{number % 7}}}"
        if number % 10 == 9:
            yield f"    onlyTenants: [tenant-{number % tenants:03}, tenant-{(number * 7) % tenants:03}]"
        yield "    models:"
        for model in range(models):
            price = (1 + (number * 31 + model * 17) % 97) / 100_000
            latency = f", p95LatencyMs: {200 + (number * 13 + model) % 900}" if (number + model) % 3 else ""
            yield (
                f"      - {{name: model-{number % 60:02}-{model:02}, contextWindow: {WINDOWS[(number + model) % 5]}, "
                f"features: [{'vision' if model % 2 else 'tool-use'}], "
                f"cost: {{promptUsdPer1kTokens: {price:.5f}, completionUsdPer1kTokens: {price * 3:.5f}}}{latency}}}"
            )


def _rules(count: int, providers: int) -> Iterator[str]:
    yield "conditions:"
    for number in range(20):
        yield f"  group-{number:02}: {{any: [{{region: {REGIONS[number % 6]}}}, {{attribute: tier-{number % 4}}}]}}"
    yield "rules:"
    for number in range(count):
        provider = f"provider-{number % providers:03}"
        body = (
            f"forbid: {{provider: {provider}}}",
            f"require: {{contextWindow: {{gte: {1_000 + number}}}}}",
            f'forbid: {{model: {{like: "model-{number % 60:02}-*{number % 10}"}}}}',
            f"require: {{is: group-{number % 20:02}}}",
            f"require: {{any: [{{p95LatencyMs: {{lte: {500 + number}}}}}, {{not: {{provider: {provider}}}}}]}}",
            f"forbid: {{all: [{{region: [{REGIONS[number % 6]}, {REGIONS[(number + 1) % 6]}]}}, "
            f"{{promptUsdPer1kTokens: {{gt: {0.0005 + number / 10_000_000:.7f}}}}}]}}",
            f"prefer: {{labels.owner: team-{number % 7}}}, weight: {1 + number % 5}",
        )[number % 7]
        when = (", when: {labels: {data: [staff, patient]}}", "", ", when: {capability: summarise}")[number % 3]
        yield f"  - {{name: rule-{number:04}, because: Reason {number}.{when}, {body}}}"


def _tenants(rules: int, tenants: int) -> Iterator[str]:
    yield "labels:"
    yield "  data: {values: [public, staff, patient], default: patient}"
    yield "capabilities:"
    yield "  - {name: summarise, needs: []}"
    yield "  - {name: look, needs: [{feature: vision}]}"
    yield "policies:"
    for number in range(50):
        names = ", ".join(f"rule-{each:04}" for each in range(number, rules, 50))
        yield f"  - {{name: policy-{number:02}, maxCostPerCallUsd: 0.00{50 + number}, rules: [{names}]}}"
    yield "everyTenant: [policy-00, policy-01]"
    yield "tenants:"
    for number in range(tenants):
        extends = ", ".join(f"policy-{(number * step) % 48 + 2:02}" for step in (1, 3, 7))
        yield (
            f"  - {{tenantId: tenant-{number:03}, extends: [{extends}], "
            f"regionAllow: [{', '.join(REGIONS[: 2 + number % 5])}]}}"
        )
    yield "tests:"
    for number in range(100):
        yield (
            f"  - {{name: test {number}, tenant: tenant-{number * 2 % tenants:03}, capability: all, "
            f"labels: {{data: {('public', 'staff', 'patient')[number % 3]}}}, expect: {{fallback: false}}}}"
        )
