"""HTTP authentication in real crawls, by both download handlers: where it goes, where it does not, when it ends."""

from __future__ import annotations

import base64
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from support.network import NetworkSite
from support.nginx import nginx_site
from support.ntlm_site import log_of as ntlm_log
from support.ntlm_site import ntlm_site
from support.project import Workspace
from support.resource import Reply
from support.sentences import sentence
from support.server import Request
from support.site import Site
from support.twisted_guard import guarded_site

PASSWORD = "correct horse bättery"
STAFF = {"user": "robot", "password": "${STAFF_PASSWORD}"}
BASIC = "Basic " + base64.b64encode(f"robot:{PASSWORD}".encode()).decode()


def protected(site: Site, path: str, realm: str = "Staff", accepted: str = BASIC) -> None:
    """Have a page ask for Basic."""

    def answer(request: Request) -> Reply:
        if request.header("Authorization") == accepted:
            return Reply(
                200,
                (("Content-Type", "text/html"),),
                f"<title>P</title><p>secretword {request.path}</p>".encode(),
            )
        return Reply(401, (("WWW-Authenticate", f'Basic realm="{realm}"'),), b"no")

    site.dynamic(path, answer)


def authorised(site: Site) -> dict[str, int]:
    """Return how often each path got an Authorization header."""
    asked = [one.path for one in site.requests if one.header("Authorization")]
    return {path: asked.count(path) for path in asked}


def crawl(workspace: Workspace, code: int | None = 0) -> dict[str, Any]:
    return workspace.crawl(code=code, STAFF_PASSWORD=PASSWORD).run


@pytest.mark.servers
def test_ultra_search_104_basic_against_nginx(tmp_path: Path, workspace: Workspace) -> None:
    root = tmp_path / "root"
    (root / "staff").mkdir(parents=True)
    (root / "index.html").write_text('<title>Home</title><a href="/staff/plan.html">plan</a>')
    (root / "staff" / "plan.html").write_text("<title>Plan</title><p>secretword</p>")
    (tmp_path / "users").write_text(f"robot:{{PLAIN}}{PASSWORD}\n")
    extra = (
        f'location /staff/ {{ auth_basic Staff; auth_basic_user_file "{tmp_path}/users"; root "{root}"; }}'
    )
    with nginx_site(root, extra=extra) as server:
        entry = {**STAFF, "url": f"{server.url}/staff/", "scheme": "basic"}
        workspace.define(f"{server.url}/", authentication={"staff": entry})
        crawl(workspace)
        assert workspace.search("secretword") == ["/staff/plan.html"]
        assert [line.status for line in server.requests() if line.path == "/staff/plan.html"] == [200]


@pytest.mark.parametrize("scheme", ["digest", "auto"])
@pytest.mark.processes
def test_ultra_search_105_digest_against_twisted(workspace: Workspace, scheme: str) -> None:
    with guarded_site("digest", "robot", PASSWORD, pages=12) as url:
        entry = {**STAFF, "url": f"{url}/private/", "scheme": scheme}
        workspace.define(f"{url}/", authentication={"staff": entry})
        run = crawl(workspace)
    assert run["outcomes"] == {"NEW": 13}
    assert len(workspace.search("secretword")) == 12


@pytest.mark.parametrize("scheme", ["ntlm", "auto"])
@pytest.mark.processes
def test_fast_177_ntlm_against_pyspnego(workspace: Workspace, scheme: str) -> None:
    with ntlm_site(workspace.directory, "CORP\\robot", PASSWORD, pages=30) as url:
        entry = {
            "user": "CORP\\robot",
            "password": "${STAFF_PASSWORD}",
            "url": f"{url}/private/",
            "scheme": scheme,
        }
        workspace.define(f"{url}/", authentication={"staff": entry})
        assert crawl(workspace)["outcomes"] == {"NEW": 31}
    assert len(workspace.search("secretword")) == 30
    handshakes = [line for line in ntlm_log(workspace.directory) if " NTLM " in line]
    assert 2 <= len(handshakes) <= 8, "one for each of at most four connections"


@pytest.mark.processes
def test_fast_177_204_a_body_is_sent_with_ntlm(workspace: Workspace) -> None:
    with ntlm_site(workspace.directory, "CORP\\robot", PASSWORD, pages=3) as url:
        entry = {"user": "CORP\\robot", "password": "${STAFF_PASSWORD}", "url": f"{url}/private/"}
        workspace.define(
            f"{url}/",
            authentication={"staff": {**entry, "scheme": "ntlm"}},
            post_payload={f"{url}/private/1": "q=all"},
            politeness={"delay": 0, "concurrency": 1},
        )
        assert crawl(workspace)["outcomes"] == {"NEW": 4}
    log = ntlm_log(workspace.directory)
    assert "/private/1 body q=all" in log
    assert [line for line in log if line.startswith("/private/1 ") and line.endswith(" 200")] == [
        "/private/1 NTLM 200"
    ]


