"""The service's page in a browser: signing in, why nothing qualifies, a way out, by keyboard alone, hostile names."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from serverkit import PACK, provider, serving, token_file

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>\"'`</script><script>alert(2)</script>"


class Desk:
    """The page of a server that runs."""

    def __init__(self, browser: Browser, url: str, token: str) -> None:
        self.browser = browser
        self.url = url
        self.token = token
        self.complaints: list[str] = []
        self.requested: set[str] = set()

    def open(self, width: int = 1280, *, sign_in: bool = True) -> Page:
        page = self.browser.new_context(viewport={"width": width, "height": 900}).new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: self.requested.add(request.url))
        page.goto(self.url)
        if sign_in:
            page.get_by_label("Token", exact=True).fill(self.token)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_label("Capability", exact=True)).to_be_visible()
        return page


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    directory = tmp_path_factory.mktemp("page")
    tokens = token_file(directory / "tokens.json")
    with serving(directory, "--tokens", "tokens.json") as process:
        url = process.url
        headers = {"Authorization": f"Bearer {tokens['alpha']}"}
        metadata = provider(HOSTILE, features=["batch"], model=HOSTILE, region=HOSTILE)
        answer = httpx.post(
            f"{url}/v1/providers", json={"metadata": metadata, "adapter_id": "x"}, headers=headers, timeout=30
        )
        assert answer.status_code == 201
        yield url, tokens["alpha"]


@pytest.fixture
def desk(browser: Browser, served: tuple[str, str]) -> Iterator[Desk]:
    desk = Desk(browser, *served)
    yield desk
    for context in browser.contexts:
        context.close()
    # That a token is refused is told on the console by the browser itself.
    assert [each for each in desk.complaints if "401" not in each and "422" not in each and "400" not in each] == []
    assert all(each.startswith((desk.url, "data:,", "about:")) for each in desk.requested)


def test_the_page_says_that_the_pack_is_kept(browser: Browser, tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    arguments = ("--tenant", "alpha", "--deployment", "one")
    pack.write_text(PACK.read_text("utf-8"), "utf-8")
    with serving(tmp_path, *arguments, pack=pack) as process:
        page = browser.new_page()
        page.goto(process.url)
        expect(page.get_by_label("Capability", exact=True)).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="kept")).to_have_count(0)
    pack.write_text("whyroute: 1\nrules: 5\n")
    with serving(tmp_path, *arguments, pack=pack) as process:
        since = process.event("pack-kept")["since"]
        page.goto(process.url)
        told = f"The rule pack can't be loaded. This one was kept at {since}."
        expect(page.get_by_role("status").filter(has_text=told)).to_be_visible()
    page.close()


def active(page: Page, expression: str) -> Any:
    return page.evaluate(f"(element => {expression})(document.activeElement)")


def test_a_token_is_asked_for_and_kept_nowhere(desk: Desk) -> None:
    page = desk.open(sign_in=False)
    expect(page.get_by_label("Capability", exact=True)).to_be_hidden()
    page.get_by_label("Token", exact=True).fill("wr_nonsense")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("the token is not recognised")
    page.get_by_label("Token", exact=True).fill(desk.token)
    page.keyboard.press("Enter")
    expect(page.locator("#who")).to_have_text("tenant alpha")
    assert desk.token not in page.content()
    assert page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])") == '[{},{},""]'
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Token", exact=True)).to_be_visible()
    expect(page.get_by_label("Token", exact=True)).to_have_value("")


def test_why_nothing_qualifies_and_a_way_out(desk: Desk) -> None:
    page = desk.open()
    page.get_by_label("Capability", exact=True).select_option("impossible")
    expect(page.locator("#verdict")).to_have_text("Nothing qualifies")
    expect(page.locator("#because")).to_contain_text("contextWindow>=500000 (yours) and region=eu (yours)")
    frame = page.frame_locator("#explanation")
    expect(frame.locator("h1")).to_contain_text("Nothing qualifies")
    expect(frame.get_by_role("grid")).to_be_visible()
    expect(page.locator("#way-list li").filter(has_text="Not yours to change")).to_contain_text(
        "tenant.regionAllow[eu]"
    )
    page.get_by_role("button", name="Try it").first.click()
    expect(page.locator("#verdict")).to_contain_text("Picks")
    assert json.loads(page.get_by_label("Declaration", exact=True).input_value())["needs"][1] == {
        "contextWindow": {"op": ">=", "value": 64000}
    }
    expect(page.get_by_label("Capability", exact=True)).to_have_value("")
    expect(frame.locator("h1")).to_contain_text("is the pick")
    page.get_by_role("button", name="Route it").click()
    expect(page.locator("#routed")).to_contain_text("Routed: ")
    assert active(page, "element.id") == "answer"


def test_by_keyboard_alone(desk: Desk) -> None:
    page = desk.open(sign_in=False)
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    page.keyboard.type(desk.token)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Capability", exact=True)).to_be_focused()
    page.keyboard.press("l")  # look
    expect(page.locator("#verdict")).to_contain_text("Picks")
    page.keyboard.press("Tab")
    assert active(page, "element.id") == "declaration"
    page.keyboard.press("Control+a")
    page.keyboard.type('{"needs": [{"feature": "batc')
    expect(page.get_by_role("option", name="batch")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.type('}, {"region": "us')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert active(page, "element.getAttribute('aria-activedescendant')") == "word-0"
    page.keyboard.press("Enter")
    page.keyboard.type("}]}")
    assert json.loads(page.get_by_label("Declaration", exact=True).input_value()) == {
        "needs": [{"feature": "batch"}, {"region": "us-east-1"}]
    }
    page.keyboard.press("Control+Enter")
    expect(page.locator("#verdict")).to_have_text("Nothing qualifies")
    expect(page.locator("#routed")).to_contain_text("Routed: no registered provider satisfies")
    for _ in range(30):
        page.keyboard.press("Tab")
        outline = active(page, "getComputedStyle(element).outlineStyle")
        assert outline in ("solid", "auto") or active(page, "element.tagName") in ("IFRAME", "BODY")
        if active(page, "element.id") == "why-provider":
            break
    page.keyboard.type("us-llm")
    page.keyboard.press("Tab")
    page.keyboard.type("huge")
    page.keyboard.press("Enter")
    expect(page.locator("#contrast-told")).to_contain_text("us-llm / huge does not qualify")


def test_escape_closes_the_words(desk: Desk) -> None:
    page = desk.open()
    page.get_by_label("Capability", exact=True).select_option("")
    page.get_by_label("Declaration", exact=True).fill("")
    page.get_by_label("Declaration", exact=True).press_sequentially('{"ne')
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(page.locator("#declaration-error")).to_contain_text("not JSON")
    expect(page.locator("#stale")).to_be_visible()


def test_a_declaration_that_is_broken_is_told_of(desk: Desk) -> None:
    page = desk.open()
    page.get_by_label("Declaration", exact=True).fill('{"needs": [{"feature": "visoin"}]}')
    expect(page.locator("#declaration-error")).to_contain_text("/capability/needs/0/feature")
    expect(page.locator("#declaration-error")).to_contain_text("did you mean")


def test_hostile_names_are_text(desk: Desk) -> None:
    page = desk.open()
    page.get_by_label("Declaration", exact=True).fill('{"needs": [{"feature": "batch"}]}')
    expect(page.locator("#because")).to_contain_text("feature:batch (yours)")
    page.get_by_label("Provider", exact=True).fill(HOSTILE)
    page.get_by_label("Model", exact=True).fill(HOSTILE)
    page.get_by_role("button", name="Ask").click()
    expect(page.locator("#contrast-told")).to_contain_text(HOSTILE)
    expect(page.frame_locator("#explanation").locator("#contrast")).to_contain_text("<img src=x")
    assert page.locator("img").count() == 0
    assert page.frame_locator("#explanation").locator("img").count() == 0


def test_it_never_scrolls_sideways(desk: Desk) -> None:
    page = desk.open(320)
    page.get_by_label("Capability", exact=True).select_option("impossible")
    expect(page.locator("#verdict")).to_have_text("Nothing qualifies")
    for width in (320, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_page_loads_nothing_but_its_own(served: tuple[str, str], tmp_path: Path) -> None:
    url, _ = served
    answer = httpx.get(url)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self' 'sha256-")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert httpx.get(f"{url}/page/app.js").headers["content-type"] == "text/javascript; charset=utf-8"
    for name in ("index.html", "__init__.py", "..%2Fapp.py", "../app.py"):
        assert httpx.get(f"{url}/page/{name}").status_code == 404
