"""How long a browser may take to start: Playwright has a limit of its own, which a busy machine would meet first."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from ultracrawl.run.rendering.browser import Browser
from ultracrawl.run.rendering.not_rendered import NotRendered, RenderingError
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection
from ultracrawl.system.wall_guard import LEAST_WALL_SECONDS


def test_the_start_of_a_browser_is_bounded_as_a_busy_machine_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    playwright = pytest.importorskip("playwright.async_api")
    given: list[dict[str, Any]] = []

    async def launch(**options: Any) -> None:
        given.append(options)
        raise OSError("no browser")

    async def nothing() -> None:
        """Stop the driver."""

    async def start() -> Any:
        return SimpleNamespace(chromium=SimpleNamespace(launch=launch), stop=nothing)

    monkeypatch.setattr(playwright, "async_playwright", lambda: SimpleNamespace(start=start))
    browser = Browser("/chromium", "test", JavascriptSection())
    with pytest.raises(RenderingError) as failed:
        asyncio.run(browser.render("http://h.test/", b"", {}, lambda *_: None, JavascriptSection()))  # type: ignore[arg-type]
    assert failed.value.fault is NotRendered.BROWSER
    assert given[0]["timeout"] >= 1000 * LEAST_WALL_SECONDS
