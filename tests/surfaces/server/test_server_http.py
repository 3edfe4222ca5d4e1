"""Requests without a socket: every endpoint, every refusal, the envelope round all of them."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import whyroute
from serverkit import PACK, Answer, Kit, make_kit, provider, registration, segment
from volatile import unasked
from whyroute import BundleLimitError
from whyroute.model.features import FEATURES
from whyroute.packs import load_pack
from whyroute.server.cursors import Cursors
from whyroute.server.envelope import ApiError
from whyroute.server.limits import ServiceLimits
from whyroute.server.lines import FileSink, LineWriter
from whyroute.server.tokenfile import change_tokens
from whyroute.server.tokens import issue, revoke
from whyroute.wire.request import answer as wire_answer


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    kit = make_kit(tmp_path)
    yield kit
    kit.app.close()
    kit.service.storage.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    """A service that no test changes."""
    kit = make_kit(tmp_path_factory.mktemp("shared"))
    yield kit
    kit.app.close()
    kit.service.storage.close()


CANDIDATE = {"provider": "azure", "model": "large"}


def refused(answer: Answer, status: int, code: str) -> None:
    assert (answer.status, answer.code) == (status, code), answer.body


# Capabilities.


def test_capabilities_are_listed_in_pages(shared: Kit) -> None:
    found: list[dict[str, Any]] = []
    query = "?limit=4"
    pages = 0
    while True:
        answer = shared.get(f"/v1/capabilities{query}")
        assert answer.status == 200
        page = answer.json()
        found += page["data"]
        pages += 1
        if not page["hasMore"]:
            assert "nextCursor" not in page
            break
        assert len(page["data"]) == 4
        query = f"?limit=4&cursor={segment(page['nextCursor'])}"
    assert pages == 4
    assert [each["id"] for each in found] == [
        *(f"feature:{feature}" for feature in FEATURES),
        "extra:vision-plus",
        "gpu:h100",
    ]
    assert all(each.keys() <= {"id", "feature", "description", "kind", "paramsSchema", "providers"} for each in found)


def test_a_capability_names_the_tenants_own_providers(shared: Kit) -> None:
    by_tenant = {
        name: shared.get("/v1/capabilities/feature:vision", name).json()["providers"] for name in ("alpha", "beta")
    }
    assert by_tenant == {
        "alpha": [
            {"providerId": "alpha-only", "models": ["secret-model"]},
            {"providerId": "azure", "models": ["large"]},
            {"providerId": "us-llm", "models": ["huge"]},
        ],
        "beta": [{"providerId": "azure", "models": ["large"]}, {"providerId": "us-llm", "models": ["huge"]}],
    }
    assert shared.get("/v1/capabilities/feature:batch").json()["providers"] == []


def test_what_the_pack_describes_is_listed_too(shared: Kit) -> None:
    assert shared.get("/v1/capabilities/gpu%3Ah100").json() == {
        "id": "gpu:h100",
        "feature": "h100-class",
        "description": "Runs on a whole H100.",
        "kind": "gpu-compute",
        "paramsSchema": {"type": "object", "properties": {"cards": {"type": "integer", "minimum": 1}}},
        "providers": [{"providerId": "alpha-only", "models": ["secret-model"]}],
    }
    assert shared.get("/v1/capabilities/gpu%3Ah100", "beta").json()["providers"] == []


@pytest.mark.parametrize(
    ("prefix", "features"),
    [
        ("vision", ["vision", "vision-plus"]),
        ("audio-", ["audio-input", "audio-output"]),
        ("Vision", []),
        ("ision", []),
        ("", [*FEATURES, "vision-plus", "h100-class"]),
    ],
)
def test_the_filter_is_a_prefix(shared: Kit, prefix: str, features: list[str]) -> None:
    page = shared.get(f"/v1/capabilities?limit=100&feature={prefix}").json()
    assert [each["feature"] for each in page["data"]] == features
    assert page["hasMore"] is False


def test_a_page_moves_nothing_when_something_is_added(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    head = "whyroute: 1\ntenants: [{tenantId: alpha}, {tenantId: beta}, {tenantId: gamma}]\ndescriptors:\n"
    entry = "  - {{id: {0}, feature: f, description: d}}\n".format
    pack.write_text(head + entry("b") + entry("d"))
    kit = make_kit(tmp_path, pack=pack)
    first = kit.get("/v1/capabilities?limit=1&feature=f").json()
    rest = kit.get("/v1/capabilities?limit=14").json()
    assert rest["data"][-1]["id"] == "b"
    pack.write_text(head + "".join(map(entry, "abcd")))
    assert kit.service.packs.reload()
    after = kit.get(f"/v1/capabilities?limit=14&cursor={segment(rest['nextCursor'])}").json()
    assert [each["id"] for each in after["data"]] == ["c", "d"]
    assert first["data"][0]["feature"] == "file-search"


def test_there_is_no_such_capability(shared: Kit) -> None:
    for name in ("feature:nothing", "vision", "feature%3Avision%2F", "%20", "gpu:H100"):
        answer = shared.get(f"/v1/capabilities/{name}")
        refused(answer, 404, "capability-not-found")


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=-1",
        "limit=",
        "limit=101",
        "limit=1.5",
        "limit=1_0",
        "limit=%EF%BC%95",
        "limit=+5",
        "limit=%2B5",
        "limit=5&limit=5",
        "limit=05",
        "limit=1e1",
        "limit=99999999999999999999",
        "limit=%00",
        "limit",
        "Limit=5",
        "feature=a&feature=a",
        "feature=%ff",
        "cursor=",
        "cursor=junk",
        "cursor=%F0%9F%92%A5",
        "cursor=%ff",
        "cursor=a&cursor=b",
        "unknown=1",
        pytest.param("&".join(f"a{number}=1" for number in range(30)), id="30 parameters"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/capabilities", "/v1/providers"])
def test_a_query_that_is_not_understood_is_refused(shared: Kit, path: str, query: str) -> None:
    refused(shared.get(f"{path}?{query}"), 400, "bad-input")


@pytest.mark.parametrize("limit", [1, 2, 25, 100])
def test_limits_that_are_fine(shared: Kit, limit: int) -> None:
    assert len(shared.get(f"/v1/capabilities?limit={limit}").json()["data"]) == min(limit, 15)


def test_without_a_limit_a_page_has_25(kit: Kit) -> None:
    for number in range(30):
        kit.service.registry.add("beta", _read(registration(f"p{number:02}")))
    page = kit.get("/v1/providers", "beta").json()
    assert len(page["data"]) == 25
    assert page["hasMore"]


def _read(body: dict[str, Any]) -> Any:
    from whyroute.server.registrations import read_registration  # noqa: PLC0415

    return read_registration(body)


# Cursors.


def next_cursor(kit: Kit, query: str = "limit=3", tenant: str = "alpha") -> str:
    return str(kit.get(f"/v1/capabilities?{query}", tenant).json()["nextCursor"])


def test_a_cursor_of_the_longest_id_opens(kit: Kit) -> None:
    names = [chr(0x1F600 + place) * 512 for place in range(3)]
    for name in names:
        assert kit.post("/v1/providers", registration(name)).status == 201
    page, found = kit.get("/v1/providers?limit=1").json(), []
    while page["hasMore"]:
        page = kit.get(f"/v1/providers?limit=1&cursor={segment(page['nextCursor'])}").json()
        found += [each["id"] for each in page["data"]]
    assert found[-3:] == names


def test_cursor_opens_only_for_its_own_request(kit: Kit, tmp_path: Path) -> None:
    cursor = next_cursor(kit, "limit=1&feature=audio")
    assert kit.get(f"/v1/capabilities?feature=audio&cursor={segment(cursor)}").status == 200
    for path, tenant in (
        (f"/v1/capabilities?cursor={segment(cursor)}", "alpha"),
        (f"/v1/capabilities?feature=audi&cursor={segment(cursor)}", "alpha"),
        (f"/v1/capabilities?feature=&cursor={segment(cursor)}", "alpha"),
        (f"/v1/capabilities?feature=audio&cursor={segment(cursor)}", "beta"),
        (f"/v1/providers?feature=audio&cursor={segment(cursor)}", "alpha"),
    ):
        refused(kit.get(path, tenant), 400, "bad-input")
    text, kept = issue("alpha")
    change_tokens(tmp_path / "tokens.json", lambda before: (*before, kept))
    kit.tokens["another of alpha"] = text
    refused(kit.get(f"/v1/capabilities?feature=audio&cursor={segment(cursor)}", "another of alpha"), 400, "bad-input")


def test_a_cursor_with_one_character_changed_is_refused(shared: Kit) -> None:
    cursors, scope = Cursors(), ("list", "", "tenant", "token")
    for length in range(4):  # whatever the padding
        sealed = cursors.seal(scope, ("x" * 5 * length,))
        for place in range(len(sealed)):
            for other in ("A", "_", "B", "!", "="):
                changed = sealed[:place] + other + sealed[place + 1 :]
                if changed != sealed:
                    with pytest.raises(ApiError):
                        cursors.open(scope, changed)
    cursor = next_cursor(shared)
    for changed in (f"{cursor}=", cursor[:-1], f"{cursor}\n", f" {cursor}", f"!{cursor}", cursor + cursor):
        refused(shared.get(f"/v1/capabilities?limit=3&cursor={segment(changed)}"), 400, "bad-input")


def test_a_cursor_opens_for_a_day(shared: Kit) -> None:
    cursors, scope = Cursors(), ("list", "", "tenant", "token")
    sealed = cursors.seal(scope, (1, "x"), now=1_000_000)
    assert cursors.open(scope, sealed, now=1_000_000 + 86_400) == [1, "x"]
    with pytest.raises(Exception, match="does not open here") as error:
        cursors.open(scope, sealed, now=1_000_000 + 86_401)
    assert error.value.kind == "bad-input"  # type: ignore[attr-defined]  # of an ApiError


def test_keys_are_rotated() -> None:
    first, second = (_key(), _key())
    scope = ("list", "", "tenant", "token")
    sealed = Cursors([first]).seal(scope, (1,))
    assert Cursors([second, first]).open(scope, sealed) == [1]
    with pytest.raises(Exception, match="does not open here"):
        Cursors([second]).open(scope, sealed)
    assert Cursors([second]).open(scope, Cursors([second, first]).seal(scope, (2,))) == [2]
    with pytest.raises(Exception, match="cursor key 2 is invalid"):
        Cursors([first, "nonsense"])


def _key() -> str:
    from cryptography.fernet import Fernet  # noqa: PLC0415

    return Fernet.generate_key().decode()


# Tokens.


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer  ",
        "Basic dXNlcjpwYXNz",
        "Bearer nonsense",
        "Bearer wr_aaaaaaaaaa_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "Bearer \xe9\xff",
        "Bearer a b",
        "bearer",
        "Token {token}",
        "{token}",
        "Bearer {token} {token}",
        "Bearer {token}x",
        "Bearer\t{token}",
        "Bearer,{token}",
    ],
)
@pytest.mark.parametrize("path", ["/v1/capabilities", "/v1/providers", "/v1/providers/azure", "/v1/vocabulary"])
def test_a_token_that_names_nobody(shared: Kit, header: str | None, path: str) -> None:
    headers = [] if header is None else [("Authorization", header.replace("{token}", shared.tokens["alpha"]))]
    answer = shared.get(path, None, headers=headers)
    refused(answer, 401, "auth-missing")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_two_tokens_are_none(shared: Kit) -> None:
    headers = [("Authorization", f"Bearer {shared.tokens[name]}") for name in ("alpha", "beta")]
    refused(shared.get("/v1/capabilities", None, headers=headers), 401, "auth-missing")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_case_of_the_scheme_does_not_count(shared: Kit, scheme: str) -> None:
    headers = [("Authorization", f"{scheme} {shared.tokens['alpha']}")]
    assert shared.get("/v1/capabilities", None, headers=headers).status == 200


def test_each_changed_token_character_changes_the_token(shared: Kit) -> None:
    token = shared.tokens["alpha"]
    for place in range(3, len(token)):
        changed = token[:place] + ("b" if token[place] == "a" else "a") + token[place + 1 :]
        headers = [("Authorization", f"Bearer {changed}")]
        refused(shared.get("/v1/capabilities", None, headers=headers), 401, "auth-missing")


def test_expired_and_revoked_tokens(kit: Kit, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    for name, expires in (
        ("past", "2020-01-01T00:00:00Z"),
        ("today", datetime.now(UTC).date().isoformat()),
        ("yesterday", (datetime.now(UTC) - timedelta(days=1)).date().isoformat()),
        ("later", "2999-01-01"),
    ):
        text, kept = issue("alpha", expires=expires)
        kit.tokens[name] = text
        change_tokens(file, lambda before, kept=kept: (*before, kept))  # type: ignore[misc]  # mypy infers no lambda with defaults
    for name in ("past", "yesterday"):
        refused(kit.get("/v1/capabilities", name), 401, "auth-expired")
    for name in ("later", "today"):
        assert kit.get("/v1/capabilities", name).status == 200
    identifier = kit.tokens["later"].split("_")[1]
    change_tokens(file, lambda before: revoke(before, "alpha", identifier))
    change_tokens(file, lambda before: revoke(before, "alpha", kit.tokens["past"]))
    for name in ("later", "past"):
        refused(kit.get("/v1/capabilities", name), 401, "auth-revoked")
    with pytest.raises(Exception, match="is no token of tenant"):
        change_tokens(file, lambda before: revoke(before, "beta", identifier))
    # Only who has the secret learns what became of the token.
    forged = kit.tokens["past"][:-1] + ("x" if kit.tokens["past"][-1] != "x" else "y")
    refused(kit.get("/v1/capabilities", None, headers=[("Authorization", f"Bearer {forged}")]), 401, "auth-missing")


def test_a_file_of_tokens_that_breaks_recognises_nobody(kit: Kit, tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    good = file.read_bytes()
    for broken in (b"", b"{", b'{"whyrouteTokens": 1, "tokens": [{}]}', b'{"whyrouteTokens": 2, "tokens": []}'):
        file.write_bytes(broken)
        refused(kit.get("/v1/capabilities"), 401, "auth-missing")
        assert kit.get("/readyz", None).status == 503
    file.unlink()
    refused(kit.get("/v1/capabilities"), 401, "auth-missing")
    file.write_bytes(good)
    assert kit.get("/v1/capabilities").status == 200
    assert kit.get("/readyz", None).status == 200


def test_a_token_is_never_kept(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    kept = (tmp_path / "tokens.json").read_text()
    for token in kit.tokens.values():
        assert token.split("_", 2)[2] not in kept
    assert (tmp_path / "tokens.json").stat().st_mode & 0o077 == 0


def test_token_of_unknown_tenant_is_refused(kit: Kit, tmp_path: Path) -> None:
    text, kept = issue("nobody")
    change_tokens(tmp_path / "tokens.json", lambda before: (*before, kept))
    kit.tokens["nobody"] = text
    for answer in (
        kit.get("/v1/capabilities", "nobody"),
        kit.post("/v1/route", {"capability": "look"}, "nobody"),
        kit.post("/v1/providers", registration("x"), "nobody"),
    ):
        refused(answer, 403, "unknown-tenant")
        assert b"beta" not in answer.body


# Providers.


def test_providers_are_registered_listed_and_unregistered(kit: Kit) -> None:
    answer = kit.post("/v1/providers", registration("mine", features=["thinking"], labels={"team": "x"}))
    assert (answer.status, answer.json()) == (201, {"providerId": "mine"})
    assert kit.get("/v1/providers/mine").json() == provider("mine", features=["thinking"], labels={"team": "x"})
    names = [each["id"] for each in kit.get("/v1/providers").json()["data"]]
    assert names == ["alpha-only", "azure", "mine", "us-llm"]
    thinking = kit.get("/v1/providers?feature=thinking").json()["data"]
    assert [each["id"] for each in thinking] == ["mine", "us-llm"]
    assert kit.get("/v1/providers?feature=think").json() == {"data": [], "hasMore": False}
    having = kit.get("/v1/capabilities/feature:thinking").json()["providers"]
    assert {"providerId": "mine", "models": ["m"]} in having
    answer = kit.post("/v1/providers/mine/unregister")
    assert (answer.status, answer.json()) == (200, {"providerId": "mine", "unregistered": True})
    refused(kit.get("/v1/providers/mine"), 404, "provider-not-found")
    refused(kit.post("/v1/providers/mine/unregister"), 404, "provider-not-found")
    assert kit.post("/v1/providers", registration("mine")).status == 201


@pytest.mark.parametrize(
    "name", ["x" * 512, "a/b", "a/unregister", "%2F", "ü☃", "a b", "?", "#x", "..", ".", "a%2fb", "\u0000", "a\\b", "+"]
)
def test_ids_are_kept_as_they_are(shared: Kit, name: str) -> None:
    assert shared.post("/v1/providers", registration(name)).status == 201
    assert shared.get(f"/v1/providers/{segment(name)}").json()["id"] == name
    refused(shared.get(f"/v1/providers/{segment(name)}x"), 404, "provider-not-found")
    assert shared.post(f"/v1/providers/{segment(name)}/unregister").json()["providerId"] == name


def test_pages_of_providers(kit: Kit) -> None:
    for name in ("b", "d", "zz"):
        kit.post("/v1/providers", registration(name), "beta")
    first = kit.get("/v1/providers?limit=2", "beta").json()
    kit.post("/v1/providers", registration("a"), "beta")
    kit.post("/v1/providers", registration("c"), "beta")
    second = kit.get(f"/v1/providers?cursor={segment(first['nextCursor'])}", "beta").json()
    assert [[each["id"] for each in page["data"]] for page in (first, second)] == [
        ["azure", "b"],
        ["c", "d", "us-llm", "zz"],
    ]


def test_the_packs_providers_are_read_only(kit: Kit) -> None:
    refused(kit.post("/v1/providers/azure/unregister"), 409, "registry-read-only")
    answer = kit.post("/v1/providers", registration("azure"))
    refused(answer, 409, "duplicate-provider")
    assert answer.json()["error"]["details"]["providerId"] == "azure"
    assert kit.get("/v1/providers/azure").status == 200
    # What a tenant does not see is not there for it.
    refused(kit.post("/v1/providers/alpha-only/unregister", tenant="beta"), 404, "provider-not-found")
    assert kit.post("/v1/providers", registration("alpha-only"), "beta").status == 201


def test_an_id_is_registered_once(kit: Kit) -> None:
    assert kit.post("/v1/providers", registration("mine")).status == 201
    refused(kit.post("/v1/providers", registration("mine")), 409, "duplicate-provider")
    assert kit.post("/v1/providers", registration("mine"), "beta").status == 201


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": ""}, "empty-id"),
        ({"region": ""}, "empty-region"),
        ({"models": []}, "empty-models"),
        ({"defaultModel": "x"}, "unknown-default-model"),
        ({"labels": {"UPPER": "x"}}, "invalid-labels"),
        ({"source": "pack"}, "invalid-metadata"),
        ({"onlyTenants": ["beta"]}, "invalid-metadata"),
        ({"id": "x" * 513}, "invalid-metadata"),
    ],
)
def test_a_provider_that_breaks_a_rule(shared: Kit, change: dict[str, Any], reason: str) -> None:
    answer = shared.post("/v1/providers", {"metadata": {**provider("p"), **change}, "adapter_id": "a"})
    refused(answer, 400, "invalid-provider")
    details = answer.json()["error"]["details"]
    assert details["reason"] == reason
    assert details["issues"][0]["path"].startswith("/metadata")


@pytest.mark.parametrize(
    "body",
    [
        [],
        "text",
        None,
        {},
        {"metadata": provider("p")},
        {"adapter_id": "a"},
        {"metadata": provider("p"), "adapter_id": ""},
        {"metadata": provider("p"), "adapter_id": 5},
        {"metadata": provider("p"), "adapterId": "a"},
        {"metadata": provider("p"), "adapter_id": "a", "adapter_config": {"x": {}}},
        {"metadata": provider("p"), "adapter_id": "a", "adapter_config": {"x": None}},
        {"metadata": provider("p"), "adapter_id": "a", "adapter_config": []},
        {"metadata": provider("p"), "adapter_id": "a", "secret_ref": {"name": "x"}},
        {"metadata": provider("p"), "adapter_id": "a", "secret_ref": {"name": "x", "envName": "Y", "value": "z"}},
        {"metadata": provider("p"), "adapter_id": "a", "tenant": "beta"},
    ],
)
def test_a_registration_that_is_none(shared: Kit, body: Any) -> None:
    refused(shared.post("/v1/providers", body=json.dumps(body).encode()), 400, "invalid-request")


def test_a_registration_with_everything(kit: Kit) -> None:
    body = {
        **registration("full"),
        "adapter_config": {"url": "https://example.com", "retries": 3, "ratio": 0.5, "stream": True},
        "secret_ref": {"envName": "KEY", "name": "key"},
        "send_traceparent": False,
    }
    assert kit.post("/v1/providers", body).status == 201
    _, kept = kit.service.storage.load("alpha")
    assert kept[0].adapter_config == body["adapter_config"]
    assert kept[0].secret_ref == body["secret_ref"]


# Routing.


def test_a_route_is_what_the_library_answers(kit: Kit) -> None:
    kit.post("/v1/providers", registration("mine", features=["vision"]))
    pack = load_pack(PACK)
    include = ["matched", "explanation"]
    for name in (
        "look",
        "impossible",
        {"needs": [{"feature": "tool-use"}], "prefer": [{"feature": "local", "weight": 1}]},
    ):
        request = pack.resolve("alpha", name).request
        expected = wire_answer({**request, "providers": [*request["providers"], provider("mine")], "include": include})
        found = kit.post("/v1/route", {"capability": name, "include": include}).json()
        if "decision" in expected:
            assert unasked({**found, "at": None}) == unasked({**_as_named(expected), "at": None})
        else:
            details = found["error"]["details"]
            assert unasked(details) == {
                "tenantId": "alpha",
                "reasons": expected["error"]["reasons"],
                "explanation": unasked(_as_named(expected["explanation"])),
            }
            assert found["error"]["message"] == expected["error"]["message"]


def _as_named(document: Any) -> Any:
    """With the pack's file as the service names it: from the pack on, whatever machine it is on."""
    return json.loads(json.dumps(document).replace(str(PACK), PACK.name))