@pytest.mark.processes
def test_a_wrong_ntlm_password_is_given_up(workspace: Workspace) -> None:
    with ntlm_site(workspace.directory, "CORP\\robot", "another", pages=10) as url:
        entry = {
            "user": "CORP\\robot",
            "password": "${STAFF_PASSWORD}",
            "url": f"{url}/private/",
            "scheme": "ntlm",
        }
        workspace.define(f"{url}/", authentication={"staff": entry})
        run = crawl(workspace, code=1)
    assert len(run["problems"]) == 1
    assert len([line for line in ntlm_log(workspace.directory) if " NTLM " in line]) == 6
    assert workspace.urls()["/private/5"]["status_code"] == 401


def test_after_the_first_challenge_auto_sends_basic_at_once(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=[f"/staff/{number}" for number in range(6)])
    for number in range(6):
        protected(site, f"/staff/{number}")
    workspace.define(
        f"{url}/",
        authentication={"staff": {**STAFF, "url": f"{url}/staff/"}},
        politeness={"delay": 0, "concurrency": 1},
    )
    assert crawl(workspace)["outcomes"] == {"NEW": 7}
    assert len([path for path in site.paths() if path.startswith("/staff/")]) == 7


def test_the_answers_of_a_nonce_keep_their_order(site: Site, url: str, workspace: Workspace) -> None:
    pages = [f"/staff/{number}" for number in range(24)]
    site.page("/", title="Home", links=pages)
    counts: dict[str, list[int]] = {}
    busy_until: dict[str, float] = {}
    challenged = itertools.count()

    def answer(request: Request) -> Reply:
        given = dict(re.findall(r'(\w+)="?([^",]+)', request.header("Authorization") or ""))
        if not given:
            challenge = f'Digest realm="Staff", nonce="n{next(challenged)}", qop="auth"'
            return Reply(401, (("WWW-Authenticate", challenge),))
        nonce = given["nonce"]
        counts.setdefault(nonce, []).append(int(given["nc"], 16))
        overlaps = request.time < busy_until.get(nonce, 0)
        busy_until[nonce] = request.time + 0.05
        body = f"<title>{request.path}</title>".encode()
        return Reply(500 if overlaps else 200, (("Content-Type", "text/html"),), body, delay=0.05)

    for page in pages:
        site.dynamic(page, answer)
    entry = {**STAFF, "url": f"{url}/staff/", "scheme": "digest"}
    workspace.define(f"{url}/", authentication={"staff": entry})
    assert crawl(workspace)["outcomes"] == {"NEW": 25}
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in counts.values())
    assert len(counts) <= 8, "one nonce for each request at a time"


@pytest.mark.processes
def test_auto_takes_basic_where_nothing_else_is_offered(workspace: Workspace) -> None:
    with guarded_site("basic", "robot", PASSWORD) as url:
        entry = {**STAFF, "url": f"{url}/private/"}
        workspace.define(f"{url}/", authentication={"staff": entry})
        assert crawl(workspace)["outcomes"] == {"NEW": 6}


@pytest.mark.parametrize(
    ("scheme", "requests", "with_password"),
    [pytest.param("basic", 1, 1, id="at-once"), pytest.param("auto", 2, 1, id="when-asked")],
)
def test_requests_for_a_protected_page(
    site: Site, url: str, workspace: Workspace, scheme: str, requests: int, with_password: int
) -> None:
    site.page("/", title="Home", links=["/staff/a"])
    protected(site, "/staff/a")
    entry = {**STAFF, "url": f"{url}/staff/", "scheme": scheme}
    workspace.define(f"{url}/", authentication={"staff": entry})
    assert crawl(workspace)["outcomes"] == {"NEW": 2}
    assert site.count("/staff/a") == requests
    assert authorised(site) == {"/staff/a": with_password}


def test_p4_only_the_prefix_gets_the_password(site: Site, url: str, workspace: Workspace) -> None:
    other = NetworkSite()
    for path in ("/staff/a", "/x"):
        protected(other, path)
    site.page("/", title="Home", links=["/staff/a", "/staffroom", "/open"])
    for path in ("/staff/a", "/staffroom", "/open"):
        protected(site, path)
    with other.serve(host="127.0.0.2") as elsewhere:
        site.redirect("/staff/out", f"{elsewhere}/staff/a", status=302)
        site.redirect("/staff/up", "/x", status=302)
        protected(site, "/x")
        links = ["/staff/a", "/staffroom", "/open", "/staff/out", "/staff/up", f"{elsewhere}/x"]
        site.page("/", title="Home", links=links)
        entry = {**STAFF, "url": f"{url}/staff/", "scheme": "basic"}
        boundary = {"domains": {"include": ["127.0.0.1", "127.0.0.2"]}}
        workspace.define(f"{url}/", authentication={"staff": entry}, boundary=boundary)
        crawl(workspace)
    assert set(authorised(site)) == {"/staff/a", "/staff/out", "/staff/up"}
    assert other.count("/staff/a") == other.count("/x") == 1
    assert authorised(other) == {}
    assert workspace.urls()["/staffroom"]["status_code"] == 401


