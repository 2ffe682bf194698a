"""The `javascript` section of a source: which pages are rendered in a browser, and what is indexed."""

from typing import Any, ClassVar

from pydantic import Field, model_validator

from ultracrawl.sources.sections.scope.boundary import UriPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.selectors import CssSelector
from ultracrawl.sources.values import AutoUse, Seconds, Size


class JavascriptSection(Section):
    """Rendering of pages in Chromium (FAST 5.1 G48 to G50)."""

    FETCH_OPTIONS: ClassVar = frozenset({"delay", "timeout", "pages", "memory", "browser"})

    use: AutoUse = Field(default=False, examples=["auto"])
    """Run the scripts of pages, and follow the links of the rendered page. `auto`: only of pages that have next to no
    text, or no links to other pages, as the server sent them. `javascript: auto` is short for this option."""
    urls: UriPatterns = Field(default=(), examples=[["https://www.example.com/app/"]])
    """Render only pages whose URL matches one of these rules. None: all pages with scripts."""
    keep_html: bool | None = Field(default=None, examples=[True])
    """Index the rendered page. If off, index the page as the server sent it. None: the rendered page if the server
    sent next to no text."""
    wait: Seconds = Field(default=0.0, examples=[1])
    """Seconds that a page is left alone after loading."""
    wait_for: CssSelector | None = Field(default=None, examples=[".results a"])
    """CSS selector of an element. A page is not complete before it has one, for at most `max_wait` seconds."""
    quiet_time: Seconds = Field(default=0.15, examples=[0.5])
    """Seconds without a request after which a page is complete. It waits for timers of up to 2 seconds, too."""
    max_wait: Seconds = Field(default=5.0, examples=[10])
    """Seconds after which a page is taken as it is: after loading, for `wait_for`, and for scrolling."""
    scrolls: int = Field(default=20, ge=0, le=1000, examples=[100])
    """How often a page that loads more when it is scrolled is scrolled to its end. 0: never."""
    hash_routes: bool = Field(default=False, examples=[True])
    """URLs that differ in a fragment like `#/path` or `#!path` are different pages: routes of an application."""
    post_data: bool = Field(default=False, examples=[True])
    """Send what scripts ask the origin of the page for by POST, such as GraphQL. Such requests may change data."""
    delay: Seconds | None = Field(default=None, examples=[0.5])
    """Seconds between requests for the parts of pages, per site. None: they wait for the turn of the site as pages do
    (`politeness.delay`). With `robots.obey_delay`, a delay in robots.txt replaces it."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds by the clock on the wall after which rendering is given up. The page is opened again at the end of the
    run, alone. If it takes too long then, too, it is used as the server sent it."""
    pages: int = Field(default=2, ge=1, le=64, examples=[4])
    """Maximum number of pages open at once."""
    parts: int = Field(default=100, ge=0, le=10_000, examples=[30])
    """Maximum number of requests for scripts, data and frames per page."""
    bytes: Size = Field(default=64 << 20, gt=0, examples=["16 MB"])
    """Maximum bytes of scripts, data and frames per page."""
    memory: Size = Field(default=1 << 30, gt=0, examples=["500 MB"])
    """Maximum memory of a page in the browser (on Linux). All pages and the browser together may have this much for
    each of `pages`, and once more."""
    browser: str | None = Field(default=None, examples=["/usr/bin/chromium"])
    """The browser program. None: the Chromium or Chrome of the system."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        return {"use": data} if isinstance(data, bool | str) else data