def test_hints_and_declarations(shared: Kit) -> None:
    declaration = {"needs": [{"feature": "tool-use"}]}
    found = shared.post("/v1/route", {"capability": declaration, "preferredModel": "large"}).json()
    assert found["decision"]["pick"] == {"provider": "azure", "model": "large"}
    found = shared.post("/v1/route", {"capability": declaration}).json()
    assert found["decision"]["pick"] == {"provider": "azure", "model": "small"}


def test_nothing_qualifies(shared: Kit) -> None:
    answer = shared.post("/v1/route", {"capability": "impossible"})
    refused(answer, 422, "capability-unsatisfiable")
    details = answer.json()["error"]["details"]
    assert details["tenantId"] == "alpha"
    assert [reason["requirement"] for reason in details["reasons"]][1:3] == ["contextWindow>=500000", "region=eu"]
    assert details["explanation"]["cores"] == [["needs/1", "needs/2"], ["needs/1", "policy/regionAllow"]]
    assert details["explanation"]["relaxations"]


def test_an_explanation(shared: Kit) -> None:
    for name, satisfiable in (("look", True), ("impossible", False)):
        answer = shared.post("/v1/explain", {"capability": name, "whyNot": {"provider": "us-llm", "model": "huge"}})
        assert answer.status == 200
        assert answer.json()["satisfiable"] is satisfiable
        assert answer.json()["contrast"]["candidate"] == {"provider": "us-llm", "model": "huge"}
    answer = shared.post("/v1/explain", {"capability": "impossible"}, headers=[("Accept", "text/html")])
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.body.startswith(b"<!DOCTYPE html>")