@pytest.mark.parametrize("scheme", ["basic", "auto"])
def test_a_wrong_password_is_tried_three_times_and_reported_once(
    site: Site, url: str, workspace: Workspace, scheme: str
) -> None:
    pages = [f"/staff/{number}" for number in range(10)]
    site.page("/", title="Home", links=pages)
    for page in pages:
        protected(site, page, accepted="never")
    entry = {**STAFF, "url": f"{url}/staff/", "scheme": scheme}
    workspace.define(f"{url}/", authentication={"staff": entry})
    run = crawl(workspace, code=1)
    assert sum(authorised(site).values()) == 3
    assert max(authorised(site).values()) == 1
    assert [line for line in run["problems"] if "authentication staff" in line] == run["problems"]
    assert len(run["problems"]) == 1
    rows = workspace.urls()
    assert {rows[page]["status_code"] for page in pages} == {401}
    assert {rows[page]["outcome"] for page in pages} == {"HTTP_ERROR"}


@pytest.mark.parametrize(("realm", "status"), [("Staff", 200), ("Others", 401)])
def test_ultra_search_104_a_realm_alone_holds_on_the_sites_of_the_start_urls(
    site: Site, url: str, workspace: Workspace, realm: str, status: int
) -> None:
    other = NetworkSite()
    protected(other, "/x", realm="Staff")
    with other.serve(host="127.0.0.2") as elsewhere:
        site.page("/", title="Home", links=["/a", f"{elsewhere}/x"])
        protected(site, "/a", realm=realm)
        boundary = {"domains": {"include": ["127.0.0.1", "127.0.0.2"]}}
        entry = {**STAFF, "realm": "Staff"}
        workspace.define(f"{url}/", authentication={"staff": entry}, boundary=boundary)
        crawl(workspace)
    assert workspace.urls()["/a"]["status_code"] == status
    assert authorised(other) == {}


def test_without_an_entry_a_protected_page_is_401(site: Site, url: str, workspace: Workspace) -> None:
    protected(site, "/")
    workspace.define(f"{url}/")
    workspace.crawl(code=None)
    assert workspace.urls()["/"]["status_code"] == 401
    assert authorised(site) == {}


@pytest.mark.parametrize(
    ("password", "env", "words"),
    [
        pytest.param("${NOT_THERE}", {}, "the environment variable NOT_THERE is not set", id="variable"),
        pytest.param("file:none.txt", {}, "cannot be read", id="file"),
        pytest.param("{aes}AAAA", {}, sentence("access.key_file_project_names_no"), id="no-key"),
    ],
)
def test_a_secret_that_cannot_be_read_is_the_users_mistake(
    site: Site, url: str, workspace: Workspace, password: str, env: dict[str, str], words: str
) -> None:
    site.page("/", title="Home")
    entry = {"user": "robot", "url": f"{url}/", "password": password}
    workspace.define(f"{url}/", authentication={"staff": entry})
    ended = workspace.command("crawl", **env)
    assert ended.code == 2
    assert "authentication.staff.password: " in ended.err
    assert words in ended.err
    assert "Traceback" not in ended.err
    assert site.requests == []


def test_secrets_of_files_and_encrypted_ones(site: Site, url: str, workspace: Workspace) -> None:
    made = workspace.command("secret", "new-key", "password.key")
    assert made.code == 0, made.err
    assert (workspace.directory / "password.key").stat().st_mode & 0o77 == 0
    sealed = workspace.command("secret", "encrypt", "--key", "password.key", "--stdin", stdin=PASSWORD + "\n")
    assert sealed.code == 0, sealed.err
    (workspace.directory / "pw.txt").write_text(PASSWORD + "\n")
    site.page("/", title="Home", links=["/file/a", "/aes/a"])
    entries = {
        name: {"url": f"{url}/{name}/", "user": "robot", "password": password, "scheme": "basic"}
        for name, password in (("file", "file:pw.txt"), ("aes", sealed.out.strip()))
    }
    for name in entries:
        protected(site, f"/{name}/a")
    workspace.define(f"{url}/", authentication=entries)
    text = (workspace.directory / "ultracrawl.yaml").read_text()
    (workspace.directory / "ultracrawl.yaml").write_text("key_file: password.key\n" + text)
    assert workspace.crawl().run["outcomes"] == {"NEW": 3}
    assert PASSWORD not in text
