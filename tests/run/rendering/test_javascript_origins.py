"""What scripts of one site may have of another: nothing with the crawler's secrets, and what that site gives to all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from support.project import ANY_PORT, LOOPBACK, Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

SECRET = "the salary of the director"


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


@pytest.fixture
def staff() -> Iterator[tuple[Site, str]]:
    """A site that lets only the crawler in, and gives `/open` to scripts of every origin."""
    site = Site()

    def answer(request: Request) -> Reply:
        let_in = request.header("Authorization") is not None
        body = f"secret = {json.dumps(SECRET)}" if let_in else "secret = 'nothing'"
        return Reply(200, (("Content-Type", "text/javascript"),), body.encode())

    def framed(request: Request) -> Reply:
        let_in = request.header("Authorization") is not None
        return Reply(200, (("Content-Type", "text/html"),), (SECRET if let_in else "nothing").encode())

    def stream(request: Request) -> Reply:
        let_in = request.header("Authorization") is not None
        told = f"data: {SECRET if let_in else 'nothing'}\n\n"
        return Reply(200, (("Content-Type", "text/event-stream"),), told.encode())

    site.dynamic("/private", answer)
    site.dynamic("/events", stream)
    site.dynamic("/page", framed)
    site.respond("/open", headers={"Access-Control-Allow-Origin": "*"}, body="for everybody")
    for_all = {"Access-Control-Allow-Origin": "*", "Content-Type": "text/event-stream"}
    site.respond("/open-events", headers=for_all, body="data: for everybody\n\n")
    with site.serve("127.0.0.2") as url:
        yield site, url


def crawl(site: Site, url: str, staff_url: str, workspace: Workspace, page: str) -> None:
    head = "<script>const tell = text => fetch('/steal?' + encodeURIComponent(text));</script>"
    site.file("/", f"<p>x</p>{head}{page}".encode(), "text/html")
    user: dict[str, Any] = {"url": f"{staff_url}/", "scheme": "basic", "user": "robot", "password": "pass"}
    workspace.define(
        f"{url}/",
        javascript={"use": True, "keep_html": True},
        authentication={"staff": user},
        boundary={**LOOPBACK, "ports": ANY_PORT},
    )
    workspace.crawl()


def stolen(site: Site) -> str:
    return " ".join(request.path for request in site.requests if request.path.startswith("/steal")).replace(
        "%20", " "
    )


@pytest.mark.parametrize(
    "page",
    [
        "<script>fetch('STAFF/private', {credentials: 'include'}).then(a => a.text()).then(tell)</script>",
        "<script>fetch('/moved').then(a => a.text()).then(tell)</script>",
        "<script>let r = new XMLHttpRequest(); r.open('GET', 'STAFF/private');"
        " r.withCredentials = true; r.onload = () => tell(r.responseText); r.send()</script>",
        "<script>new EventSource('STAFF/events', {withCredentials: true}).onmessage = e => tell(e.data)</script>",
        "<script src='STAFF/private'></script><script>tell(secret)</script>",
        "<script src='/moved'></script><script>tell(secret)</script>",
        "<iframe src='/framed' onload='tell(this.contentDocument.body.textContent)'></iframe>",
        "<iframe src='STAFF/page' onload='tell(this.contentDocument.body.textContent)'></iframe>",
        "<iframe srcdoc=\"<script>fetch('STAFF/private').then(a => a.text())"
        '.then(t => parent.tell(t))</script>"></iframe>',
    ],
    ids=[
        "fetch",
        "fetch_redirected",
        "xhr",
        "events",
        "script",
        "script_redirected",
        "frame_redirected",
        "frame",
        "srcdoc",
    ],
)
def test_p4_a_page_does_not_read_another_site_with_the_secrets_of_the_crawler(
    site: Site, url: str, staff: tuple[Site, str], workspace: Workspace, page: str
) -> None:
    _, staff_url = staff
    site.redirect("/moved", f"{staff_url}/private", status=302)
    site.redirect("/framed", f"{staff_url}/page", status=302)
    crawl(site, url, staff_url, workspace, page.replace("STAFF", staff_url))
    assert site.count("/") == 1
    assert SECRET not in stolen(site)
    assert "/" not in workspace.search("salary")


def test_what_another_site_gives_to_all_can_be_read(
    site: Site, url: str, staff: tuple[Site, str], workspace: Workspace
) -> None:
    other, staff_url = staff
    crawl(
        site,
        url,
        staff_url,
        workspace,
        f"<script>fetch('{staff_url}/open').then(a => a.text()).then(tell)</script>",
    )
    assert "for everybody" in stolen(site)
    assert [request.header("Authorization") for request in other.requests if request.path == "/open"] == [
        None
    ]


def test_a_stream_of_another_site_is_read_if_that_site_lets_all_read_it(
    site: Site, url: str, staff: tuple[Site, str], workspace: Workspace
) -> None:
    other, staff_url = staff
    listen = "".join(
        f"new EventSource('{staff_url}{path}').onmessage = e => tell(e.data);"
        for path in ("/events", "/open-events")
    )
    crawl(site, url, staff_url, workspace, f"<script>{listen}</script>")
    assert stolen(site) == "/steal?for everybody"
    assert {"/events", "/open-events"} <= other.page_paths()


def test_a_page_reads_its_own_site_with_the_secrets_of_the_crawler(
    site: Site, url: str, staff: tuple[Site, str], workspace: Workspace
) -> None:
    other, staff_url = staff
    script = "fetch('/private').then(a => a.text()).then(t => document.body.textContent = t)"
    crawl(other, staff_url, staff_url, workspace, f"<script>{script}</script>")
    assert workspace.search("salary") == ["/"]


def test_the_cookies_of_a_session_do_not_go_to_another_port(
    site: Site, url: str, workspace: Workspace
) -> None:
    """A host has one cookie jar for all its ports (RFC 6265 8.5); who answers there is a stranger all the same."""
    other = Site()
    other.respond("/open", headers={"Access-Control-Allow-Origin": "*"}, body="for everybody")
    with other.serve() as other_url:
        script = f"fetch('{other_url}/open').then(a => a.text()).then(t => fetch('/told?' + t))"
        site.respond(
            "/",
            headers={"Content-Type": "text/html", "Set-Cookie": "sid=secret"},
            body=f"<p>x</p><a href=/next>n</a><script>{script}</script>",
        )
        site.page("/next")
        boundary = {**LOOPBACK, "ports": ANY_PORT}
        workspace.define(f"{url}/", javascript={"use": True}, cookies={"enabled": True}, boundary=boundary)
        workspace.crawl()
    assert [one.header("Cookie") for one in site.requests if one.path == "/next"] == ["sid=secret"]
    assert [request.path for request in other.requests] == ["/robots.txt", "/open"]
    assert [request.header("Cookie") for request in other.requests] == [None, None]