def test_a_bundle_is_what_the_library_answers(kit: Kit) -> None:
    features = ["vision", "tool-use"]
    kit.post("/v1/providers", registration("mine", features=features))
    pack = load_pack(PACK)
    own = {
        "slots": {"a": {"capability": "look", "preferredProvider": "mine"}, "b": {"capability": {"needs": []}}},
        "together": [{"different": "provider"}, {"sum": "promptUsdPer1kTokens", "op": "<", "value": 1}],
    }
    include = ["matched", "explanation"]
    asked: list[tuple[str | dict[str, Any], dict[str, Any]]] = [
        ("both", {"bundle": "both"}),
        ("thoughtful", {"bundle": "thoughtful"}),
        (own, own),
    ]
    statuses = []
    for bundle, body in asked:
        request = pack.resolve_bundle("alpha", bundle).request
        expected = wire_answer(
            {**request, "providers": [*request["providers"], provider("mine", features=features)], "include": include}
        )
        answer = kit.post("/v1/bundle", {**body, "include": include})
        statuses.append(answer.status)
        if "decision" in expected:
            assert unasked({**answer.json(), "at": None}) == unasked({**_as_named(expected), "at": None})
        else:
            assert answer.code == "capability-unsatisfiable"
            assert unasked(answer.json()["error"]["details"]) == {
                "tenantId": "alpha",
                "reasons": expected["error"]["reasons"],
                "explanation": unasked(_as_named(expected["explanation"])),
            }
    assert statuses == [200, 422, 200]
    assert kit.post("/v1/bundle", {"bundle": "thoughtful"}, "beta").json()["decision"]["picks"] == {
        "see": {"provider": "us-llm", "model": "huge"},
        "think": {"provider": "us-llm", "model": "huge"},
    }


