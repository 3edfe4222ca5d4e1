"""The page at `/`: the server's own files, and a policy that lets nothing else in."""

from functools import cache
from importlib.resources import files
from typing import Final

from ...render.page import colours, page_sources

__all__ = ["PAGE_FILES", "page_file", "page_policy"]

PAGE_FILES: Final = {"app.css": "text/css", "app.js": "text/javascript"}
"""What the page loads, each with its media type."""


@cache
def page_file(name: str) -> bytes:
    """One of the page's files. The style sheet begins with the colours of the explanation that the page shows."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    return (colours() + text if name == "app.css" else text).encode()


@cache
def page_policy() -> str:
    """The Content Security Policy of the page.

    The explanation is shown in a frame without an origin, which inherits this policy: it admits the explanation's own
    style and script by their hashes, and no other text.
    """
    style, script = page_sources()
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' '{script}'",
            f"style-src 'self' '{style}'",
            "connect-src 'self'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
