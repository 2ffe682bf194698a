"""Who may do what, for every route of the application: roles, forged forms, other sites, links that lead nowhere."""

from __future__ import annotations

import hashlib
import re
import socket
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from lxml.html import document_fromstring
from service.access.conftest import Browser
from service.pages.admin.conftest import PASSWORD, Administration
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.pages import bird_site

from ultracrawl.model import ScheduleStatus
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.access import CSRF_HEADER
from ultracrawl.service.api.public_keys import PublicKeys
from ultracrawl.service.orders import ScheduleState

VALUES = {"name": "site", "number": "1", "order": "launch"}
QUERY = "url=http://a.example/&q=heron&source=site"
NOBODY = None
OF_ROLES: dict[Role | None, str] = {
    NOBODY: """
        GET /healthz            GET /readyz                 GET /static/{name}          GET /opensearch.xml
        GET /login              POST /login                 GET /login/oidc             GET /login/oidc/callback
        POST /logout            POST /preferences
        """,
    Role.READER: """
        GET /account            POST /account/password      POST /account/sessions
        GET /                   GET /progress               GET /suggestions            GET /cached
        GET /mail               GET /metrics                GET /admin                  GET /admin/sources.csv
        GET /admin/sources.json GET /admin/sources/{name}   GET /admin/schedules        GET /admin/sources/{name}/runs
        GET /admin/sources/{name}/runs/{number}
        GET /api/v1/search      GET /api/v1/suggest         GET /api/v1/documents       POST /api/v1/clicks
        GET /api/v1/sources     GET /api/v1/sources/{name}  GET /api/v1/schedules       GET /api/v1/openapi.json
        GET /api/v1/sources/{name}/runs                     GET /api/v1/sources/{name}/runs/difference
        """,
    Role.EDITOR: """
        GET /admin/approvals    GET /admin/queries          GET /admin/queries/query    GET /admin/sources/{name}/url
        GET /admin/sources/{name}/urls                      GET /admin/sources/{name}/urls.csv
        POST /admin/sources/{name}/approvals                POST /admin/sources/{name}/changes
        POST /admin/sources/{name}/deletions                POST /admin/sources/{name}/submit
        POST /admin/sources/{name}/start                    POST /admin/sources/{name}/stop
        POST /admin/sources/{name}/pause                    POST /admin/sources/{name}/resume
        POST /admin/sources/{name}/remove
        GET /api/v1/queries     GET /api/v1/queries/golden  GET /api/v1/sources/{name}/explain
        GET /api/v1/sources/{name}/approvals                POST /api/v1/sources/{name}/approvals
        GET /api/v1/sources/{name}/changes                  POST /api/v1/sources/{name}/changes
        GET /api/v1/sources/{name}/deletions                POST /api/v1/sources/{name}/deletions
        GET /api/v1/sources/{name}/plan                     GET /api/v1/sources/{name}/queue
        GET /api/v1/sources/{name}/urls                     POST /api/v1/sources/{name}/urls
        POST /api/v1/sources/{name}/start                   POST /api/v1/sources/{name}/stop
        POST /api/v1/sources/{name}/pause                   POST /api/v1/sources/{name}/resume
        """,
    Role.ADMINISTRATOR: """
        GET /admin/access       POST /admin/access/tokens/{name:path}
        GET /admin/access/new-user                          POST /admin/access/users
        GET /admin/access/users/{name}                      POST /admin/access/users/{name}/rights
        POST /admin/access/users/{name}/password            POST /admin/access/users/{name}/remove
        GET /admin/access/new-token                         POST /admin/access/tokens
        GET /admin/access/new-key                           POST /admin/access/keys
        GET /admin/audit        GET /admin/audit.csv        GET /admin/definitions      GET /admin/definitions/new
        GET /admin/definitions/schedules                    POST /admin/definitions/schedules
        POST /admin/definitions/schedules/undo              POST /admin/definitions/schedules/what-if
        GET /admin/sources/{name}/definition                POST /admin/sources/{name}/definition
        POST /admin/sources/{name}/definition/undo          POST /admin/sources/{name}/definition/what-if
        GET /admin/sources/{name}/suggestions
        POST /admin/schedules/{name}/{order}                POST /api/v1/schedules/{name}/{order}
        GET /api/v1/definitions/schedules                   PUT /api/v1/definitions/schedules
        POST /api/v1/definitions/schedules/undo             POST /api/v1/definitions/schedules/what-if
        GET /api/v1/definitions/schedules/versions          POST /api/v1/reload
        GET /api/v1/sources/{name}/definition               PUT /api/v1/sources/{name}/definition
        POST /api/v1/sources/{name}/definition/undo         POST /api/v1/sources/{name}/definition/what-if
        GET /api/v1/sources/{name}/definition/versions      GET /api/v1/sources/{name}/definition/versions/{number}
        """,
}
"""Every way into the service, and who may at least take it. What nobody needs a session for shows forms to log in,
styles, colours, the name of the page, and whether the service lives."""
WITH_FORMS_OF_THEIR_OWN = {"/login", "/preferences"}
"""Their tokens are not those of sessions; see the tests of log-ins and of colours."""
SEARCHING = re.compile(r"^(/|/progress|/suggestions|/cached|/mail|/api/v1/(search|suggest|documents))$")
"""What takes one of the few places for searches."""


