"""The page of a bundle in a browser: by keyboard, at three widths, in both themes, without network."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from page_cases import hostile_bundle
from paths import ROOT
from tabs import WIDTHS, Tab, active, contrast
from whyroute.providers.provider_files import read_providers
from whyroute.render.page import bundle_page
from whyroute.wire.request import read_bundle_request

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("bundles")
    providers = read_providers(ROOT / "rules" / "catalog.yaml")
    found = {}
    for name in ("bundle", "bundle-impossible", "hostile"):
        if name == "hostile":
            document = hostile_bundle(satisfiable=True)
        else:
            document = json.loads((ROOT / "rules" / "requests" / f"{name}.json").read_text(encoding="utf-8"))
            document["providers"] = providers
        request = read_bundle_request(document)
        found[name] = directory / f"{name}.html"
        page = bundle_page(request.explanation(request.solve()))
        found[name].write_text(page, encoding="utf-8", newline="\n")
    return found


@pytest.mark.parametrize("name", ["bundle", "bundle-impossible", "hostile"])
def test_the_page_never_scrolls_sideways(tab: Tab, name: str) -> None:
    page = tab.open(name, WIDTHS[0])
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(f"innerWidth === {width}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_clash_is_highlighted_by_keyboard_alone(tab: Tab) -> None:
    page = tab.open("bundle-impossible")
    for _ in range(10):
        page.keyboard.press("Tab")
        assert active(page, "getComputedStyle(element).outlineStyle") in ("solid", "auto")
        if active(page, "element.className.includes('toggle')"):
            break
    assert active(page, "element.textContent") == "Highlight clash 1 among the slots"
    page.keyboard.press("Enter")
    first, second = page.locator("#clashes .toggle").all()[:2]
    expect(first).to_have_attribute("aria-pressed", "true")
    lit = page.locator("[data-constraint].lit").evaluate_all("all => all.map(each => each.dataset.constraint)")
    assert lit
    assert sorted(lit, key=int) == (first.get_attribute("data-constraints") or "").split()
    expect(page.locator("#announce")).to_have_text("Highlighted: Clash 1")
    second.click()
    expect(first).to_have_attribute("aria-pressed", "false")
    expect(second).to_have_attribute("aria-pressed", "true")
    second.click()
    expect(page.locator(".lit")).to_have_count(0)


def test_slots_scroll_alone_on_a_narrow_screen(tab: Tab) -> None:
    page = tab.open("bundle", 320, 640)
    page.locator("#slots .scrolling").focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('#slots .scrolling').scrollLeft > 0")
    head = page.locator("#slots .pick th").bounding_box()
    assert head is not None
    assert head["x"] >= 0
    assert page.evaluate("scrollX") == 0


def test_the_patch_can_be_copied(tab: Tab) -> None:
    page = tab.open("bundle-impossible", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#ways summary").first.click()
    page.get_by_role("button", name="Copy the JSON Patch of way out 1").click()
    expect(page.locator(".copy").first).to_contain_text("Copied")
    assert json.loads(page.evaluate("navigator.clipboard.readText()")) == [{"op": "remove", "path": "/together/0"}]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_themes(tab: Tab, scheme: Any) -> None:
    page = tab.open("bundle", color_scheme=scheme)
    for selector in (".lede", "#slots .pick .model", "#slots .facts", "#slots .share", "#slots .none", ".between td"):
        assert contrast(page, selector) >= 4.5, selector
    page = tab.open("bundle-impossible", color_scheme=scheme)
    page.locator("#clashes .toggle").first.click()
    for selector in ("#slots li.lit .id", "#slots li.lit .share", "#slots tr.lit .id", "#slots tr.lit td", ".gives dt"):
        assert contrast(page, selector) >= 4.5, selector


def test_it_reads_without_its_script(tab: Tab) -> None:
    page = tab.open("bundle-impossible", java_script_enabled=False)
    expect(page.locator(".scripted").first).to_be_hidden()
    expect(page.locator("#slots table")).to_be_visible()
    expect(page.locator("#ways .gives").first).to_be_visible()
