"""What applications ask their own site for, other than by GET of plain URLs: routes, POST, cookies of scripts."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from support.project import ANY_PORT, LOOPBACK, Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

HTML = (("Content-Type", "text/html"),)
ROUTER = """<title>app</title><base href="/"><div id=app></div><script>
const show = () => {
  const item = location.hash.match(/^#!?\\/item\\/(\\d)/);
  app.innerHTML = item ? `<p>words of item${item[1]}` : `<p>home <a href="#/item/1">1</a> <a href="/#!/item/2">2</a>
    <a href="#part">part</a>`;
};
addEventListener('hashchange', show);
show();
</script>"""
ASK = """<title>shell</title><p id=p>short</p><script>
fetch(%s, {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"query": "{links}"}'})
  .then(answer => answer.json()).then(data => { p.innerHTML = `posted <a href=${data.link}>x</a>`; });
</script>"""
WALL = "<script>document.cookie = 'seen=1'; location.reload();</script>"
CLIENT = """<p id=p>wait</p><script>
if (/seen=1/.test(document.cookie)) p.innerHTML = 'behind <a href=/target>x</a>';
else { document.cookie = 'seen=1'; location.reload(); }
</script>"""


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


@pytest.mark.parametrize("more", [{}, {"urls": {"rewrite_rules": ["/^x/y/"]}}], ids=["plain", "rewriting"])
@pytest.mark.parametrize("use", [True, "auto"])
def test_hash_routes_are_pages(
    site: Site, url: str, workspace: Workspace, use: bool | str, more: dict[str, Any]
) -> None:
    site.file("/", ROUTER.encode(), "text/html")
    workspace.define(f"{url}/", javascript={"use": use, "hash_routes": True}, **more)
    assert workspace.crawl().run["problems"] == []
    assert workspace.indexed() == ["/", "/#!/item/2", "/#/item/1"]
    assert sorted(workspace.search("words")) == ["/#!/item/2", "/#/item/1"]
    assert workspace.search("item2") == ["/#!/item/2"]
    assert site.page_paths() == {"/"}
    workspace.crawl()
    assert workspace.indexed() == ["/", "/#!/item/2", "/#/item/1"]


def test_without_the_option_a_route_is_its_document(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/", ROUTER.encode(), "text/html")
    workspace.define(f"{url}/", javascript=True)
    workspace.crawl()
    assert workspace.indexed() == ["/"]
    assert site.count("/") == 1


@pytest.mark.parametrize(
    ("options", "is_found"), [({"post_data": True}, True), ({}, False)], ids=["post_data", "by default"]
)
def test_data_that_is_asked_for_by_post(
    site: Site, url: str, workspace: Workspace, options: dict[str, bool], is_found: bool
) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Reply:
        asked.append(request)
        return Reply(200, (("Content-Type", "application/json"),), b'{"link": "/target"}')

    site.dynamic("/graphql", answer)
    site.file("/", (ASK % "'/graphql'").encode(), "text/html")
    site.page("/target", text="target")
    workspace.define(f"{url}/", javascript={"use": True, **options})
    workspace.crawl()
    assert workspace.indexed() == (["/", "/target"] if is_found else ["/"])
    assert workspace.search("posted") == (["/"] if is_found else [])
    assert [(one.method, one.body, one.header("Content-Type")) for one in asked] == (
        [("POST", b'{"query": "{links}"}', "application/json")] if is_found else []
    )


ASK_WITH = """<title>keyed</title><p id=p>short</p><script>
for (const path of ['/own', '%s/other'])
  fetch(path, {headers: %s}).then(answer => answer.json()).then(data => { p.innerHTML += ` ${data.word}`; });
</script>"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{}", {"Accept": "*/*"}),
        ("{Accept: 'application/json'}", {"Accept": "application/json"}),
        ("{'X-Api-Key': 'public', 'HX-Request': 'true'}", {"X-Api-Key": "public", "HX-Request": "true"}),
        ("{Authorization: 'Bearer x'}", {"Authorization": "Bearer x"}),
    ],
    ids=["none", "accept", "key", "authorization"],
)
def test_headers_of_scripts_go_to_their_own_host(
    site: Site, url: str, workspace: Workspace, written: str, expected: dict[str, str]
) -> None:
    """Each header has one value, and another host gets none but `Accept`."""
    asked: dict[str, Request] = {}

    def answer(request: Request) -> Reply:
        asked[request.path] = request
        head = (("Content-Type", "application/json"), ("Access-Control-Allow-Origin", "*"))
        return Reply(200, head, b'{"word": "kept"}')

    for path in ("/own", "/other"):
        site.dynamic(path, answer)
    with site.serve("127.0.0.2") as other:
        site.file("/", (ASK_WITH % (other, written)).encode(), "text/html")
        workspace.define(
            f"{url}/", javascript=True, headers={"X-Api-Key": "own"}, boundary={**LOOPBACK, "ports": ANY_PORT}
        )
        run = workspace.crawl().run
    assert workspace.search("kept") == ["/"]
    for name, value in expected.items():
        assert asked["/own"].header(name) == value
        others = {"Accept": value, "X-Api-Key": "own"}
        assert asked["/other"].header(name) == others.get(name)
    assert any("scripts" in remark for remark in run["remarks"]) is not ("Accept" in expected)