class Route(NamedTuple):
    """A way into the application."""

    method: str
    path: str

    @property
    def url(self) -> str:
        """A path that fits, with a query where there may be one."""
        values = {**VALUES, **({"name": "night"} if "/schedules/" in self.path else {})}
        filled = re.sub(r"\{(\w+)(:path)?\}", lambda found: values[found[1]], self.path)
        return f"{filled}?{QUERY}" if self.method == "GET" else filled


def routes_of(found: Iterable[Any]) -> Iterator[Route]:
    """Yield the routes of an application, those of included routers too."""
    for one in found:
        included = getattr(one, "effective_candidates", None)
        if included is not None:
            yield from routes_of(included())
        else:
            yield from (Route(method, one.path) for method in sorted(one.methods - {"HEAD"}))


def administered(folder: Path, head: str = "") -> Administration:
    """Return a source with documents that wait, a schedule, a token, and users of each role who are signed in."""
    workspace, site = InProcessWorkspace(folder), bird_site()
    with site.serve() as url:
        workspace.define(f"{url}/", crawling_mode="examine")
        definition = workspace.directory / "ultracrawl.yaml"
        schedules = "schedules: {night: {sources: [site], cron: '0 3 * * *'}}\n"
        definition.write_text(f"{head}{definition.read_text()}{schedules}")
        workspace.crawl()
    made = Administration(workspace)
    made.supervisor.timed["night"] = ScheduleState("night", ("site",), ScheduleStatus.SCHEDULED)
    TokenStore.of_project(made.project).create_token("portal", Role.READER, ())
    for role in Role:
        made.browser(role)
    return made


@pytest.fixture(scope="module")
def administration(tmp_path_factory: pytest.TempPathFactory) -> Administration:
    """For tests that leave it as it is."""
    return administered(tmp_path_factory.mktemp("rights"))


def all_routes(administration: Administration) -> list[Route]:
    found = sorted(set(routes_of(administration.app.routes)))
    assert {Route("GET", "/admin"), Route("POST", "/api/v1/sources/{name}/start")} <= set(found)
    return found


def ask(
    administration: Administration, routes: Iterable[Route], role: Role | None, **headers: str
) -> dict[Route, int]:
    """Return the status of each, sent with the CSRF token; 401 where a page leads to the log-in form."""
    asked, browser = list(routes), administration.browser(role)
    token = {} if role is NOBODY else {CSRF_HEADER: browser.session_token}
    options = {"headers": {**token, **headers}}
    answers = browser.ask_all([(route.method, route.url, options) for route in asked])
    leads = [one.headers.get("location", "").startswith("/login?next=") for one in answers]
    return {
        route: int(HTTPStatus.UNAUTHORIZED) if is_led else answer.status_code
        for route, answer, is_led in zip(asked, answers, leads, strict=True)
    }


def present(administration: Administration) -> str:
    """Return a digest of what the service can change, apart from its logs and who is logged in."""
    folder = administration.workspace.directory
    files = (
        path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix not in {".log", ".jsonl"}
    )
    kept = [path for path in files if path.name not in {"sessions.json", "log-ins.json", "token-uses.json"}]
    texts = [path.read_bytes() for path in kept if not path.name.endswith(("-shm", "-wal"))]
    return hashlib.sha256(b"".join((*texts, repr(administration.supervisor.orders).encode()))).hexdigest()


REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}


LEAST = {
    Route(method, path): role
    for role, text in OF_ROLES.items()
    for method, path in re.findall(r"([A-Z]+) (\S+)", text)
}


def test_each_way_in_has_its_role(administration: Administration) -> None:
    """A new route fails here until somebody has decided who may take it."""
    assert sorted(LEAST) == all_routes(administration)


def test_each_role_that_lacks_a_right_is_refused_and_changes_nothing(administration: Administration) -> None:
    before = present(administration)
    for role, expected in ((NOBODY, 401), (Role.READER, 403), (Role.EDITOR, 403)):
        lacking = [
            route
            for route, needed in LEAST.items()
            if needed is not NOBODY and (role is NOBODY or not role.allows(needed))
        ]
        assert len(lacking) > 20
        refused = ask(administration, lacking, role)
        assert {route: status for route, status in refused.items() if status != expected} == {}, role
    assert present(administration) == before


def test_nothing_is_sent_without_the_token_of_the_session_or_from_another_site(
    administration: Administration,
) -> None:
    before, browser = present(administration), administration.browser()
    other = administration.browser(Role.EDITOR).session_token
    sending = [
        route
        for route in all_routes(administration)
        if route.method != "GET" and route.path not in WITH_FORMS_OF_THEIR_OWN
    ]
    forged: tuple[dict[str, Any], ...] = (
        {},
        {"data": {"csrf_token": "x" * 43}},
        {"headers": {CSRF_HEADER: other}},
    )
    for options in forged:
        answers = browser.ask_all([(route.method, route.url, options) for route in sending])
        assert {one.status_code for one in answers} == {403}, options
    for site in ("cross-site", "same-site"):
        statuses = ask(administration, sending, Role.ADMINISTRATOR, **{"Sec-Fetch-Site": site})
        assert set(statuses.values()) == {403}, site
    assert present(administration) == before


def test_reading_changes_nothing(administration: Administration) -> None:
    before = present(administration)
    found = (route for route in all_routes(administration) if not SEARCHING.match(route.path))
    read = [route for route in found if route.method == "GET"]
    answers = ask(administration, read, Role.ADMINISTRATOR)
    assert {route: status for route, status in answers.items() if status >= 500} == {}
    assert present(administration) == before


def seen(administration: Administration, role: Role) -> tuple[dict[str, int], set[str]]:
    """Return the pages of the administration that links lead to, with their status, and the forms on them."""
    found, waiting, forms = dict[str, int](), ["/admin"], set[str]()
    while waiting:
        path = waiting.pop()
        if path in found or "language=" in path:
            continue
        answer = administration.browser(role).get(path)
        found[path] = answer.status_code
        if answer.headers["content-type"].startswith("text/html"):
            page = document_fromstring(answer.text)
            forms |= {one.get("action") for one in page.cssselect("form[method=post]")}
            forms |= {one.get("formaction") for one in page.cssselect("button[formaction]")}
            links = (one.get("href") for one in page.cssselect("a[href]"))
            waiting += [one for one in links if one.startswith(("/admin", "/api/"))]
    return found, {action for action in forms if action.startswith("/admin")}


def test_links_and_buttons_are_those_that_work_for_a_role(administration: Administration) -> None:
    by_role = {role: seen(administration, role) for role in Role}
    for pages, _ in by_role.values():
        assert {path: status for path, status in pages.items() if status != 200} == {}
    reader, editor, administrator = (by_role[role][1] for role in Role)
    assert reader == set()
    assert reader < editor < administrator
    before = present(administration)
    for role, shown in ((Role.READER, reader), (Role.EDITOR, editor)):
        for action in administrator - shown:
            assert administration.send(action, role).status_code == 403, (role, action)
    assert present(administration) == before
    for action in editor:
        assert administration.send(action, Role.EDITOR).status_code not in REFUSED, action


