"""An answer that shows that we are not let in is never content: every kind of access, over runs, in both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from support.certificates import Authority
from support.fast import fast_xml
from support.network import NetworkSite
from support.ntlm_site import ntlm_site
from support.project import Workspace
from support.resource import Reply
from support.robot import RobotFiles
from support.sentences import sentence
from support.server import Request
from support.tls_site import secured
from support.twisted_guard import guarded_site
from support.written import section_of

from ultracrawl.stores.source_notes.let_in import LET_IN

HTML = (("Content-Type", "text/html"),)
RIGHT, WRONG = "s3cret", "wrong"
FIELDS = {"user": "ada", "password": "${PW}"}
DELETING = {"http": {"4xx": "DELETE"}}
ENGINES = ("whoosh", "tantivy")

CONTENT = {
    "refresh-home": ("text/html", b'<meta http-equiv="refresh" content="0;url=/"><p>One moment'),
    "noindex": ("text/html", b'<meta name="robots" content="noindex"><p>For members'),
    "archive": ("application/x-unknown", b"\x00\x01 for members"),
    "empty": ("text/html", b""),
    "feed": (
        "application/rss+xml",
        b'<rss version="2.0"><channel><title>For members</title></channel></rss>',
    ),
    "picture": ("image/png", b"\x89PNG\r\n\x1a\n"),
}
"""What visitors may get with status 200 in place of a page."""


class Members(NetworkSite):
    """A public front page, and pages for members; who comes without a session gets `closed`."""

    def __init__(self, *, hidden: bool = False, closed: str = "redirect", wrong: str = "again") -> None:
        super().__init__()
        self.hidden = '<input type="hidden" name="csrf" value="abc">' if hidden else ""
        self.closed, self.wrong = closed, wrong
        self.accepts = RIGHT
        self.sent: list[bytes] = []
        self.open = True
        """Whether sessions are accepted."""
        self.pages = {
            f"/members/{name}": text
            for name, text in (("", "axolotl gills"), ("a", "narwhal tusk"), ("b", "quokka smile"))
        }
        self.page("/", title="Home", links=["/members/"], text="a club for friends of animals")
        self.dynamic("/login", lambda request: Reply(200, HTML, self.form()))
        self.dynamic("/enter", self.enter)
        self.dynamic("/members/*", self.inside)

    def form(self) -> bytes:
        return (
            f'<title>Log in</title><form action="/enter" method="post">{self.hidden}<input name="user">'
            '<input type="password" name="password"><button>Log in</button></form>'
        ).encode()

    def enter(self, request: Request) -> Reply:
        self.sent.append(request.body)
        if f"password={self.accepts}".encode() in request.body:
            return Reply(302, (("Location", "/members/"), ("Set-Cookie", "sid=1; Path=/")))
        if self.wrong == "again":
            return Reply(200, HTML, b"<p>wrong password, try again</p>" + self.form())
        if self.wrong == "error":
            return Reply(200, HTML, b"<title>Error</title><p>The password is wrong.</p>")
        return Reply(302, (("Location", "/"),))

    def inside(self, request: Request) -> Reply:
        if self.open and self.lets_in(request):
            text = self.pages.get(request.path)
            links = "".join(f'<a href="{path}">{path}</a>' for path in self.pages)
            body = f"<title>{request.path}</title><p>{text}</p>{links}".encode()
            return Reply(404) if text is None else Reply(200, HTML, body)
        return self.refuse(request)

    def lets_in(self, request: Request) -> bool:
        return "sid=1" in (request.header("Cookie") or "")

    def refuse(self, request: Request) -> Reply:
        if self.closed == "form":
            return Reply(200, HTML, self.form())
        if self.closed == "own-form":  # as it posts to the page itself
            return Reply(200, HTML, self.form().replace(b' action="/enter"', b""))
        if self.closed == "refresh":
            return Reply(200, HTML, b'<meta http-equiv="refresh" content="0;url=/login"><p>One moment')
        if self.closed == "header":
            return Reply(200, (*HTML, ("Refresh", "0; url=/login")), b"<p>One moment")
        if self.closed == "text":
            return Reply(200, HTML, b"<title>Members</title><p>This page is for members. Please join us!</p>")
        if self.closed in CONTENT:
            head, body = CONTENT[self.closed]
            return Reply(200, (("Content-Type", head),), body)
        if self.closed.isdigit():
            return Reply(int(self.closed), HTML, b"<p>no</p>")
        places = {"next": f"/login?next={request.path}", "redirect": "/login", "home": "/"}
        return Reply(302, (("Location", places.get(self.closed, self.closed)),))


def define(workspace: Workspace, url: str, engine: str = "tantivy", **options: Any) -> None:
    workspace.define(url, **{"politeness": {"delay": 0, "concurrency": 2}, **options})
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "index": {"engine": engine}}))


def login(url: str, **options: Any) -> dict[str, Any]:
    return {"logins": {"s": {"page": f"{url}/login", "fields": FIELDS, **options}}}


def documents(workspace: Workspace) -> dict[str, tuple[str, str]]:
    """Return title and text of each document of the index, by path."""
    rows = map(json.loads, workspace.command("index", "dump").out.splitlines())
    return {"/" + row["url"].split("/", 3)[3]: (row["title"], row["text"]) for row in rows}


def crawl(workspace: Workspace, password: str, *, code: int) -> list[str]:
    """Crawl and return the problems."""
    problems: list[str] = workspace.crawl(code=code, PW=password).run["problems"]
    return problems


def check_three_runs(workspace: Workspace, name: str) -> None:
    """With the right password, the wrong one and the right one, all documents stay."""
    assert crawl(workspace, RIGHT, code=0) == []
    first = documents(workspace)
    assert {"/members/", "/members/a", "/members/b"} <= set(first)
    (problem,) = crawl(workspace, WRONG, code=1)
    assert name in problem
    assert documents(workspace) == first
    assert crawl(workspace, RIGHT, code=0) == []
    assert documents(workspace) == first


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("wrong", ["again", "error", "home"])
@pytest.mark.parametrize("closed", ["redirect", "next"])
@pytest.mark.parametrize("hidden", [False, True], ids=["plain", "hidden"])
def test_a_wrong_password_costs_no_document(
    workspace: Workspace, hidden: bool, closed: str, wrong: str, engine: str
) -> None:
    site = Members(hidden=hidden, closed=closed, wrong=wrong)
    with site.serve() as url:
        define(workspace, f"{url}/members/", engine, **login(url))
        check_three_runs(workspace, "login s:")
    assert len(site.sent) == 3, "one attempt a run"
    assert workspace.urls()["/members/a"]["outcome"] != "QUEUED"


@pytest.mark.parametrize("start", ["/", "/members/"])
@pytest.mark.parametrize(
    "closed", ["form", "own-form", "refresh", "header", "text", "home", "/elsewhere", "401", "403", "404"]
)
def test_pages_refuse_in_many_ways(workspace: Workspace, closed: str, start: str) -> None:
    site = Members(closed=closed, wrong="error")
    with site.serve() as url:
        define(workspace, f"{url}{start}", errors=DELETING, **login(url))
        check_three_runs(workspace, "login s:")
    assert len(site.sent) == 3


def test_what_the_pages_of_a_failed_login_end_with(workspace: Workspace) -> None:
    site = Members()
    with site.serve() as url:
        define(workspace, f"{url}/members/", **login(url))
        crawl(workspace, RIGHT, code=0)
        crawl(workspace, WRONG, code=1)
    rows = workspace.urls()
    assert {(rows[path]["outcome"], rows[path]["status_code"]) for path in site.pages} == {
        ("HTTP_ERROR", 959)
    }
    assert "/login" not in rows


def test_the_first_run_with_a_wrong_password_indexes_no_form(workspace: Workspace) -> None:
    site = Members(wrong="error")
    with site.serve() as url:
        define(workspace, f"{url}/members/", **login(url))
        (problem,) = crawl(workspace, WRONG, code=1)
        assert "login s:" in problem
        assert documents(workspace) == {}
        crawl(workspace, RIGHT, code=0)
    assert set(documents(workspace)) == set(site.pages)


@pytest.mark.parametrize("closed", ["redirect", "form", "text"])
def test_a_password_that_changes_in_the_middle_of_a_run(workspace: Workspace, closed: str) -> None:
    site = Members(closed=closed, wrong="error")
    asked: list[str] = []
    inside = site.inside

    def expire(request: Request) -> Reply:
        asked.append(request.path)
        if len(asked) == 4:
            site.open, site.accepts = False, "another"
        return inside(request)

    with site.serve() as url:
        define(workspace, f"{url}/members/", politeness={"delay": 0, "concurrency": 1}, **login(url))
        crawl(workspace, RIGHT, code=0)
        first = documents(workspace)
        asked.clear()
        site.dynamic("/members/*", expire)
        (problem,) = crawl(workspace, RIGHT, code=1)
        assert "login s:" in problem
        assert documents(workspace) == first
    assert len(site.sent) == 3, "once in the first run, twice in the second"


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside-headers"])
def test_a_session_that_expires_is_renewed(workspace: Workspace, beside: bool) -> None:
    site = Members(closed="text")
    inside, asked = site.inside, list[str]()

    def expire(request: Request) -> Reply:
        asked.append(request.path)
        site.open = len(asked) not in (4, 5)
        return inside(request)

    with site.serve() as url:
        headers = {"site_headers": {"c": {"url": f"{url}/", "headers": {"X-Key": "k"}}}} if beside else {}
        pace = {"delay": 0, "concurrency": 1}
        define(workspace, f"{url}/members/", politeness=pace, **login(url), **headers)
        crawl(workspace, RIGHT, code=0)
        first = documents(workspace)
        asked.clear()
        site.dynamic("/members/*", expire)
        crawl(workspace, RIGHT, code=0)
    assert documents(workspace) == first
    assert len(site.sent) == 3


def test_a_source_that_is_renamed_knows_what_visitors_get(workspace: Workspace) -> None:
    site = Members(closed="text", wrong="error")
    file = workspace.directory / "ultracrawl.yaml"
    with site.serve() as url:
        define(workspace, f"{url}/members/", **login(url))
        crawl(workspace, RIGHT, code=0)
        first = documents(workspace)
        file.write_text(file.read_text().replace("  site:", "  other:"))
        assert workspace.command("rename", "site", "other", "--yes").code == 0
        crawl(workspace, WRONG, code=1)
    assert documents(workspace) == first
    assert len(site.sent) == 2


def test_a_page_that_is_closed_to_the_account_stops_no_other(workspace: Workspace) -> None:
    site = Members()
    closed = [f"/closed/{number}" for number in range(6)]
    for path in closed:
        site.redirect(path, "/login", status=302)
    with site.serve() as url:
        start = [f"{url}/members/", *(f"{url}{path}" for path in closed)]
        define(
            workspace,
            f"{url}/members/",
            start_urls=start,
            politeness={"delay": 0, "concurrency": 1},
            **login(url),
        )
        crawl(workspace, RIGHT, code=0)
        crawl(workspace, RIGHT, code=0)
    rows = workspace.urls()
    assert {rows[path]["status_code"] for path in closed} == {959}
    assert set(documents(workspace)) == set(site.pages)
    assert len(site.sent) == 2, "the session lives, as the first page shows"


def test_a_known_page_that_is_closed_now_is_reported_and_stays(workspace: Workspace) -> None:
    site = Members()
    with site.serve() as url:
        define(workspace, f"{url}/members/", **login(url))
        crawl(workspace, RIGHT, code=0)
        first = documents(workspace)
        site.redirect("/members/b", "/login", status=302)
        (problem,) = crawl(workspace, RIGHT, code=1)
    assert "login s:" in problem
    assert documents(workspace) == first


# ---- log-ins that are not required


FILTERS = {
    "e": "Enumerate fn=enumerate-urls",
    "g": "Generate fn=extract-html-meta\nGenerate fn=extract-html-text",
}


REFUSALS = ["redirect", "form", "text", "home", "403", "404", *CONTENT]


@pytest.mark.parametrize(
    ("closed", "filtered"),
    [*((name, False) for name in REFUSALS), *((name, True) for name in ("redirect", "text", "noindex"))],
)
def test_without_a_login_that_is_not_required_the_rest_is_crawled(
    workspace: Workspace, closed: str, filtered: bool
) -> None:
    site = Members(closed=closed)
    filters = {"file": "filter.conf", "enumeration": "e", "generation": "g"}
    lines = (f"<Filter name={name}>\n{directives}\n</Filter>\n" for name, directives in FILTERS.items())
    (workspace.directory / "filter.conf").write_text("".join(lines))
    with site.serve() as url:
        options = {**login(url, required=False), **({"filters": filters} if filtered else {})}
        define(workspace, f"{url}/", errors=DELETING, **options)
        crawl(workspace, RIGHT, code=0)
        first = documents(workspace)
        site.page("/", title="Home", links=["/members/", "/news"], text="a club for friends of animals")
        site.page("/news", title="News", text="capybara arrived")
        (problem,) = crawl(workspace, WRONG, code=1)
        assert "login s:" in problem
        after = documents(workspace)
        assert {path: after[path] for path in first} == first
        assert set(after) == {*first, "/news"}
        site.page("/news", title="News", text="capybara left")
        crawl(workspace, WRONG, code=1)
        assert "left" in documents(workspace)["/news"][1], "the log-in had not shown it"
        assert crawl(workspace, RIGHT, code=0) == []
    assert {path: documents(workspace)[path] for path in site.pages} == {
        path: first[path] for path in site.pages
    }


@pytest.mark.parametrize("closed", ["text", "404"])
def test_what_was_shown_before_there_were_notes_stays(workspace: Workspace, closed: str) -> None:
    site = Members(closed=closed, wrong="again")
    with site.serve() as url:
        define(workspace, f"{url}/members/", errors=DELETING, **login(url, required=False))
        crawl(workspace, RIGHT, code=0)
        first = documents(workspace)
        (note,) = workspace.directory.rglob(f"*{LET_IN}*")
        note.unlink()
        for _ in range(2):
            crawl(workspace, WRONG, code=1)
    assert documents(workspace) == first


def test_a_site_that_never_needed_its_optional_login_goes_on(workspace: Workspace) -> None:
    site = Members()
    with site.serve() as url:
        define(workspace, f"{url}/", **login(url, required=False))
        crawl(workspace, WRONG, code=1)
        site.page("/", title="Home", text="otters moved in")
        crawl(workspace, WRONG, code=1)
    assert "otters" in documents(workspace)["/"][1]


# ---- sites whose pages look as if


def test_a_form_beside_every_page_proves_nothing(workspace: Workspace) -> None:
    site = NetworkSite()
    box = Members().form().decode()
    words = " ".join(f"word{chr(97 + number % 26) * (number // 26 + 1)}" for number in range(200))
    for path, links in (("/", '<a href="/x">x</a>'), ("/x", "")):
        page = f"<title>{path}</title>{box}<p>{words} {path}</p>{links}".encode()
        site.dynamic(path, lambda request, page=page: Reply(200, HTML, page))
    site.respond("/login", headers=dict(HTML), body=box)
    site.respond("/enter", headers=dict(HTML), body="welcome")
    with site.serve() as url:
        define(workspace, f"{url}/", **login(url))
        for _ in range(2):
            assert crawl(workspace, RIGHT, code=0) == []
    assert set(documents(workspace)) == {"/", "/x"}


def test_a_page_that_ends_idle_sessions_is_content(workspace: Workspace) -> None:
    site = Members()
    head = '<meta http-equiv="refresh" content="1800; url=/login">'
    site.page("/idle", title="Idle", head=head, text="capybara")
    with site.serve() as url:
        define(workspace, f"{url}/idle", **login(url))
        assert crawl(workspace, RIGHT, code=0) == []
    assert "/idle" in documents(workspace)


@pytest.mark.parametrize("place", ["http://[", "//", "http://a:b:c/"])
def test_redirects_to_nowhere_end_one_page(workspace: Workspace, place: str) -> None:
    site = Members()
    site.redirect("/members/b", place, status=302)
    with site.serve() as url:
        define(workspace, f"{url}/members/", **login(url))
        assert crawl(workspace, RIGHT, code=0) == []
    assert set(documents(workspace)) == {"/members/", "/members/a"}


def test_a_form_that_is_the_front_page_for_visitors_only(workspace: Workspace) -> None:
    site = Members(wrong="error")
    site.dynamic(
        "/", lambda request: site.inside(request) if site.lets_in(request) else Reply(200, HTML, site.form())
    )
    site.pages["/"] = "dashboard"
    site.redirect("/index.php", "/", status=302)
    with site.serve() as url:
        define(workspace, f"{url}/index.php", logins={"s": {"page": f"{url}/", "fields": FIELDS}})
        check_three_runs(workspace, "login s:")
    assert any("dashboard" in text for _, text in documents(workspace).values())


@pytest.mark.parametrize("elsewhere", [False, True], ids=["without", "of-another-host"])
def test_the_advice_to_log_in(workspace: Workspace, elsewhere: bool) -> None:
    site = Members(closed="next")
    with site.serve() as url:
        options = login("http://127.0.0.9:1") if elsewhere else {}
        define(workspace, f"{url}/members/", **options)
        (problem,) = crawl(workspace, RIGHT, code=1)
    assert (sentence("logins.advice") in problem) is not elsewhere
    assert ("`sites`" in problem) is elsewhere


# ---- other kinds


@pytest.mark.parametrize("closed", ["redirect", "home", "text", "401", "403", "404"])
def test_cookies_by_hand(workspace: Workspace, closed: str) -> None:
    site = Members(closed=closed)
    site.lets_in = lambda request: request.header("Cookie") == f"sid={RIGHT}"  # type: ignore[method-assign]
    with site.serve() as url:
        entry = {"url": f"{url}/members/", "headers": {"Cookie": "${COOKIE}"}}
        define(workspace, f"{url}/members/", errors=DELETING, site_headers={"c": entry})
        found = list[dict[str, tuple[str, str]]]()
        for value, code in ((RIGHT, 0), (WRONG, 1), (RIGHT, 0)):
            run = workspace.crawl(code=code, COOKIE=f"sid={value}").run
            found.append(documents(workspace))
            assert [("site_headers.c" in one) for one in run["problems"]] == [True] * code
    assert set(found[0]) == set(site.pages)
    assert found[1:] == found[:1] * 2


@pytest.mark.parametrize("rules", [{}, {"4xx": "DELETE"}, {"401": "DELETE"}], ids=["default", "4xx", "401"])
def test_basic(workspace: Workspace, rules: dict[str, str]) -> None:
    site = Members(closed="401")
    # base64 of ada:s3cret
    site.lets_in = lambda request: request.header("Authorization") == "Basic YWRhOnMzY3JldA=="  # type: ignore[method-assign]
    refuse = site.refuse
    site.refuse = lambda request: Reply(401, (("WWW-Authenticate", "Basic realm=x"),), refuse(request).body)  # type: ignore[method-assign]
    with site.serve() as url:
        entry = {"url": f"{url}/members/", "user": "ada", "password": "${PW}", "scheme": "basic"}
        define(workspace, f"{url}/members/", errors={"http": rules}, authentication={"a": entry})
        check_three_runs(workspace, "authentication a:")


def test_basic_of_one_page(workspace: Workspace) -> None:
    """One refusal is fewer than those after which a password is given up, and is reported all the same."""
    site = NetworkSite()
    accepts = ["Basic YWRhOnMzY3JldA=="]

    def answer(request: Request) -> Reply:
        if request.header("Authorization") == accepts[0]:
            return Reply(200, HTML, b"<title>A</title><p>axolotl")
        return Reply(401, (("WWW-Authenticate", "Basic realm=x"),))

    site.dynamic("/a", answer)
    with site.serve() as url:
        entry = {"url": f"{url}/", "user": "ada", "password": "${PW}", "scheme": "basic"}
        define(workspace, f"{url}/a", authentication={"a": entry}, sitemaps={"discover": False})
        crawl(workspace, RIGHT, code=0)
        (problem,) = crawl(workspace, WRONG, code=1)
    assert "authentication a:" in problem
    assert set(documents(workspace)) == {"/a"}


@pytest.mark.processes
@pytest.mark.parametrize("scheme", ["digest", "ntlm"])
def test_digest_and_ntlm(workspace: Workspace, scheme: str) -> None:
    user = "CORP\\robot" if scheme == "ntlm" else "robot"
    server = (
        ntlm_site(workspace.directory, user, RIGHT, pages=3)
        if scheme == "ntlm"
        else guarded_site("digest", user, RIGHT, pages=3)
    )
    with server as url:
        entry = {"url": f"{url}/private/", "user": user, "password": "${PW}", "scheme": scheme}
        define(workspace, f"{url}/", errors=DELETING, authentication={"a": entry})
        found = [crawl(workspace, RIGHT, code=0), documents(workspace)]
        (problem,) = crawl(workspace, WRONG, code=1)
        assert "authentication a:" in problem
        assert [[], documents(workspace)] == found
        assert [crawl(workspace, RIGHT, code=0), documents(workspace)] == found
    assert len(documents(workspace)) == 4


CLOSED = 'if ($ssl_client_verify != SUCCESS) { return 403; } return 200 "needle";'
ASKS = 'ssl_verify_client optional; ssl_client_certificate "{ca}";'


@pytest.mark.servers
def test_a_client_certificate(workspace: Workspace) -> None:
    folder = workspace.directory
    (folder / "other").mkdir()
    authority, other = Authority(folder), Authority(folder / "other", "Another CA")
    right, wrong = authority.issue("crawler"), other.issue("stranger")
    with secured(folder, authority, CLOSED, server=ASKS.format(ca=authority.file)) as (_, address):
        for number, ((certificate, key), code) in enumerate(((right, 0), (wrong, 1), (right, 0))):
            entry = {"certificate": str(certificate), "key": str(key)}
            options = {"types": ["text/plain"], "client_certificates": {"c": entry}, "errors": DELETING}
            define(workspace, f"{address}/page", **options)
            run = workspace.crawl(code=code, SSL_CERT_FILE=str(authority.file)).run
            assert [("client_certificates.c" in one) for one in run["problems"]] == [True] * code, number
            assert set(documents(workspace)) == {"/page"}


def fast(workspace: Workspace, url: str, password: str, *, ignored: bool, code: int) -> dict[str, str]:
    """Crawl a collection with a log-in, and return the texts that the index has; 4xx deletes, as it does by default."""
    options = {"html_form": f"{url}/login", "site": url.split("/")[2], "form": "/enter"}
    own = "".join(f'<attrib name="{name}" type="string">{value}</attrib>' for name, value in options.items())
    sites = '<attrib name="sites" type="list-string"><member>127.0.0.1</member></attrib>'
    parameters = section_of("parameters", {"user": "ada", "password": password})
    settings = {"start_uris": (f"{url}/",), "delay": 0.0, "login_failed_ignore": ignored}
    inside = f'<Login name="s">{own}{sites}{parameters}</Login>'
    (workspace.directory / "c.xml").write_text(fast_xml(settings, inside=inside))
    run = workspace.command("crawl", "-c", "c.xml", "--json")
    assert run.code == code, run.err
    rows = map(json.loads, workspace.command("index", "dump", "-c", "c.xml").out.splitlines())
    return {"/" + row["url"].split("/", 3)[3]: row["text"] for row in rows}


@pytest.mark.parametrize("ignored", [False, True], ids=["fast_59-no", "fast_59-yes"])
@pytest.mark.parametrize("closed", ["redirect", "403"])
def test_fast_216_a_wrong_password_of_a_collection(workspace: Workspace, closed: str, ignored: bool) -> None:
    site = Members(closed=closed, wrong="error")
    with site.serve() as url:
        first = fast(workspace, url, RIGHT, ignored=ignored, code=0)
        assert set(site.pages) <= set(first)
        assert fast(workspace, url, WRONG, ignored=ignored, code=1) == first
        assert fast(workspace, url, RIGHT, ignored=ignored, code=0) == first


def test_the_password_of_a_portal_robot(workspace: Workspace) -> None:
    site = Members(closed="401")
    site.lets_in = lambda request: request.header("Authorization") == "Basic YWRhOnMzY3JldA=="  # type: ignore[method-assign]
    site.refuse = lambda request: Reply(401, (("WWW-Authenticate", "Basic realm=x"),))  # type: ignore[method-assign]
    robot = RobotFiles(workspace)
    with site.serve() as url:
        robot.site(f"{url}/members/")
        found = list[set[str]]()
        for password, code in ((RIGHT, 0), (WRONG, 1), (RIGHT, 0)):
            robot.properties(username="ada", password=password)
            robot.crawl(code)
            found.append({str(hit["url"]).removeprefix(url) for hit in robot.found("tusk OR gills OR smile")})
    assert found == [set(site.pages)] * 3