@pytest.mark.parametrize("bundle", ["both", "thoughtful"])
def test_why_not_this_pair(shared: Kit, bundle: str) -> None:
    pack = load_pack(PACK)
    slots = list(pack.bundles[bundle].value.slots)
    asked = {slots[0]: {"provider": "us-llm", "model": "huge"}, slots[1]: {"provider": "azure", "model": "small"}}
    request = pack.resolve_bundle("alpha", bundle).request
    expected = wire_answer({**request, "whyNot": asked, "include": ["explanation"]})["explanation"]
    assert expected["contrast"]
    answer = shared.post("/v1/bundle", {"bundle": bundle, "whyNot": asked}).json()
    found = answer["explanation"] if "decision" in answer else answer["error"]["details"]["explanation"]
    assert found["contrast"] == _as_named(expected)["contrast"]
    assert unasked(found) == unasked(_as_named(expected))


def test_every_answer_says_what_was_asked(kit: Kit) -> None:
    digest = load_pack(PACK).digest
    labels = {"labels": {}, "whyroute": whyroute.__version__, "pack": digest, "tenant": "alpha"}
    found = kit.post("/v1/route", {"capability": "look", "preferredProvider": "azur"}).json()
    assert {**found["asked"], "at": None} == {
        **labels,
        "capability": "look",
        "preferredProvider": "azur",
        "tokens": {"prompt": 1000, "completion": 100},
        "at": None,
    }
    assert found["asked"]["at"] == found["at"]
    assert found["hints"] == [
        {"hint": "preferredProvider", "value": "azur", "honoured": False, "why": "unknown", "near": ["azure"]}
    ]
    again = kit.post("/v1/route", {"capability": "look"}).json()
    assert "preferredProvider" not in again["asked"]
    assert "hints" not in again
    own = {"needs": [{"feature": "vision"}]}
    explained = kit.post("/v1/explain", {"capability": own, "preferredModel": "huge"}).json()
    assert (explained["asked"]["declaration"], explained["asked"]["preferredModel"]) == (own, "huge")
    details = kit.post("/v1/route", {"capability": "impossible"}).json()["error"]["details"]
    assert details["asked"] == details["explanation"]["asked"]
    assert details["asked"]["capability"] == "impossible"
    bundle = kit.post("/v1/bundle", {"bundle": "both"}).json()
    assert {**bundle["asked"], "at": None} == {**labels, "bundle": "both", "at": None}


