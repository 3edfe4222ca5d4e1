"""Requests for pages: hostile names, and more candidates than fit on a screen."""

import json
import random
from html.parser import HTMLParser
from typing import Any

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "\"'><b>&amp;",
    "a\u2028b\u2029c",
    "\u202eevil\u2066",
    "שלום עולם",
    "نموذج",
    "line\nbreak\ttab\x1b[31m\x00",
    "`back`tick",
    "${data}$data",
    "x" * 300,
    "😀\U000e0001",
]

FEATURES = ["structured-output", "vision", "audio-input", "tool-use", "thinking", "long-context", "streaming"]
REGIONS = ["eu-west-1", "eu-central-1", "us-east-1", "ap-south-1", "unspecified"]


def hostile_request() -> dict[str, Any]:
    """Names that would be markup, end a script or turn the text around, wherever a name can stand."""
    providers = [
        {
            "id": name,
            "region": HOSTILE[-1 - place],
            "description": name,
            "models": [_model(name, FEATURES[:1]), _model(f"{name}2", [])],
        }
        for place, name in enumerate(HOSTILE)
    ]
    return {
        "capability": {
            "kind": "llm-inference",
            "needs": [{"feature": "vision"}, {"models": {"deny": HOSTILE[:3]}}, {"region": HOSTILE[0]}],
        },
        "tenantPolicy": {"tenantId": HOSTILE[1], "providers": {"deny": HOSTILE}, "regionAllow": HOSTILE[:4]},
        "providers": providers,
    }


def hostile_bundle(*, satisfiable: bool) -> dict[str, Any]:
    """The same for a bundle; the slots have such names, too."""
    single = hostile_request()
    names = HOSTILE if satisfiable else HOSTILE[:4]
    tie = {"different": "model"} if satisfiable else {"same": "region", "slots": names[:2]}
    return {
        "slots": {name: {"capability": {"needs": [{"feature": FEATURES[0 if satisfiable else 1]}]}} for name in names},
        "together": [{"different": "provider"}, tie],
        "providers": single["providers"],
        "tenantPolicy": {"tenantId": HOSTILE[1]},
    }


def large_request(providers: int = 100, models: int = 20) -> dict[str, Any]:
    """Twelve constraints that nothing satisfies, over candidates that differ in every fact."""
    source = random.Random(1)
    return {
        "capability": {
            "needs": [
                *({"feature": feature} for feature in FEATURES[:5]),
                {"contextWindow": {"op": ">=", "value": 1500000}},
                {"costPerCall": {"op": "<=", "usd": 0.0005}},
                {"p95LatencyMs": {"op": "<=", "value": 200}},
                {"models": {"deny": ["vendor-01/small-1-1b"]}},
            ]
        },
        "tenantPolicy": {"tenantId": "acme", "regionAllow": REGIONS[:2], "maxCostPerCallUsd": 0.004},
        "providers": [
            {
                "id": f"provider-{place:03}",
                "region": source.choice(REGIONS),
                "models": [
                    _model(
                        f"vendor-{number:02}/{source.choice(['large', 'small', 'pro'])}-{place}-{number}b",
                        [feature for feature in FEATURES if source.random() < 0.6],
                        window=source.randrange(4000, 2000000),
                        price=round(source.random() * 0.02, 6),
                        p95=source.randrange(201, 9000) if source.random() < 0.7 else None,
                    )
                    for number in range(models)
                ],
            }
            for place in range(providers)
        ],
    }


def _model(
    name: str, features: list[str], window: int = 128000, price: float = 0.002, p95: int | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": name,
        "contextWindow": window,
        "features": features,
        "cost": {"promptUsdPer1kTokens": price, "completionUsdPer1kTokens": 0.01},
    }
    return found if p95 is None else {**found, "p95LatencyMs": p95}


VOID = {"meta", "input", "br", "wbr", "rect"}


class Parsed(HTMLParser):
    """A page taken apart: tags with their attributes, the text, and what stands in script and style elements."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in VOID:
            return
        self.open.append(tag)
        if tag in self.raw:
            self.raw[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]][-1] += data
        else:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())

    @property
    def data(self) -> Any:
        return json.loads(self.raw["script"][0])

    def having(self, attribute: str) -> list[str]:
        return [value for _, attributes in self.tags if (value := attributes.get(attribute)) is not None]
