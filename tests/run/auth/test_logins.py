"""Form logins in real crawls, by both download handlers: against Django, and against a server that plays tricks."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import parse_qs

import pytest
from support.django_site import django_site, log_of
from support.named import named
from support.network import NetworkSite
from support.project import Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Request

PASSWORD = "hörse battery&staple=1"
FIELDS = {"user": "robot", "pw": "${MEMBERS_PASSWORD}"}


def crawl(workspace: Workspace, code: int | None = 0) -> dict[str, Any]:
    return workspace.crawl(code=code, MEMBERS_PASSWORD=PASSWORD).run


# ---- a real application


@pytest.mark.servers
def test_ultra_search_106_a_login_at_django(workspace: Workspace) -> None:
    with django_site(workspace.directory, "robot", PASSWORD) as url:
        entry = {
            "page": f"{url}/admin/login/?next=/",
            "fields": {"username": "robot", "password": "${MEMBERS_PASSWORD}"},
        }
        workspace.define(f"{url}/", logins={"members": entry})
        assert crawl(workspace)["outcomes"] == {"NEW": 7}
        assert len(workspace.search("secretword")) == 6
    asked = Counter(line.split(" ")[0] for line in log_of(workspace.directory))
    assert asked["POST"] == 1


@pytest.mark.servers
def test_ultra_search_107_a_wrong_password_at_django_is_959(workspace: Workspace) -> None:
    with django_site(workspace.directory, "robot", "another") as url:
        entry = {
            "page": f"{url}/admin/login/?next=/",
            "fields": {"username": "robot", "password": "${MEMBERS_PASSWORD}"},
        }
        workspace.define(f"{url}/", logins={"members": entry})
        run = crawl(workspace, code=1)
    assert run["problems"][0].startswith("login members: ")
    assert workspace.urls()["/"]["status_code"] == 959
    asked = Counter(line.split(" ")[0] for line in log_of(workspace.directory))
    assert asked["POST"] == 1


@pytest.mark.servers
def test_a_session_that_django_lost_is_renewed(workspace: Workspace) -> None:
    with django_site(workspace.directory, "robot", PASSWORD, pages=12, lose_after=4) as url:
        entry = {
            "page": f"{url}/admin/login/",
            "fields": {"username": "robot", "password": "${MEMBERS_PASSWORD}"},
        }
        workspace.define(f"{url}/", logins={"members": entry})
        assert crawl(workspace)["outcomes"] == {"NEW": 13}
    asked = Counter(line.split(" ")[0] for line in log_of(workspace.directory))
    assert asked["POST"] == 2


# ---- a server that plays tricks


class Club(NetworkSite):
    """Members only: a preload cookie, a token in the form, and a session cookie for who knows the password."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = 0
        self.sessions: set[str] = set()
        self.sent: list[dict[str, list[str]]] = []
        self.page("/", title="Home", links=[f"/in/{number}" for number in range(4)])
        self.page("/hello", title="Hello", headers={"Set-Cookie": "hello=1"})
        self.dynamic("/form", self.form)
        self.dynamic("/enter", self.enter)
        self.dynamic("/enter*", self.enter)
        self.dynamic("/in/*", self.inside)
        self.accepts = PASSWORD
        self.action = "/enter"
        self.method = "post"
        self.kind = "password"
        self.refusal = Reply(302, (("Location", "/form?again"),))

    def form(self, request: Request) -> Reply:
        self.tokens += 1
        body = (
            f'<form action="{self.action}" method={self.method}><input type=hidden name=token value=t{self.tokens}>'
            f"<input name=user><input type={self.kind} name=pw></form>"
        )
        return Reply(200, (("Content-Type", "text/html"),), body.encode())

    def enter(self, request: Request) -> Reply:
        form = parse_qs(request.body.decode() or request.path.partition("?")[2])
        self.sent.append(form)
        if form.get("pw") != [self.accepts]:
            return Reply(403)
        session = f"s{len(self.sessions)}"
        self.sessions.add(session)
        return Reply(302, (("Location", "/"), ("Set-Cookie", f"session={session}; HttpOnly")))

    def inside(self, request: Request) -> Reply:
        cookies = dict(part.strip().split("=", 1) for part in (request.header("Cookie") or "a=").split(";"))
        if cookies.get("session") in self.sessions:
            body = f"<title>In</title><p>secretword {request.path}</p>".encode()
            return Reply(200, (("Content-Type", "text/html"),), body)
        return self.refusal


@pytest.fixture
def club() -> Club:
    return Club()


