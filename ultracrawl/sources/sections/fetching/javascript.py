"""The `javascript` section of a source: which pages are opened in a browser, and what is taken from there."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from ultracrawl.sources.sections.scope.boundary import UriPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds


class JavascriptSection(Section):
    """Scripts of pages are run in Chromium (FAST 5.1 G48 to G50)."""

    FETCH_OPTIONS: ClassVar = frozenset({"delay", "timeout", "pages", "browser"})

    use: bool = Field(default=False, examples=[True])
    """Run the scripts of pages, and follow the links of what they make of the page."""
    urls: UriPatterns = Field(default=(), examples=[["https://www.example.com/app/"]])
    """Only for pages whose URL one of these rules covers; without any, for all pages with scripts."""
    keep_html: bool = Field(default=False, examples=[True])
    """Index what scripts made of a page; if not, the page as the server sent it."""
    delay: Seconds | None = Field(default=0.0, examples=[0.5])
    """Seconds between requests for the parts of pages, by site; None: those of `politeness.delay`."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds after which a page is taken as the server sent it."""
    pages: int = Field(default=2, ge=1, le=64, examples=[4])
    """Pages that are open at a time."""
    parts: int = Field(default=100, ge=0, le=10_000, examples=[30])
    """Requests for scripts, data and frames that one page may cause."""
    browser: str | None = Field(default=None, examples=["/usr/bin/chromium"])
    """The program; without it, the Chromium or Chrome of the system."""