def test_what_post_may_not_do(site: Site, url: str, workspace: Workspace) -> None:
    site.robots("User-agent: *\nDisallow: /forbidden\n")
    site.redirect("/moved", "/elsewhere", status=307)
    for path in ("/elsewhere", "/forbidden", "/beacon", "/put", "/form"):
        site.page(path)
    with site.serve("127.0.0.2") as other:
        scripts = [
            f"fetch('{path}', {{method: 'POST'}})" for path in ("/forbidden", "/moved", f"{other}/steal")
        ]
        scripts += ["navigator.sendBeacon('/beacon', 'x')", "fetch('/put', {method: 'PUT'})"]
        body = f"<form action=/form method=post></form><script>{';'.join(scripts)}; document.forms[0].submit()</script>"
        site.file("/", body.encode(), "text/html")
        boundary = {**LOOPBACK, "ports": ANY_PORT}
        workspace.define(f"{url}/", javascript={"use": True, "post_data": True}, boundary=boundary)
        workspace.crawl(code=1)  # the page has no text
    assert site.page_paths() == {"/", "/moved"}


@pytest.mark.parametrize("cookies", [{}, {"enabled": True}], ids=["without jar", "with jar"])
def test_a_page_that_sets_a_cookie_and_reloads_itself_is_read_as_reloaded(
    site: Site, url: str, workspace: Workspace, cookies: dict[str, bool]
) -> None:
    sent: list[str] = []

    def answer(request: Request) -> Reply:
        sent.append(request.header("Cookie") or "")
        known = sent[-1].split("; ")
        if "seen=1" not in known:
            return Reply(200, (*HTML, ("Set-Cookie", "session=2")), WALL.encode())
        return Reply(200, HTML, b"<p>behind the wall <a href=/target>x</a>")

    site.dynamic("/", answer)
    site.page("/target", text="target")
    workspace.define(f"{url}/", javascript={"use": True}, cookies=cookies)
    workspace.crawl()
    assert workspace.indexed() == ["/", "/target"]
    assert workspace.search("behind wall") == ["/"]
    assert sent == ["", "session=2; seen=1" if cookies else "seen=1"]


def test_a_page_that_looks_for_its_own_cookie(site: Site, url: str, workspace: Workspace) -> None:
    site.file("/", CLIENT.encode(), "text/html")
    site.page("/target", text="target", links=["/"], head=CLIENT.partition("</p>")[2])
    workspace.define(f"{url}/", javascript={"use": True})
    workspace.crawl()
    assert workspace.search("behind") == ["/"]
    assert workspace.indexed() == ["/", "/target"]


def test_a_page_that_reloads_itself_for_ever_ends(site: Site, url: str, workspace: Workspace) -> None:
    script = "<script>document.cookie = `n=${Math.random()}`; location.reload();</script>"
    site.file("/", f"<p>words</p>{script}".encode(), "text/html")
    workspace.define(f"{url}/", javascript={"use": True})
    assert workspace.crawl().run["rejected_by"] == {}
    assert site.count("/") <= 3
    assert workspace.search("words") == ["/"]


@pytest.mark.parametrize("pause", [0.05, 3600.0], ids=["talks", "falls silent"])
def test_a_stream_of_events_is_read_for_a_while(
    site: Site, url: str, workspace: Workspace, pause: float
) -> None:
    site.drip("/events", b"data: streamed\n\n", pause=pause, content_type="text/event-stream")
    script = "new EventSource('/events').onmessage = event => { p.textContent += ` ${event.data}`; }"
    site.file("/", f"<p id=p>short</p><script>{script}</script>".encode(), "text/html")
    workspace.define(f"{url}/", javascript={"use": True, "max_wait": 20})
    for run in (1, 2):
        assert workspace.crawl().run["javascript"]["opened"] == 1
        assert workspace.search("streamed") == ["/"]
        assert site.count("/events") == run
