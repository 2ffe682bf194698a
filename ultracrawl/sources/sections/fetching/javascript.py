"""The `javascript` section of a source: which pages are opened in a browser, and what is taken from there."""

from __future__ import annotations

from pydantic import Field

from ultracrawl.sources.sections.scope.boundary import UriPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds


class JavascriptSection(Section):
    """Scripts of pages are run in Chromium (FAST 5.1 G48 to G50)."""

    use: bool = Field(
        default=False,
        description="Run the scripts of pages, and follow the links of what they make of the page.",
        examples=[True],
    )
    urls: UriPatterns = Field(
        default=(),
        description="Only for pages whose URL one of these rules covers; without any, for all pages with scripts.",
        examples=[["https://www.example.com/app/"]],
    )
    keep_html: bool = Field(
        default=False,
        description="Index what scripts made of a page; if not, the page as the server sent it.",
        examples=[True],
    )
    delay: Seconds | None = Field(
        default=0.0,
        description="Seconds between requests for the parts of pages, by site; None: those of `politeness.delay`.",
        examples=[0.5],
    )
    timeout: Seconds = Field(
        default=30.0,
        gt=0,
        description="Seconds after which a page is taken as the server sent it.",
        examples=[10],
    )
    pages: int = Field(default=2, ge=1, le=64, description="Pages that are open at a time.", examples=[4])
    parts: int = Field(
        default=100,
        ge=0,
        le=10_000,
        description="Requests for scripts, data and frames that one page may cause.",
        examples=[30],
    )
    browser: str | None = Field(
        default=None,
        description="The program; without it, the Chromium or Chrome of the system.",
        examples=["/usr/bin/chromium"],
    )
