"""On a busy machine the browser takes an answer long before the page has it; the page is waited for all the same."""

from __future__ import annotations

import asyncio
import shutil
from typing import Any

import pytest
from playwright.async_api import Route
from support.requirement import require

from ultracrawl.run.rendering.browser import PROGRAMS, Browser
from ultracrawl.run.rendering.open_page import PartAnswer, PartRequest, Rendered
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

pytestmark = pytest.mark.servers

URL = "http://www.example.com/"
LATE = 1.0
"""Seconds by which answers are late: longer than a page is to be quiet."""
WRITE = "document.body.append(Object.assign(document.createElement('a'), {href: '/late'}))"
ADD = "document.body.append(Object.assign(document.createElement('script'), {src: '/part'}))"
IMPORT = "import('/part').then(part => part.write())"
REQUEST = f"""
const asked = new XMLHttpRequest();
asked.onload = () => {WRITE};
asked.open('GET', '/part');
asked.send();
"""


@pytest.fixture
def program() -> str:
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    require(found, "Chromium", "chromium")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("asks", "part"),
    [
        (f"fetch('/part').then(part => part.text()).then(() => {WRITE})", "1"),
        (f"fetch('/part').then(() => {WRITE})", "1"),
        (REQUEST, "1"),
        (ADD, WRITE),
        (IMPORT, f"export const write = () => {WRITE}"),
    ],
    ids=["text", "answer", "request", "script", "module"],
)
@pytest.mark.parametrize("event", ["load", "DOMContentLoaded"])
def test_what_a_page_gets_late_is_waited_for(
    program: str, monkeypatch: pytest.MonkeyPatch, event: str, asks: str, part: str
) -> None:
    options = JavascriptSection(use=True, max_wait=60, timeout=200)
    page = f"<!doctype html><body><script>addEventListener('{event}', () => {{ {asks} }})</script>"
    fulfill, given = Route.fulfill, set()

    async def fetch(request: PartRequest) -> PartAnswer:
        return PartAnswer(200, {"content-type": "text/javascript"}, part.encode())

    async def take(route: Route, **answer: Any) -> None:
        async def give() -> None:
            await asyncio.sleep(LATE)
            await fulfill(route, **answer)

        if route.request.url == URL:
            await fulfill(route, **answer)
        else:
            given.add(asyncio.create_task(give()))

    async def rendered() -> Rendered:
        browser = Browser(program, "test", options)
        try:
            return await browser.render(URL, page.encode(), {"content-type": "text/html"}, fetch, options)
        finally:
            await browser.close()

    monkeypatch.setattr(Route, "fulfill", take)
    assert 'href="/late"' in asyncio.run(rendered()).html
    assert len(given) == 1
