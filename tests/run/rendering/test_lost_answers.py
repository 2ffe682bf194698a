"""What the crawler sent is not what a page got: answers are lost on their way, and some are not wanted any more."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable

import psutil
import pytest
from playwright.async_api import Route
from support.chromium import end_network_process
from support.requirement import require

from ultracrawl.run.rendering.browser import PROGRAMS, Browser
from ultracrawl.run.rendering.not_rendered import NotRendered, RenderingError
from ultracrawl.run.rendering.open_page import PartAnswer, PartRequest, Rendered
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

pytestmark = pytest.mark.servers

URL = "http://www.example.com/"
OTHER = "http://other.example.com/"
OPTIONS = JavascriptSection(use=True, max_wait=60, timeout=200)
SCRIPT = {"content-type": "text/javascript"}
ASK = "<script>fetch('/{}').then(a => a.text(), () => 'lost').then(t => document.body.append(t))</script>"
WORK = "fetch('/in-worker').then(a => a.text(), () => 'lost').then(postMessage)"
WORKER = "<script>new Worker('/worker').onmessage = one => document.body.append(one.data)</script>"

Render = Callable[..., Awaitable[Rendered]]


@pytest.fixture
def program() -> str:
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    require(found, "Chromium", "chromium")
    assert found is not None
    return found


def in_browser(program: str, scenario: Callable[[Render], Awaitable[None]]) -> None:
    """Run a scenario with a function that renders a page, given its HTML and what answers its requests."""

    async def run() -> None:
        browser = Browser(program, "test", OPTIONS)
        html = {"content-type": "text/html"}

        async def render(
            body: str, fetch: Callable[[PartRequest], Awaitable[PartAnswer]], options: object = OPTIONS
        ) -> Rendered:
            assert isinstance(options, JavascriptSection)
            return await browser.render(URL, f"<body>{body}".encode(), html, fetch, options)

        try:
            await scenario(render)
        finally:
            await browser.close()

    asyncio.run(run())


async def data(request: PartRequest) -> PartAnswer:
    """Answer any request, some of them in a way that browsers refuse."""
    name = request.url.rpartition("/")[2]
    if name == "framed":
        return PartAnswer(200, {"content-type": "text/html", "x-frame-options": "DENY"}, b"<p>")
    if name == "nothing":
        return PartAnswer(204, {}, b"")
    return PartAnswer(200, SCRIPT, WORK.encode() if name == "worker" else b"0")


def test_a_page_that_was_open_when_the_network_process_died_is_not_taken_for_read(program: str) -> None:
    async def scenario(render: Render) -> None:
        for body, asked in (ASK.format("data"), "data"), (WORKER, "in-worker"):
            killed: list[str] = []

            async def fetch(
                request: PartRequest, asked: str = asked, killed: list[str] = killed
            ) -> PartAnswer:
                if request.url == URL + asked and not killed:
                    killed.append(asked)
                    end_network_process(psutil.Process())
                return await data(request)

            with pytest.raises(RenderingError) as raised:
                await render(body, fetch)
            assert (raised.value.fault, killed) == (NotRendered.BROWSER, [asked])
            assert raised.value.fault.may_pass
            again = await render(body, fetch)
            assert again.html.endswith(("0</body></html>", "0</body>"))
            assert (again.lacks_parts, again.is_whole) == (False, True)

    in_browser(program, scenario)


LOSSES = {
    "data": ASK.format("lost"),
    "script": "<script src=/lost></script>",
    "module": "<script type=module>import '/lost'</script>",
    "frame": "<iframe src=/lost></iframe>",
}


@pytest.mark.parametrize("fault", ["broken off", "not taken"])
def test_an_answer_that_did_not_reach_the_page_is_a_missing_part(
    program: str, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    fulfill = Route.fulfill

    async def lose(route: Route, **answer: object) -> None:
        if not route.request.url.endswith("/lost"):
            await fulfill(route, **answer)  # type: ignore[arg-type]
            return
        await route.abort("failed" if fault == "broken off" else "blockedbyclient")
        if fault == "not taken":
            raise RuntimeError("the browser does not take it")

    async def scenario(render: Render) -> None:
        for name, body in LOSSES.items():
            assert (await render(body, data)).lacks_parts, name
        assert not (await render(ASK.format("data"), data)).lacks_parts

    monkeypatch.setattr(Route, "fulfill", lose)
    in_browser(program, scenario)


UNWANTED = {
    "given up": "<script>const c = new AbortController();"
    "fetch('/slow', {signal: c.signal}).catch(() => fetch('/done'));"
    "setTimeout(() => c.abort(), 50)</script>",
    "timeout": "<script>const x = new XMLHttpRequest(); x.open('GET', '/slow'); x.timeout = 50;"
    "x.ontimeout = () => fetch('/done'); x.send()</script>",
    "frame taken away": "<iframe id=f src=/slow></iframe>"
    "<script>setTimeout(() => { f.remove(); fetch('/done') }, 50)</script>",
    "frame without content": "<iframe src=/nothing></iframe>",
    "frame that may not be one": "<iframe src=/framed></iframe>",
    "data of another origin": f"<script>fetch('{OTHER}').catch(() => 0)</script>",
    "script that is another": "<script src=/data integrity='sha256-"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='></script>",
    "object that is gone": "<script>fetch('blob:http://www.example.com/1').catch(() => 0)</script>",
    "refused by the crawler": "<img src=/picture><script>fetch('/data', {method: 'PUT'}).catch(() => 0)</script>",
    "refused by the page": "<meta http-equiv=Content-Security-Policy content=\"connect-src 'none'\">"
    + ASK.format("data"),
    "left": "<script>fetch('/data').catch(() => 0); location = '/elsewhere'</script>",
}


def test_what_a_page_gives_up_or_a_browser_refuses_for_good_is_no_missing_part(program: str) -> None:
    async def scenario(render: Render) -> None:
        done = asyncio.Event()

        async def fetch(request: PartRequest) -> PartAnswer:
            if request.url == f"{URL}slow":
                await done.wait()
            elif request.url == f"{URL}done":
                done.set()
            return await data(request)

        for name, body in UNWANTED.items():
            done.clear()
            rendered = await render(body, fetch)
            assert (rendered.lacks_parts, rendered.is_whole) == (False, True), name

    in_browser(program, scenario)


def test_a_page_that_is_read_before_it_has_what_it_asked_for_is_not_whole(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fulfill, held = Route.fulfill, asyncio.Event()

    async def hold(route: Route, **answer: object) -> None:
        if route.request.url.endswith("/held"):
            await held.wait()
        await fulfill(route, **answer)  # type: ignore[arg-type]

    async def scenario(render: Render) -> None:
        impatient = JavascriptSection(use=True, max_wait=0.3, timeout=200)
        assert not (await render(ASK.format("held"), data, impatient)).is_whole
        polls = "<script>setInterval(() => fetch('/data').catch(() => 0), 10)</script>"
        assert (await render(polls, data, impatient)).is_whole, "it had its data before"
        held.set()

    monkeypatch.setattr(Route, "fulfill", hold)
    in_browser(program, scenario)