def test_a_search_for_a_bundle_that_ends_early(shared: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> BundleLimitError:
        return BundleLimitError(100, None)

    monkeypatch.setattr("whyroute.server.bundling.outcome_of", ended)
    refused(shared.post("/v1/bundle", {"bundle": "both"}), 422, "search-limit")


@pytest.mark.parametrize(
    ("body", "status", "code", "path"),
    [
        ({}, 400, "invalid-request", "/slots"),
        ({"bundle": 5}, 400, "invalid-request", "/bundle"),
        ({"bundle": "both", "slots": {"a": {"capability": "look"}}}, 400, "invalid-request", "/slots"),
        ({"bundle": "both", "together": []}, 400, "invalid-request", "/together"),
        ({"slots": {}}, 400, "invalid-request", "/slots"),
        ({"slots": []}, 400, "invalid-request", "/slots"),
        ({"slots": {"a": {}}}, 400, "invalid-request", "/slots/a/capability"),
        ({"slots": {"a": {"capability": {"needs": [{}]}}}}, 400, "invalid-request", "/slots/a/capability/needs/0"),
        (
            {"slots": {"a": {"capability": "look", "tokens": {"prompt": 1, "completion": 1}}}},
            400,
            "invalid-request",
            "/slots/a/tokens",
        ),
        (
            {"slots": {"a": {"capability": "look"}}, "together": [{"same": "colour"}]},
            400,
            "invalid-request",
            "/together/0/same",
        ),
        (
            {"slots": {"a": {"capability": "look"}}, "together": [{"same": "region", "slots": ["a", "b"]}]},
            400,
            "invalid-request",
            "/together/0/slots/1",
        ),
        ({"bundle": "both", "tenant": "beta"}, 400, "invalid-request", "/tenant"),
        ({"bundle": "both", "tenantPolicy": {}}, 400, "invalid-request", "/tenantPolicy"),
        ({"bundle": "both", "providers": []}, 400, "invalid-request", "/providers"),
        ({"bundle": "both", "rules": []}, 400, "invalid-request", "/rules"),
        ({"bundle": "both", "at": "2026-01-01"}, 400, "invalid-request", "/at"),
        ({"bundle": "both", "capability": "look"}, 400, "invalid-request", "/capability"),
        ({"bundle": "both", "labels": []}, 400, "invalid-request", "/labels"),
        ({"bundle": "both", "labels": {"a": 1}}, 400, "invalid-request", "/labels/a"),
        ({"bundle": "both", "include": ["request"]}, 400, "invalid-request", "/include/0"),
        ({"slots": {f"s{n}": {"capability": "look"} for n in range(101)}}, 400, "invalid-request", "/slots"),
        (
            {"slots": {"a": {"capability": "look"}}, "together": [{"same": "provider"}] * 101},
            *(400, "invalid-request", "/together"),
        ),
        ({"bundle": "both", "whyNot": 5}, 400, "invalid-request", "/whyNot"),
        ({"bundle": "both", "whyNot": {}}, 400, "invalid-request", "/whyNot"),
        ({"bundle": "both", "whyNot": {"see": "azure/large"}}, 400, "invalid-request", "/whyNot/see"),
        ({"bundle": "both", "whyNot": {"se": CANDIDATE}}, 400, "invalid-request", "/whyNot/se"),
        ({"bundle": "bth"}, 404, "unknown-bundle", None),
        ({"slots": {"a": {"capability": "lok"}}}, 404, "unknown-capability", None),
    ],
)
def test_a_bundle_that_is_broken_or_unknown(
    shared: Kit, body: dict[str, Any], status: int, code: str, path: str | None
) -> None:
    answer = shared.post("/v1/bundle", body)
    refused(answer, status, code)
    if path is not None:
        assert [issue["path"] for issue in answer.json()["error"]["details"]["issues"]] == [path]


def test_the_operators_labels_are_the_operators(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, labels={"tier": "gold"})
    slot = {"capability": "look", "labels": {"tier": "lead"}}
    for path, body, at in (
        ("/v1/route", {"capability": "look", "labels": {"tier": "lead"}}, "/labels/tier"),
        ("/v1/bundle", {"bundle": "both", "labels": {"tier": "lead"}}, "/labels/tier"),
        ("/v1/bundle", {"slots": {"a": slot}}, "/slots/a/labels/tier"),
    ):
        answer = kit.post(path, body)
        refused(answer, 400, "invalid-request")
        assert [issue["path"] for issue in answer.json()["error"]["details"]["issues"]] == [at]
    kit.app.close()
    kit.service.storage.close()


def test_decisions_on_bundles_are_kept(tmp_path: Path) -> None:
    log = LineWriter(FileSink(tmp_path / "decisions.jsonl"))
    kit = make_kit(tmp_path, decisions=log)
    kit.post("/v1/providers", registration("mine"))
    found = kit.post("/v1/bundle", {"bundle": "both", "labels": {"team": "a"}}).json()
    failed = kit.post("/v1/bundle", {"bundle": "thoughtful"}).json()["error"]["details"]["explanation"]
    kit.post("/v1/bundle", {"bundle": 5})
    log.close()
    first, second = [json.loads(line) for line in (tmp_path / "decisions.jsonl").read_text("utf-8").splitlines()]
    assert (first["tenant"], first["bundle"], first["labels"]) == ("alpha", "both", {"team": "a"})
    assert (first["picks"], first["score"]) == (found["decision"]["picks"], found["decision"]["score"])
    assert first["shadow"] == found["shadow"]
    registered = {"registered": [provider("mine")], "setupFailures": []}
    text = json.dumps(registered, sort_keys=True, separators=(",", ":"))
    assert first["providers"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert "eu-west-1" not in json.dumps(first)  # a line cites what is registered, and never repeats it
    assert (second["unsatisfiable"], second["cores"]) == (True, failed["cores"])
    text = kit.get("/metrics", None).body.decode()
    for outcome in ("picked", "unsatisfiable", "refused"):
        assert f'whyroute_bundles_total{{outcome="{outcome}"}} 1.0' in text
    kit.app.close()
    kit.service.storage.close()


@pytest.mark.parametrize(
    "extra",
    [
        {"tenant": "beta"},
        {"tenantId": "beta"},
        {"tenantPolicy": {"tenantId": "beta"}},
        {"providers": []},
        {"rules": []},
        {"setupFailures": []},
        {"at": "2026-01-01"},
        {"tokens": {"prompt": 1, "completion": 1}},
        {"capabilityName": "look"},
        {"unheard": 1},
        {"labels": []},
        {"labels": {"a": 1}},
        {"preferredProvider": None},
        {"preferredModel": 5},
        {"include": ["request"]},
        {"include": "matched"},
        {"whyNot": {"provider": "a", "model": "b"}},
    ],
)
def test_what_a_body_may_not_say(shared: Kit, extra: dict[str, Any]) -> None:
    answer = shared.post("/v1/route", {"capability": "look", **extra})
    refused(answer, 400, "invalid-request")
    (issue,) = answer.json()["error"]["details"]["issues"]
    assert issue["path"].startswith(f"/{next(iter(extra))}")


def test_a_capability_that_is_broken_or_unknown(shared: Kit) -> None:
    body: Any
    refused(shared.post("/v1/route", {"capability": {"needs": [{}]}}), 400, "invalid-capability")
    refused(shared.post("/v1/route", {"capability": "lok"}), 404, "unknown-capability")
    for body in ({}, {"capability": None}, {"capability": []}):
        refused(shared.post("/v1/explain", body), 400, "invalid-request")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b'{"capability": NaN}',
        b'{"capability": {"needs": [{"costPerCall": {"op": "<=", "usd": NaN}}]}}',
        b'{"capability": {"needs": [{"costPerCall": {"op": "<=", "usd": 1e999}}]}}',
        pytest.param(b"[" * 100_000, id="100,000 brackets"),
        pytest.param(b"[" * 100 + b"]" * 100, id="100 lists"),
        pytest.param(b'{"capability":' + b'{"a":' * 400 + b"1" + b"}" * 401, id="400 objects"),
        b'{"capability": "look", "capability": "look"}',
        b'{"capability": "\\ud800"}',
        b"null",
        b"[]",
    ],
)
@pytest.mark.parametrize("path", ["/v1/route", "/v1/explain", "/v1/providers"])
def test_bodies_that_are_no_request(shared: Kit, path: str, body: bytes) -> None:
    answer = shared.call("POST", path, body=body)
    assert answer.status in (400, 404)
    assert answer.code in ("invalid-request", "invalid-capability", "unknown-capability")


