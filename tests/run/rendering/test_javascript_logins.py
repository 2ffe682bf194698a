"""Applications whose shell everybody gets, and whose data only those get who are let in."""

from __future__ import annotations

import json
import shutil
from typing import Any
from urllib.parse import parse_qs

import pytest
from support.project import ANY_PORT, LOOPBACK, Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

HTML = (("Content-Type", "text/html"),)
JSON = (("Content-Type", "application/json"),)
SHELL = b"""<!doctype html><title>app</title><div id=app></div><script>
fetch('/data' + location.pathname, {headers: {Accept: 'application/json'}})
  .then(answer => { if (!answer.ok) throw 0; return answer.json(); })
  .then(data => app.innerHTML = `<p>${data.words}</p><a href=/0>0</a><a href=/1>1</a>`)
  .catch(() => app.innerHTML = '<p>please sign in')
</script>"""
PATHS = ["/0", "/1"]


class Club(Site):
    """A shell for everybody, and data for those who show the cookie of a session, or user and password."""

    def __init__(self, refusal: int) -> None:
        super().__init__()
        self.refusal = refusal
        self.accepts = "pass"
        self.sessions: set[str] = set()
        self.begun = 0
        self.shown = 0
        self.lose_after = 0
        """The session is lost once, after so many answers with data; 0 for never."""
        self.words = "heron"
        self.has_challenge = refusal == 401
        for path in PATHS:
            self.file(path, SHELL, "text/html")
        self.dynamic("/data/*", self.data)
        self.dynamic("/enter", self.enter)
        self.file(
            "/form",
            b"<form action=/enter method=post><input name=user><input type=password name=pw>",
            "text/html",
        )

    def data(self, request: Request) -> Reply:
        session = (request.header("Cookie") or "").removeprefix("session=")
        if self.lose_after and self.shown == self.lose_after:
            self.lose_after, self.sessions = 0, set()
        if session not in self.sessions and request.header("Authorization") != f"Basic {BASIC[self.accepts]}":
            challenge = (("WWW-Authenticate", "Basic realm=club"),) if self.has_challenge else ()
            return Reply(self.refusal, (*JSON, *challenge), b"{}")
        self.shown += 1
        return Reply(200, JSON, json.dumps({"words": f"{self.words} {request.path} " * 9}).encode())

    def enter(self, request: Request) -> Reply:
        if parse_qs(request.body.decode()).get("pw") != [self.accepts]:
            return Reply(403)
        self.begun += 1
        self.sessions.add(f"s{self.begun}")
        return Reply(302, (("Location", "/0"), ("Set-Cookie", f"session=s{self.begun}; HttpOnly")))


BASIC = {"pass": "cm9ib3Q6cGFzcw==", "other": "cm9ib3Q6b3RoZXI="}
ENTRIES: dict[str, dict[str, Any]] = {
    "password": {"authentication": {"club": {"scheme": "basic", "user": "robot", "password": "pass"}}},
    "cookie": {"site_headers": {"club": {"headers": {"Cookie": "session=kept"}}}},
    "form": {"logins": {"club": {"fields": {"user": "robot", "pw": "pass"}}}},
}


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


def define(workspace: Workspace, url: str, how: str, **options: Any) -> None:
    ((section, entries),) = ENTRIES[how].items()
    place = {"page": f"{url}/form"} if how == "form" else {"url": f"{url}/"}
    written = {section: {"club": entries["club"] | place}}
    workspace.define(f"{url}/0", acl="everybody", **{"javascript": True, **written, **options})


@pytest.mark.parametrize(("how", "refusal"), [("password", 401), ("cookie", 403), ("cookie", 302)])
def test_data_that_refuse_the_crawl_are_no_content(workspace: Workspace, how: str, refusal: int) -> None:
    club = Club(refusal)
    club.sessions.add("kept")
    with club.serve() as url:
        define(workspace, url, how)
        workspace.crawl()
        assert sorted(workspace.search("heron")) == PATHS
        club.accepts, club.words = "other", "egret"
        club.sessions.clear()
        for _ in range(2):
            run = workspace.crawl(code=1).run
            assert len(run["problems"]) == 1, "it is told once"
            assert {row["status_code"] for row in workspace.urls().values()} == {959}
            assert sorted(workspace.search("heron")) == PATHS
        club.accepts = "pass"
        club.sessions.add("kept")
        workspace.crawl()
    assert (workspace.search("heron"), sorted(workspace.search("egret"))) == ([], PATHS)


