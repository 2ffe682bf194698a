"""How long a page is waited for, and what it loads when it is scrolled."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

WRITE = "document.body.insertAdjacentHTML('beforeend', '<p id=late>late <a href=/target>x</a>')"
ITEMS = """
const list = document.querySelector('ul');
let next = 0, busy = false;
const add = count => { for (; count; count--) list.insertAdjacentHTML('beforeend',
  `<li style="height: 200px"><a href=/item?${++next}>item</a>`) };
const more = () => {
  if (busy || next >= 60) return;
  busy = true;
  fetch('/more').then(() => { add(5); busy = false; });
};
add(5);
"""
WINDOW = """<ul></ul><script>%s
addEventListener('scroll', () => { if (innerHeight + scrollY > document.body.scrollHeight - 10) more(); });
</script>"""
BOX = """<div id=box style="height: 400px; overflow: auto"><ul></ul></div><script>%s
box.addEventListener('scroll', () => { if (box.scrollTop + 400 > box.scrollHeight - 10) more(); });
</script>"""
SEEN = """<ul></ul><div id=end>end</div><script>%s
new IntersectionObserver(seen => { if (seen.some(entry => entry.isIntersecting)) setTimeout(more, 100); }).observe(end);
</script>"""
BUSY = "const end = performance.now() + 1500; while (performance.now() < end);"


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


def found(site: Site, url: str, workspace: Workspace, script: str, options: Mapping[str, Any]) -> bool:
    """Whether what a script writes late is found; words and the link must agree."""
    site.file("/", f"<p>early</p><script>{script}</script>".encode(), "text/html")
    site.page("/target", text="target")
    site.respond("/slow", delay=3.0)
    workspace.define(f"{url}/", javascript={"use": True, "keep_html": True, **options})
    assert "javascript failed" not in workspace.crawl().run["rejected_by"]
    assert workspace.search("early") == ["/"]
    is_found = workspace.search("late") == ["/"]
    assert workspace.indexed() == (["/", "/target"] if is_found else ["/"])
    return is_found


@pytest.mark.parametrize(
    "script",
    [
        f"setTimeout(() => {WRITE}, 600)",
        f"setTimeout(() => setTimeout(() => {WRITE}, 900), 900)",
        f"addEventListener('load', () => setTimeout(() => {WRITE}, 1800))",
        f"fetch('/slow').then(() => {WRITE})",
        f"fetch('/fast').then(() => setTimeout(() => {WRITE}, 500))",
        f"requestIdleCallback(() => {WRITE})",
        f"setTimeout(() => {{ {BUSY} fetch('/slow').then(() => {WRITE}); }}, 500)",
    ],
    ids=[
        "timer",
        "chain of timers",
        "timer after load",
        "slow fetch",
        "fetch and timer",
        "idle",
        "busy before it asks",
    ],
)
def test_late_work_is_waited_for(site: Site, url: str, workspace: Workspace, script: str) -> None:
    assert found(site, url, workspace, script, {"max_wait": 20})


@pytest.mark.parametrize(
    ("script", "options", "is_found"),
    [
        (f"setTimeout(() => {WRITE}, 100_000)", {}, False),
        (f"setTimeout(() => {WRITE}, 3000)", {"wait": 5}, True),
        (f"setTimeout(() => {WRITE}, 3000)", {"wait_for": "#late a", "max_wait": 20}, True),
        (f"setTimeout(() => {WRITE}, 3000)", {"quiet_time": 5, "max_wait": 20}, True),
        (f"fetch('/held').then(() => {WRITE})", {"max_wait": 0.5}, False),
    ],
    ids=["no option", "wait", "wait_for", "quiet_time", "max_wait"],
)
def test_options_say_how_long(
    site: Site, url: str, workspace: Workspace, script: str, options: dict[str, Any], is_found: bool
) -> None:
    site.page("/held")
    held = site.hold("/held")
    assert found(site, url, workspace, script, options) == is_found
    held.set()


def test_an_element_that_does_not_come_is_reported(site: Site, url: str, workspace: Workspace) -> None:
    assert not found(site, url, workspace, "1", {"wait_for": "#never", "max_wait": 0.2})
    site.page("/", text="changed", head="<script>1</script>")
    (remark,) = workspace.crawl().run["remarks"]
    assert "#never" in remark


@pytest.mark.parametrize(
    "script",
    [
        "setInterval(() => fetch('/poll'), 20)",
        "setTimeout(function again() { setTimeout(again, 100); }, 100)",
        "try { window[Symbol.for('ultracrawl')] = () => ({due: 1, watches: 1}); "
        "Object.defineProperty(window, Symbol.for('ultracrawl'), {value: 1}); } catch {}",
        "for (const name of Object.getOwnPropertySymbols(window)) window[name] = () => ({due: NaN})",
        "setTimeout = undefined; addEventListener = null; IntersectionObserver = 1",
    ],
    ids=["polling", "timers for ever", "state of its own", "state of no use", "without functions"],
)
def test_a_page_that_is_never_quiet_is_taken_as_it_is(
    site: Site, url: str, workspace: Workspace, script: str
) -> None:
    assert found(site, url, workspace, f"{script}; {WRITE}", {"max_wait": 2, "parts": 10_000})


@pytest.mark.parametrize("page", [WINDOW, BOX, SEEN], ids=["window", "box", "observer"])
@pytest.mark.parametrize(("scrolls", "least", "most"), [(100, 60, 60), (2, 10, 30), (0, 5, 15)])
def test_lists_that_grow_when_they_are_scrolled(
    site: Site, url: str, workspace: Workspace, page: str, scrolls: int, least: int, most: int
) -> None:
    site.file("/", (page % ITEMS).encode(), "text/html")
    site.dynamic("/more", lambda request: Reply(200, (), b"x"))
    site.dynamic(
        "/item*", lambda request: Reply(200, (("Content-Type", "text/html"),), request.path.encode())
    )
    workspace.define(f"{url}/", javascript={"use": True, "scrolls": scrolls, "max_wait": 60, "timeout": 120})
    workspace.crawl()
    items = sum(path.startswith("/item") for path in workspace.indexed())
    assert least <= items <= most


PARTS = """
for (let number = 0; number < 5; number++) fetch('/part' + number).then(answer => answer.text()).then(text =>
  document.body.insertAdjacentHTML('beforeend', `<p>${text} <a href=/of${number}>x</a>`));