def test_an_explanation_is_no_oracle_about_other_networks(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[object] = []

    def look_up(*words: object, **_: object) -> list[object]:
        looked_up.append(words)
        raise OSError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    browser, said = administration.browser(Role.EDITOR), set[tuple[str, ...]]()
    for host in ("intranet.example", "localhost.example", "no-such-name.example"):
        url, texts = f"http://{host}/", list[str]()
        for path in ("/admin/sources/site/url", "/api/v1/sources/site/explain"):
            answer = browser.get(path, params={"url": url})
            assert answer.status_code == 200
            texts.append(answer.text)
        submitted = administration.send("/admin/sources/site/submit", Role.EDITOR, url=url)
        texts += [str(submitted.status_code), submitted.text]
        said.add(tuple(one.replace(host, "HOST") for one in texts))
    assert (len(said), looked_up) == (1, [])


@pytest.mark.parametrize("role", list(Role))
def test_each_role_gets_in_where_it_may(tmp_path: Path, role: Role) -> None:
    """So that no refusal above is one of everybody."""
    own = [route for route, needed in LEAST.items() if needed is role and not SEARCHING.match(route.path)]
    answers = ask(administered(tmp_path), own, role)
    assert {route: status for route, status in answers.items() if status in REFUSED} == {}


def test_anybody_at_a_public_page_and_a_public_key_may_search_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PublicKeys, "_check_rates", lambda *_: None)
    made = administered(tmp_path, "search_page: {public: true}\n")
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("    type: web", "    type: web\n    public: confirmed"))
    key = TokenStore.of_project(made.project).create_token("box", None, sites=["https://a.example"])
    others = [
        route
        for route, needed in LEAST.items()
        if needed is not NOBODY and not SEARCHING.match(route.path) and route.path != "/api/v1/clicks"
    ]
    assert made.status("/?q=heron", NOBODY) == 200, "anybody may search"
    before = present(made)
    for header in ({}, {"Authorization": f"Bearer {key}"}):
        answers = ask(made, others, NOBODY, **header)
        assert {route: status for route, status in answers.items() if status not in REFUSED} == {}
    assert present(made) == before


@pytest.mark.parametrize("mode", ["accept-all", "examine"])
def test_texts_of_documents_of_others_are_on_no_page(workspace: InProcessWorkspace, mode: str) -> None:
    site = NetworkSite()
    site.page("/", title="Start", links=["/a"], text="the start of all")
    site.page("/a", title="Halcyon", text="the kingfisher breeds behind the mill")
    with site.serve() as url:
        workspace.define(f"{url}/", crawling_mode=mode, acl=["staff"], storage={"keep": True})
        workspace.crawl()
        made = Administration(workspace)
        asked = [f"/admin/sources/site/url?url={url}/a&more=true", "/admin/queries/query?q=kingfisher"]
        asked += [
            f"/cached?source=site&url={url}/a",
            "/?q=kingfisher",
            f"/api/v1/documents?source=site&url={url}/a",
        ]
        for role in (Role.READER, Role.EDITOR):
            for path in {*seen(made, role)[0], *asked}:
                text = made.browser(role).get(path).text
                assert "breeds" not in text, path
                assert "Halcyon" not in text, path
        made.users.add_user("eve", Role.EDITOR, PASSWORD, None)
        eve = Browser(made)  # type: ignore[arg-type]
        eve.log_in("eve")
        path = asked[0] if mode == "accept-all" else "/admin/approvals"
        assert "Halcyon" in eve.get(path).text, "who sees all documents does"


def test_a_user_who_becomes_a_searcher_logs_in_again_and_is_led_to_the_search(
    administration: Administration,
) -> None:
    assert administration.status("/admin", Role.READER) == 200
    administration.users.change_rights(Role.READER.value, role=None)
    browser = administration.browser(Role.READER)
    assert browser.get("/admin").status_code == 303, "other rights end all sessions"
    assert browser.log_in(Role.READER.value).status_code == 303
    refused = browser.get("/admin")
    assert refused.status_code == 403
    links = [one.get("href") for one in document_fromstring(refused.text).cssselect(".no-answer a")]
    assert links == ["/"]
    assert administration.status("/", Role.READER) == 200
    missing = administration.browser(Role.EDITOR).get("/admin/sources/none")
    assert "/admin" in [
        one.get("href") for one in document_fromstring(missing.text).cssselect(".no-answer a")
    ]