def test_new_pages_whose_data_refuse_the_crawl_are_no_documents(workspace: Workspace) -> None:
    club = Club(401)
    club.accepts = "other"
    with club.serve() as url:
        define(workspace, url, "password")
        workspace.crawl(code=1)
        assert workspace.indexed() == []
        club.accepts = "pass"
        workspace.crawl()
    assert sorted(workspace.search("heron")) == PATHS


@pytest.mark.parametrize("refusal", [401, 403])
def test_a_session_that_is_lost_between_data_is_renewed(workspace: Workspace, refusal: int) -> None:
    club = Club(refusal)
    club.lose_after, club.has_challenge = (
        2,
        False,
    )  # the first data are asked for once more: they are the first page
    with club.serve() as url:
        define(workspace, url, "form")
        workspace.crawl()
    assert sorted(workspace.search("heron")) == PATHS
    assert club.begun == 2


def test_one_part_that_stays_closed_keeps_no_page_out(workspace: Workspace) -> None:
    """The page gets its other data, so that the log-in works; for some runs the part is waited for."""
    club = Club(401)
    closed = [False]

    def widget(request: Request) -> Reply:
        return Reply(401, JSON, b"{}") if closed[0] else Reply(200, JSON, b"{}")

    club.dynamic("/data/widget", widget)
    for path in PATHS:
        club.file(path, SHELL.replace(b"<script>", b"<script>fetch('/data/widget');"), "text/html")
    with club.serve() as url:
        define(workspace, url, "password")
        workspace.crawl()
        club.words, closed[0] = "egret", True
        run = workspace.crawl(code=None).run
        assert run["javascript"]["unrendered"] == {"login": 2}
        assert sorted(workspace.search("heron")) == PATHS
        for _ in range(3):
            workspace.crawl(code=None)
    assert sorted(workspace.search("egret")) == PATHS


def test_a_page_whose_script_leaves_for_the_form_is_no_content(workspace: Workspace) -> None:
    club = Club(403)
    guarded = SHELL.replace(
        b"app.innerHTML = '<p>please sign in'", b"location = '/form?back=' + location.pathname"
    )
    for path in PATHS:
        club.file(path, guarded, "text/html")
    club.file("/data/0", b'{"words": "heron at home"}', "application/json")
    with club.serve() as url:
        define(workspace, url, "form")
        workspace.crawl(code=None)
        assert sorted(workspace.search("heron")) == PATHS
        club.remove("/data/0")
        club.dynamic("/data/*", lambda request: Reply(404))
        workspace.crawl(code=None)
        assert {row["status_code"] for row in workspace.urls().values()} == {959}
    assert sorted(workspace.search("heron")) == PATHS


def test_a_session_goes_with_data_to_its_own_origin_alone(workspace: Workspace) -> None:
    club, other = Club(403), Site()
    headers = {"Access-Control-Allow-Origin": "*"}
    with other.serve() as port, other.serve("127.0.0.2") as host, club.serve() as url:
        club.redirect("/data/moved", f"{host}/moved", status=302)
        asked = ["/data/moved", f"{port}/port", f"{host}/host"]
        for path in ("/moved", "/port", "/host"):
            other.respond(path, headers=headers, body="{}")
        calls = "".join(f"fetch('{one}', {{credentials: 'include'}});" for one in asked)
        for path in PATHS:
            club.file(path, SHELL.replace(b"<script>", f"<script>{calls}".encode()), "text/html")
        define(workspace, url, "form", boundary={**LOOPBACK, "ports": ANY_PORT})
        workspace.crawl()
    assert sorted(workspace.search("heron")) == PATHS
    assert {"/moved", "/port", "/host"} <= other.page_paths()
    assert [one for one in other.requests if one.header("Cookie") or one.header("Authorization")] == []