def test_a_body_is_json(shared: Kit) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "multipart/form-data; boundary=x"):
        answer = shared.post("/v1/route", body=b"{}", headers=[("Content-Type", kind)])
        refused(answer, 415, "unsupported-media-type")
    for kind in ("application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"):
        answer = shared.post("/v1/route", body=b'{"capability": "look"}', headers=[("Content-Type", kind)])
        assert answer.status == 200


def test_a_compressed_body_is_refused_by_its_header(shared: Kit) -> None:
    body = gzip.compress(b'{"capability": "look"}')
    for coding in ("gzip", "br", "identity, gzip"):
        answer = shared.post("/v1/route", body=body, headers=[("Content-Encoding", coding)])
        refused(answer, 415, "unsupported-media-type")
        message = answer.json()["error"]["message"]
        assert message == f"`Content-Encoding: {coding}` is not supported; send the body as it is, without that header"
    answer = shared.post("/v1/route", body=b'{"capability": "look"}', headers=[("Content-Encoding", "identity")])
    assert answer.status == 200


# Limits.


@pytest.mark.parametrize("path", ["/v1/route", "/v1/providers", "/v1/explain"])
def test_a_body_that_is_too_large(shared: Kit, path: str) -> None:
    big = b" " * (20 * 1024 * 1024)
    refused(shared.call("POST", path, body=big, headers=[("Content-Length", str(len(big)))]), 413, "body-too-large")
    refused(shared.call("POST", path, body=[big[: 64 * 1024]] * 20), 413, "body-too-large")


