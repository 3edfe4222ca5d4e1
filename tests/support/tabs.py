"""Pages open in a browser, and what is asked of them; a plugin of pytest with the fixtures of its tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDTHS = (320, 768, 1440)
FOCUSED = "document.activeElement"


class Tab:
    """Opens pages, and notes what they ask of the network and complain about."""

    def __init__(self, browser: Browser, files: dict[str, Path]) -> None:
        self.browser = browser
        self.files = files
        self.requested: list[str] = []
        self.complaints: list[str] = []

    def open(self, name: str, width: int = 1440, height: int = 900, **options: Any) -> Page:
        context = self.browser.new_context(viewport={"width": width, "height": height}, **options)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("request", lambda request: self.requested.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        page.goto(self.files[name].as_uri())
        return page


def active(page: Page, expression: str) -> Any:
    return page.evaluate(f"(element => {expression})({FOCUSED})")


def contrast(page: Page, selector: str) -> float:
    """The contrast ratio of an element's text against the first opaque background behind it (WCAG 2.2)."""
    found: float = page.evaluate(
        """selector => {
          for (const each of document.getAnimations()) each.finish();
          const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
          const rgba = text => {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = text;
            canvas.fillRect(0, 0, 1, 1);
            return canvas.getImageData(0, 0, 1, 1).data;
          };
          const luminance = color => {
            const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
            const [r, g, b] = [...color].slice(0, 3).map(v => linear(v / 255));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const element = document.querySelector(selector);
          const front = luminance(rgba(getComputedStyle(element).color));
          let behind = element;
          const fill = each => each ? rgba(getComputedStyle(each).backgroundColor) : rgba("white");
          while (fill(behind)[3] < 255) behind = behind.parentElement;
          const back = luminance(fill(behind));
          return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
        }""",
        selector,
    )
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium")
    if executable is None:
        if os.environ.get("CI"):
            pytest.fail("no `chromium` on the PATH; install it (on Debian: apt-get install chromium)")
        pytest.skip("no `chromium` on the PATH: the page is not tried in a browser")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (only these tests need it)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Browser, files: dict[str, Path]) -> Iterator[Tab]:
    tab = Tab(browser, files)
    yield tab
    for context in browser.contexts:
        context.close()
    assert tab.complaints == []
    assert {url for url in tab.requested if not url.startswith("file:")} == set()
