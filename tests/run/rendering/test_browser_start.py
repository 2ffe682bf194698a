"""How long a browser may take to start: Playwright has a limit of its own, which a busy machine would meet first."""

from __future__ import annotations

import asyncio
from pathlib import Path
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


@pytest.mark.servers
def test_what_playwright_switches_off_stays_off(tmp_path: Path) -> None:
    """Chromium reads the last list of features alone, and ours comes after that of Playwright."""
    pytest.importorskip("playwright.async_api")
    program = tmp_path / "browser"
    program.write_text('#!/bin/sh\necho "$@" > "$0.words"\nexit 1\n')
    program.chmod(0o755)

    async def start() -> None:
        browser = Browser(str(program), "test", JavascriptSection())
        with pytest.raises(RenderingError):
            await browser.render("http://h.test/", b"", {}, lambda *_: None, JavascriptSection())  # type: ignore[arg-type]

    asyncio.run(start())
    beginning = "--disable-features="
    words = (tmp_path / "browser.words").read_text().split()
    lists = [set(word.removeprefix(beginning).split(",")) for word in words if word.startswith(beginning)]
    assert set.union(*lists) == lists[-1]
    assert len(lists[0]) < len(lists[-1]), "the list of Playwright is the first"