@pytest.mark.parametrize("path", ["/v1/route", "/v1/explain", "/v1/bundle"])
def test_a_question_that_is_too_large(shared: Kit, path: str) -> None:
    most = ServiceLimits().question
    body = json.dumps({"capability": "look"}).encode()
    for size, refusal in ((most, False), (most + 1, True)):
        answer = shared.call("POST", path, body=body.ljust(size))
        assert (answer.status == 413) is refusal
    assert shared.post("/v1/providers", {**registration("x"), "adapter_config": {"a": "x" * most}}).status == 201
    assert shared.post("/v1/providers/x/unregister").status == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/route", {"capability": "impossible"}),
        ("/v1/bundle", {"bundle": "thoughtful"}),
        ("/v1/explain", {"capability": "impossible"}),
    ],
)
def test_an_answer_that_is_too_large(tmp_path: Path, path: str, body: dict[str, Any]) -> None:
    whole = len(make_kit(tmp_path).post(path, body).body)
    kit = make_kit(tmp_path, limits=ServiceLimits(answer=whole // 2))
    if path != "/v1/bundle":  # its explanation is one piece
        refused(kit.post(path, body), 422, "answer-too-large")
    kit = make_kit(tmp_path, limits=ServiceLimits(answer=whole + 1))
    assert kit.post(path, body).code == "capability-unsatisfiable" if path != "/v1/explain" else True


def test_targets_and_headers_that_are_too_large(shared: Kit) -> None:
    refused(shared.get("/v1/capabilities?feature=" + "a" * 9000), 414, "target-too-long")
    refused(shared.get("/v1/capabilities", headers=[("X-Large", "a" * 17_000)]), 431, "headers-too-large")


def test_a_body_that_takes_too_long(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, limits=ServiceLimits(receive_seconds=0.05))
    answer = kit.call("POST", "/v1/route", body=[])
    refused(answer, 408, "request-timeout")


def test_an_answer_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time  # noqa: PLC0415

    kit = make_kit(tmp_path, limits=ServiceLimits(answer_seconds=0.05))
    monkeypatch.setattr(type(kit.service), "vocabulary", lambda self, caller: time.sleep(0.3))
    refused(kit.get("/v1/vocabulary"), 503, "answer-timeout")


def test_a_fault_of_our_own_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kit = make_kit(tmp_path)

    def fail(*_: Any) -> None:
        raise RuntimeError("the secret is hunter2")

    monkeypatch.setattr(type(kit.service), "vocabulary", fail)
    answer = kit.get("/v1/vocabulary")
    refused(answer, 500, "internal-server-error")
    assert b"hunter2" not in answer.body


# The framework's own errors, and what every answer has.


@pytest.mark.parametrize(
    "path", ["/nowhere", "/v1", "/v1/", "/v1/capabilities/", "//", "/v1/providers/a/b", "/v1/route/"]
)
def test_nothing_at_this_path(shared: Kit, path: str) -> None:
    refused(shared.get(path), 404, "not-found")
    refused(shared.get(path, None), 404, "not-found")


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "NONSENSE"])
@pytest.mark.parametrize("path", ["/v1/capabilities", "/v1/route", "/healthz", "/v1/providers/x/unregister"])
def test_methods_that_a_path_does_not_take(shared: Kit, method: str, path: str) -> None:
    answer = shared.call(method, path)
    refused(answer, 405, "method-not-allowed")
    assert answer.headers["allow"] in ("GET, HEAD", "POST")