def test_fast_214_216_217_218_219_a_form_without_autofill(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        entry = {
            "preload": f"{url}/hello",
            "action": f"{url}/enter",
            "method": "POST",
            "autofill": False,
            "fields": FIELDS,
            "sites": ["127.0.0.1"],
        }
        workspace.define(f"{url}/", logins={"club": entry})
        assert crawl(workspace)["outcomes"] == {"NEW": 5}
    assert club.sent == [{"user": ["robot"], "pw": [PASSWORD]}]
    paths = [path for path in club.paths() if path != "/robots.txt"]
    assert paths[:2] == ["/hello", "/enter"]
    enter = next(request for request in club.requests if request.path == "/enter")
    assert (enter.method, enter.header("Cookie")) == ("POST", "hello=1")


@pytest.mark.parametrize("kind", ["password", "text"])
def test_fast_221_222_autofill_sends_hidden_fields(workspace: Workspace, club: Club, kind: str) -> None:
    club.kind = kind
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS}
        workspace.define(f"{url}/", logins={"club": entry})
        crawl(workspace)
    assert club.sent == [{"token": ["t1"], "user": ["robot"], "pw": [PASSWORD]}]


def test_fast_218_a_form_may_be_sent_with_get_and_no_log_tells(workspace: Workspace, club: Club) -> None:
    club.method = "get"
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS}
        workspace.define(f"{url}/", logins={"club": entry})
        ended = workspace.command("crawl", MEMBERS_PASSWORD=PASSWORD)
        assert ended.code == 0
    assert club.sent == [{"token": ["t1"], "user": ["robot"], "pw": [PASSWORD]}]
    assert "staple" not in ended.err + ended.out


@pytest.mark.parametrize("trick", ["another-host", "again-by-307"])
def test_p4_what_is_filled_in_goes_to_the_site_of_the_page_only(
    workspace: Workspace, club: Club, trick: str
) -> None:
    thief = Club()
    with club.serve() as url, thief.serve(host="127.0.0.2") as elsewhere:
        if trick == "another-host":
            club.action = f"{elsewhere}/enter"
        else:
            club.redirect("/enter", f"{elsewhere}/enter", status=307)
        entry = {"page": f"{url}/form", "fields": FIELDS, "sites": ["127.0.0.1", "127.0.0.2"]}
        workspace.define(f"{url}/", logins={"club": entry})
        run = crawl(workspace, code=1)
    assert thief.requests == []
    assert "as `action`" in run["problems"][0]


def test_cookies_of_a_login_go_to_its_sites_only(workspace: Workspace, club: Club) -> None:
    other = NetworkSite()
    other.page("/x", title="X", headers={"Set-Cookie": "theirs=1"}, links=["/y"])
    other.page("/y", title="Y")
    with club.serve() as url, other.serve(host="127.0.0.2") as elsewhere:
        club.page("/", title="Home", links=["/in/1", f"{elsewhere}/x"])
        entry = {"page": f"{url}/form", "fields": FIELDS}
        boundary = {"domains": {"include": ["127.0.0.1", "127.0.0.2"]}}
        workspace.define(f"{url}/", logins={"club": entry}, boundary=boundary)
        assert crawl(workspace)["outcomes"] == {"NEW": 4}
    assert {"/x", "/y"} <= set(other.paths())
    assert not [request for request in other.requests if request.header("Cookie")], (
        "cookies are off for others"
    )


@pytest.mark.parametrize("required", [True, False], ids=["fast_59-no", "fast_59-yes"])
def test_sites_of_a_login_that_failed(workspace: Workspace, club: Club, required: bool) -> None:
    club.accepts = "something else"
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS, "required": required}
        workspace.define(f"{url}/", logins={"club": entry})
        run = crawl(workspace, code=1)
    assert (run["problems"][0].partition(": ")[0], named(run["problems"][0])) == ("login club", ["403"])
    assert len(club.sent) == 1
    if required:
        assert set(club.paths()) <= {"/robots.txt", "/form", "/enter", "/sitemap.xml"}
        assert workspace.urls()["/"]["status_code"] == 959
    else:
        assert workspace.urls()["/"]["status_code"] == 200
        assert workspace.urls()["/in/1"]["status_code"] == 959


def test_fast_219_other_sites_are_crawled_without(workspace: Workspace, club: Club) -> None:
    club.accepts = "something else"
    open_site = NetworkSite()
    open_site.page("/", title="Open", links=["/more"])
    open_site.page("/more", title="More")
    with club.serve() as url, open_site.serve(host="127.0.0.2") as elsewhere:
        entry = {"page": f"{url}/form", "fields": FIELDS}
        workspace.define(f"{elsewhere}/", logins={"club": entry})
        assert crawl(workspace)["outcomes"] == {"NEW": 2}
    assert club.requests == [], "nothing of the club was crawled, so nobody logged in"


