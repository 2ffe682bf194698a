"""Sessions of log-ins that outlive a run (`keep_session`): who goes on with them, and who never gets them."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest
from support.network import NetworkSite
from support.project import LOOPBACK, Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Request

PASSWORDS = ("hörse battery&staple=1", "another pass;word")
KEY = "000102030405060708090a0b0c0d0e0f"


class Club(NetworkSite):
    """Members only; whoever knows a password gets a session, which is named by its number."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: set[str] = set()
        self.logins = 0
        self.seen: list[str] = []
        self.page("/", title="Home", links=["/in/0", "/in/1"])
        self.dynamic("/form", self.form)
        self.dynamic("/enter", self.enter)
        self.dynamic("/in/*", self.inside)

    def form(self, request: Request) -> Reply:
        body = b"<form action=/enter method=post><input name=user><input type=password name=pw></form>"
        return Reply(200, (("Content-Type", "text/html"),), body)

    def enter(self, request: Request) -> Reply:
        (password,) = parse_qs(request.body.decode())["pw"]
        if password not in PASSWORDS:
            return Reply(403)
        self.logins += 1
        session = f"member-{self.logins}-session"
        self.sessions.add(session)
        return Reply(302, (("Location", "/"), ("Set-Cookie", f"session={session}; HttpOnly")))

    def inside(self, request: Request) -> Reply:
        session = (request.header("Cookie") or "").removeprefix("session=")
        if session:  # a visitor, as which the first page is asked for once, has none
            self.seen.append(session)
        if session not in self.sessions:
            return Reply(302, (("Location", "/form"),))
        body = f"<title>In</title><p>secretword {request.path}</p>".encode()
        return Reply(200, (("Content-Type", "text/html"),), body)


@pytest.fixture
def club() -> Club:
    return Club()


def define(workspace: Workspace, url: str, *, key: bool = True, **of_entry: Any) -> None:
    """Two sources that log in with the same, `one` and `two`, and `other`, which has another password."""

    def source(variable: str) -> dict[str, Any]:
        fields = {"user": "robot", "pw": f"${{{variable}}}"}
        entry = {"page": f"{url}/form", "fields": fields, "keep_session": True, **of_entry}
        return {
            "type": "web",
            "start_urls": [f"{url}/"],
            "politeness": {"delay": 0, "concurrency": 1},
            "boundary": LOOPBACK,
            "logins": {"club": entry},
        }

    sources = {"one": source("PW"), "two": source("PW"), "other": source("OTHER")}
    (workspace.directory / "password.key").write_text(KEY)
    workspace.write({**({"key_file": "password.key"} if key else {}), "sources": sources})


def crawl(workspace: Workspace, name: str) -> dict[str, Any]:
    return workspace.crawl(name, PW=PASSWORDS[0], OTHER=PASSWORDS[1]).run


def test_later_runs_and_other_sources_go_on_with_a_session(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        define(workspace, url)
        assert crawl(workspace, "one")["outcomes"] == {"NEW": 3}
        assert crawl(workspace, "one")["outcomes"] == {"NOT_MODIFIED": 1, "UNMODIFIED": 2}
        assert crawl(workspace, "two")["outcomes"] == {"NEW": 3}
        assert club.logins == 1
        assert set(club.seen) == {"member-1-session"}
        club.seen.clear()
        crawl(workspace, "other")
        assert club.logins == 2, "another password is another log-in"
    assert set(club.seen) == {"member-2-session"}


def test_without_the_option_every_run_logs_in(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        define(workspace, url, keep_session=False)
        crawl(workspace, "one")
        crawl(workspace, "one")
    assert club.logins == 2


def test_a_session_that_was_lost_meanwhile_is_renewed(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        define(workspace, url)
        crawl(workspace, "one")
        club.sessions.clear()
        assert crawl(workspace, "one")["outcomes"] == {"NOT_MODIFIED": 1, "UNMODIFIED": 2}
        assert crawl(workspace, "two")["outcomes"] == {"NEW": 3}
    assert club.logins == 2, "the second source goes on with the second one"


def test_nothing_of_it_lies_in_the_clear(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        define(workspace, url)
        crawl(workspace, "one")
    texts = [path.read_bytes() for path in (workspace.directory / "var").rglob("*") if path.is_file()]
    assert not [text for text in texts if b"member-1" in text or b"staple" in text]


def test_with_another_key_there_is_a_new_login(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        define(workspace, url)
        crawl(workspace, "one")
        (workspace.directory / "password.key").write_text(KEY[::-1])
        assert crawl(workspace, "one")["outcomes"] == {"NOT_MODIFIED": 1, "UNMODIFIED": 2}
    assert club.logins == 2


def test_without_a_key_the_definition_is_mistaken(workspace: Workspace, club: Club) -> None:
    define(workspace, "http://127.0.0.1:1", key=False)
    ended = workspace.command("lint")
    assert ended.code == 2
    assert sentence("logins.sessions_without_key_file") in ended.out + ended.err