def test_paths_may_be_encoded(shared: Kit) -> None:
    assert shared.get("/v1/%63apabilities").status == 200
    refused(shared.get("/v1%2Fcapabilities"), 404, "not-found")
    refused(shared.get("/v1/capabilities/%ff"), 400, "bad-input")
    refused(shared.post("/v1/providers/%ff/unregister"), 400, "bad-input")


@pytest.mark.parametrize("given", ["abc-123", "a" * 128, "A.b_c~d:e@f/g+h=i", "0"])
def test_a_callers_request_id_is_kept(shared: Kit, given: str) -> None:
    for path in ("/healthz", "/v1/capabilities", "/nowhere"):
        assert shared.get(path, headers=[("X-Request-Id", given)]).headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a" * 129, "a b", "a\tb", '"', "<script>", "\xe9", "a;b", "{}", "a\\n"])
def test_unsafe_request_id_is_replaced(shared: Kit, given: str) -> None:
    found = shared.get("/nowhere", headers=[("X-Request-Id", given)])
    assert found.headers["x-request-id"] != given
    assert len(found.headers["x-request-id"]) == 32
    assert found.code == "not-found"


def test_what_is_known_without_a_token(kit: Kit) -> None:
    assert kit.get("/healthz", None).json() == {"status": "ok"}
    ready = kit.get("/readyz", None).json()
    assert ready["status"] == "ready"
    assert ready["pack"]["digest"] == kit.service.packs.current.digest
    kit.post("/v1/route", {"capability": "look"})
    kit.post("/v1/route", {"capability": "impossible"})
    kit.post("/v1/route", {"capability": 5})
    text = kit.get("/metrics", None).body.decode()
    for line in (
        'whyroute_routes_total{outcome="picked"} 1.0',
        'whyroute_routes_total{outcome="unsatisfiable"} 1.0',
        'whyroute_routes_total{outcome="refused"} 1.0',
        'whyroute_most_rejecting_total{constraint="needs/1"} 1.0',
        'whyroute_requests_total{method="POST",route="/v1/route",status="422"} 1.0',
    ):
        assert line in text
    assert 'whyroute_request_seconds_bucket{le="0.001",route="/v1/route"}' in text
    assert "alpha" not in text


def test_the_words_that_a_request_may_use(shared: Kit) -> None:
    found = shared.get("/v1/vocabulary").json()
    assert found["tenant"] == "alpha"
    assert found["capabilities"][1] == {"name": "look", "declaration": {"needs": [{"feature": "vision"}]}}
    assert found["regions"] == ["eu", "eu-central-1", "eu-west-1", "us-east-1"]
    assert {"id": "alpha-only", "models": ["secret-model"]} in found["providers"]
    assert b"alpha-only" not in shared.get("/v1/vocabulary", "beta").body


# Without tokens.


def test_without_tokens_one_tenant_is_served(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, tenant="beta")
    assert kit.get("/v1/capabilities", None).status == 200
    answer = kit.post("/v1/route", {"capability": "impossible"}, None)
    assert answer.json()["error"]["details"]["tenantId"] == "beta"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ([("Host", "evil.example:8000")], "foreign-host"),
        ([("Host", "")], "foreign-host"),
        ([("Host", "localhost.evil.example")], "foreign-host"),
        ([("Host", "127.0.0.2.evil.example")], "foreign-host"),
        ([("Host", "10.0.0.1")], "foreign-host"),
        ([("Host", "[::1].evil.com")], "foreign-host"),
        ([("Host", "[::1]evil.com:8000")], "foreign-host"),
        ([("Host", "localhost:8000@evil.com")], "foreign-host"),
        ([("Host", "localhost:evil.com")], "foreign-host"),
        ([("Host", "[localhost]:8000")], "foreign-host"),
        ([("Host", "localhost:8000"), ("Origin", "https://evil.example")], "foreign-origin"),
        ([("Host", "localhost:8000"), ("Origin", "null")], "foreign-origin"),
        ([("Host", "localhost:8000"), ("Origin", "http://localhost:9000")], "foreign-origin"),
    ],
)
def test_without_tokens_no_page_from_elsewhere_gets_through(
    tmp_path: Path, headers: list[tuple[str, str]], code: str
) -> None:
    kit = make_kit(tmp_path, tenant="beta")
    assert kit.get("/v1/capabilities", None, headers=headers).code == code
    for host in ("localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST", "127.0.0.2:8000"):
        assert kit.get("/healthz", None, headers=[("Host", host), ("Origin", f"http://{host}")]).status == 200
