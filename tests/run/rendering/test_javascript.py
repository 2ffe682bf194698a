"""Pages that their scripts write, opened in a real Chromium."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from support.clock import monotonic_time
from support.pace import kept
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

SHELL = """<html lang=en><head><title>Shell</title></head><body><p id=p>static words</p>
<script src="/app.js"></script></body></html>"""
APP = """
document.title = "Written";
document.getElementById("p").textContent = "dynamic words";
fetch("/data.json").then(answer => answer.json()).then(data => {
  for (const one of data) document.body.insertAdjacentHTML("beforeend", `<a href="${one}">item ${one}</a>`);
});
"""
TOO_LONG = 15
"""Seconds that are enough for a page of few words, however busy the machine is."""


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


@pytest.fixture
def app(site: Site) -> Site:
    site.file("/", SHELL.encode(), "text/html")
    site.file("/app.js", APP.encode(), "text/javascript")
    site.file("/data.json", b'["/one", "/two"]', "application/json")
    site.page("/one", text="needle one")
    site.page("/two", text="needle two")
    return site


def define(workspace: Workspace, url: str, **options: Any) -> None:
    javascript = {"use": True, **options.pop("javascript", {})}
    workspace.define(f"{url}/", javascript=javascript, **options)


@pytest.mark.parametrize(
    ("options", "links", "words"),
    [
        ({"use": False}, [], "static"),
        ({"keep_html": False}, ["/one", "/two"], "static"),
        ({"keep_html": True}, ["/one", "/two"], "dynamic"),
    ],
    ids=["fast_48_no", "fast_48_yes_49_no", "fast_49_yes"],
)
def test_scripts_write_links_and_text(
    app: Site, url: str, workspace: Workspace, options: dict[str, Any], links: list[str], words: str
) -> None:
    define(workspace, url, javascript=options)
    run = workspace.crawl(code=0 if links else 1).run
    assert run["cause"] == (None if links else "no-text"), "without its scripts it says next to nothing"
    assert workspace.indexed() == ["/", *links]
    assert workspace.search(words) == ["/"]
    assert workspace.search("title:Written") == (["/"] if words == "dynamic" else [])
    assert app.count("/") == 1, "the page is not asked for twice"
    agents = {request.header("User-Agent") for request in app.requests}
    assert len(agents) == 1, "a part is asked for by the crawler, not by the browser"
    if links:
        workspace.crawl()
        assert workspace.indexed() == ["/", *links], "an unchanged page keeps its links"


@pytest.mark.parametrize("keep", [False, True], ids=["as sent", "as written"])
def test_a_refresh_in_noscript_moves_no_page(app: Site, url: str, workspace: Workspace, keep: bool) -> None:
    notice = '<noscript><meta http-equiv="refresh" content="0; url=/two"><p>no scripts</noscript>'
    app.file("/", SHELL.replace("<title>", f"{notice}<title>").encode(), "text/html")
    define(workspace, url, javascript={"keep_html": keep})
    assert workspace.crawl().run["problems"] == []
    assert workspace.indexed() == ["/", "/one", "/two"]
    assert workspace.search("dynamic" if keep else "static") == ["/"]


def test_only_pages_that_a_rule_covers_are_opened(app: Site, url: str, workspace: Workspace) -> None:
    app.file("/app/", SHELL.encode(), "text/html")
    app.page("/", links=["/app/", "/static"], head="<script>document.write('written')</script>")
    define(workspace, url, javascript={"urls": [f"{url}/app/"], "keep_html": True})
    workspace.crawl()
    assert workspace.search("written") != ["/"]
    assert "/one" in workspace.indexed()


def test_p1_parts_keep_the_guard_the_boundary_and_robots_txt(
    app: Site, url: str, workspace: Workspace
) -> None:
    kept = f"{url}/kept.js"
    scripts = ["/secret.js", "/forbidden.js", "http://127.0.0.9:1/x.js", "http://10.0.0.1/x.js", kept]
    markup = "".join(f'<script src="{script}"></script>' for script in scripts)
    extra = "new WebSocket('ws://' + location.host + '/socket'); new Image().src = '/pixel.png';"
    app.file(
        "/",
        f"<p>x</p>{markup}<script>{extra} fetch('/post', {{method: 'POST'}})</script>".encode(),
        "text/html",
    )
    app.file("/kept.js", b"document.body.textContent = 'kept'", "text/javascript")
    app.robots("User-agent: *\nDisallow: /secret.js\n")
    with app.serve("127.0.0.2") as other:
        app.file("/kept.js", f"fetch('{other}/steal')".encode(), "text/javascript")
        boundary = {"networks": ["127.0.0.1/32"], "uris": {"exclude": [f"{url}/forbidden.js"]}}
        define(workspace, url, boundary=boundary)
        workspace.crawl()
    asked = app.page_paths()
    assert asked == {"/", "/kept.js"}


def test_a_script_that_leads_elsewhere_gives_a_link(app: Site, url: str, workspace: Workspace) -> None:
    app.file("/", b"<p>here</p><script>location.href = '/one'</script>", "text/html")
    define(workspace, url)
    workspace.crawl()
    assert workspace.indexed() == ["/", "/one"]


@pytest.mark.parametrize(
    "script",
    ["while (true) {}", "document.write('<script src=/slow.js><' + '/script>')"],
    ids=["busy", "slow"],
)
def test_a_page_that_takes_too_long_is_taken_as_it_came(
    app: Site, url: str, workspace: Workspace, script: str
) -> None:
    app.page("/slow.js")
    held = app.hold("/slow.js")
    app.file("/", f"<p>static</p><a href=/one>one</a><script>{script}</script>".encode(), "text/html")
    app.page("/one", text="needle", head="<script>document.title = 'later'</script>")
    define(workspace, url, javascript={"timeout": TOO_LONG, "keep_html": True})
    run = workspace.crawl().run
    held.set()
    assert workspace.search("static") == ["/"]
    assert workspace.search("title:later") == ["/one"], "the next page has a browser that works"
    assert run["rejected_by"]["javascript failed"] == 1


@pytest.mark.parametrize(
    "options",
    [{"delay": 1.0}, {"delay": None}],
    ids=["fast_50_seconds", "fast_50_the_delay_of_pages"],
)
def test_requests_for_parts_keep_a_delay(
    app: Site, url: str, workspace: Workspace, options: dict[str, Any]
) -> None:
    times: list[float] = []

    def part(request: Request) -> Reply:
        times.append(monotonic_time())
        return Reply(200, (("Content-Type", "text/javascript"),), b"")

    for name in "abc":
        app.dynamic(f"/{name}.js", part)
    scripts = b"".join(b"<script src=/%c.js></script>" % name for name in b"abc")
    app.file("/", b"<p>x" + scripts, "text/html")
    define(workspace, url, javascript=options, politeness={"delay": 1.0})
    workspace.crawl()
    assert len(times) == 3
    assert kept(sorted(times), 1.0)


def test_a_page_may_cause_so_many_requests(app: Site, url: str, workspace: Workspace) -> None:
    app.dynamic("/n*", lambda request: Reply(200, (), b"x"))
    app.file("/", b"<p>x<script>for (let i = 0; i < 50; i++) fetch('/n' + i)</script>", "text/html")
    define(workspace, url, javascript={"parts": 5})
    workspace.crawl()
    assert len(app.page_paths()) == 6


def test_a_script_is_got_once_for_all_pages(app: Site, url: str, workspace: Workspace) -> None:
    for name in ("/one", "/two"):
        app.file(name, SHELL.encode() + name.encode(), "text/html")
    define(workspace, url)
    workspace.crawl()
    assert app.count("/app.js") == 1


def test_a_script_does_not_undo_noindex(app: Site, url: str, workspace: Workspace) -> None:
    head = "<meta name=robots content=noindex><script>document.querySelector('meta').remove()</script>"
    app.page("/", text="needle", head=head)
    define(workspace, url, javascript={"keep_html": True})
    assert workspace.crawl(code=1).run["cause"] == "noindex"
    assert workspace.indexed() == []


def test_a_browser_that_is_not_there_is_said_before_anything_is_fetched(
    app: Site, url: str, workspace: Workspace
) -> None:
    define(workspace, url, javascript={"browser": "/nowhere/chromium"})
    ended = workspace.command("crawl")
    assert (ended.code, "apt-get install chromium" in ended.err) == (2, True)
    assert app.paths() == []


FILTERS = """<Filter name=e>
Enumerate fn=enumerate-urls
</Filter>
<Filter name=g>
Data     fn=generate-md5
Generate fn=extract-html-meta
Generate fn=extract-html-text
Generate fn=extract-html-toc
Generate fn=extract-source src=md5
</Filter>
"""


@pytest.mark.parametrize(
    ("keep", "words", "headings"),
    [(False, "static", []), (True, "dynamic", ["New"])],
    ids=["links only", "whole"],
)
def test_scripts_run_for_filters_too(
    app: Site, url: str, workspace: Workspace, keep: bool, words: str, headings: list[str]
) -> None:
    app.file(
        "/app.js",
        (APP + 'document.body.insertAdjacentHTML("beforeend", "<h1>New</h1>");').encode(),
        "text/javascript",
    )
    (workspace.directory / "filter.conf").write_text(FILTERS)
    filters = {"file": "filter.conf", "enumeration": "e", "generation": "g"}
    define(
        workspace,
        url,
        javascript={"keep_html": keep},
        filters=filters,
        sitemaps={"use": False},
        attributes={"toc": "Subject"},
    )
    assert workspace.crawl().run["problems"] == []
    assert workspace.indexed() == ["/", "/one", "/two"], "links that scripts wrote are followed"
    assert workspace.search(words) == ["/"]
    assert workspace.search("--where", "Subject=New", words) == (["/"] if headings else [])