def test_a_session_is_lost_by_a_text_of_the_page(workspace: Workspace, club: Club) -> None:
    club.refusal = Reply(
        200, (("Content-Type", "text/html"),), "<title>Sörry</title>Please log in agäin".encode()
    )
    kept = club.inside

    def once(request: Request) -> Reply:
        reply = kept(request)
        if b"secretword" in reply.body and len(club.sessions) == 1:
            club.sessions = {"none"}
        return reply

    club.dynamic("/in/*", once)
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS, "lost_text": "log in agäin"}
        workspace.define(
            f"{url}/",
            logins={"club": entry},
            default_charset="utf-8",
            politeness={"concurrency": 1},
        )
        crawl(workspace)
    assert len(workspace.search("secretword")) == 4
    assert len(club.sent) == 2


@pytest.mark.parametrize("kind", ["password", "text"])
def test_a_session_is_lost_by_the_form_in_place_of_a_page(
    workspace: Workspace, club: Club, kind: str
) -> None:
    club.kind = kind

    def once(request: Request) -> Reply:
        reply = club.inside(request)
        if b"secretword" in reply.body and len(club.sessions) == 1:
            club.sessions = {"none"}
        return reply if b"secretword" in reply.body else club.form(request)

    club.dynamic("/in/*", once)
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS}
        workspace.define(f"{url}/", logins={"club": entry}, politeness={"concurrency": 1})
        crawl(workspace)
    assert len(workspace.search("secretword")) == 4
    assert len(club.sent) == 2


def test_pages_that_stay_closed_do_not_log_in_again_and_again(workspace: Workspace, club: Club) -> None:
    paths = [f"/closed/{number}" for number in range(12)]
    for path in paths:
        club.redirect(path, "/form", status=302)
    club.page("/", title="Home", links=["/in/1", *paths])
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS}
        workspace.define(f"{url}/", logins={"club": entry}, politeness={"concurrency": 1})
        crawl(workspace)
    assert len(club.sent) <= 4
    assert workspace.urls()["/closed/3"]["status_code"] == 959
    assert workspace.urls()["/in/1"]["status_code"] == 200


def test_fast_220_223_a_login_is_renewed_after_its_ttl(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS, "ttl": "1 s"}
        politeness = {"delay": 0.5, "concurrency": 1}
        workspace.define(f"{url}/", logins={"club": entry}, politeness=politeness)
        crawl(workspace)
    span = club.requests[-1].time - club.requests[0].time
    assert 2 <= len(club.sent) <= 1 + span / 1.0


def test_fast_58_a_login_that_takes_too_long_fails(workspace: Workspace, club: Club) -> None:
    club.respond("/form", delay=5)
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS, "timeout": 0.3}
        workspace.define(f"{url}/", logins={"club": entry})
        run = crawl(workspace, code=1)
    assert run["problems"][0].startswith(sentence("logins.club_no_response"))


@pytest.mark.parametrize("method", ["post", "get"], ids=["fast_218-POST", "fast_218-GET"])
def test_a_form_is_sent_once_whatever_becomes_of_its_connection(
    workspace: Workspace, club: Club, method: str
) -> None:
    club.method = method
    for path in ("/enter", "/enter*"):
        club.dynamic(path, lambda request: Reply(0, raw=True))
    with club.serve() as url:
        entry = {"page": f"{url}/form", "fields": FIELDS}
        workspace.define(f"{url}/", logins={"club": entry})
        run = crawl(workspace, code=1)
    assert run["problems"][0].startswith(sentence("logins.club_no_response"))
    assert len([path for path in club.paths() if path.startswith("/enter")]) == 1


def test_a_login_whose_address_is_refused_names_its_host(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        entry = {
            "page": f"{url.replace('127.0.0.1', '127.7.7.7')}/form",
            "fields": FIELDS,
            "sites": "127.0.0.1",
        }
        workspace.define(f"{url}/", logins={"club": entry}, boundary={})
        run = crawl(workspace, code=1)
    assert "127.7.7.7" in run["problems"][0]
    assert "Error" not in run["problems"][0]


def test_ultra_search_30188_a_page_without_a_form(workspace: Workspace, club: Club) -> None:
    with club.serve() as url:
        entry = {"page": f"{url}/hello", "fields": FIELDS}
        workspace.define(f"{url}/", logins={"club": entry})
        run = crawl(workspace, code=1)
    assert run["problems"][0].startswith("login club: 30188 ")
    assert run["problems"][0].endswith(f"{url}/hello")