"""


@pytest.mark.parametrize("options", [{"delay": 1.5}, {"delay": None}], ids=["fast_50", "of the pages"])
def test_waiting_for_the_turn_of_a_site_is_no_quiet_time_of_a_page(
    site: Site, url: str, workspace: Workspace, options: dict[str, Any]
) -> None:
    site.file("/", f"<p>early</p><script>{PARTS}</script>".encode(), "text/html")
    for number in range(5):
        site.file(f"/part{number}", f"part{'abcde'[number]}".encode(), "text/plain")
        site.page(f"/of{number}", text=f"page of {number} and its own words")
    javascript = {"use": True, "keep_html": True, "max_wait": 4, **options}
    workspace.define(f"{url}/", javascript=javascript, politeness={"delay": 1.5})
    workspace.crawl()
    for letter in "abcde":
        assert workspace.search(f"part{letter}") == ["/"], letter
    assert workspace.indexed() == ["/", *(f"/of{number}" for number in range(5))]


def test_a_page_that_asks_again_and_again_under_a_delay_is_read(
    site: Site, url: str, workspace: Workspace
) -> None:
    script = "const ask = () => fetch('/poll?' + Math.random()).then(ask); ask(); " + WRITE
    site.file("/", f"<p>early</p><script>{script}</script>".encode(), "text/html")
    site.dynamic("/poll*", lambda request: Reply(200, (), b"x"))
    site.page("/target", text="target")
    javascript = {"use": True, "keep_html": True, "max_wait": 0.5, "timeout": 20, "delay": 0.3}
    workspace.define(f"{url}/", javascript=javascript)
    assert "javascript failed" not in workspace.crawl().run["rejected_by"]
    assert workspace.search("late") == ["/"]
