"""Protected servers that others wrote, each reached by a source in YAML and by one in the XML of FAST."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.apache import REALM, apache_site, sha_of
from support.certificates import Authority
from support.nginx import nginx_site
from support.ntlm_site import log_of as ntlm_log
from support.ntlm_site import ntlm_site
from support.project import Workspace
from support.roundup_site import log_of as roundup_log
from support.roundup_site import roundup_site
from support.sentences import sentence
from support.tls_site import secured
from support.written import LANGUAGES, Written, section_of

pytestmark = pytest.mark.servers

PASSWORD = "correct:hörse &battery"


@pytest.fixture(params=LANGUAGES)
def source(request: pytest.FixtureRequest, workspace: Workspace) -> Written:
    return Written(workspace, request.param)


def with_password(
    source: Written, start: str, url: str, scheme: str, *, user: str = "robot", realm: str = ""
) -> None:
    """Define a source with one password; the XML holds it as it is, colons and all."""
    entry = {"url": url, "user": user, "password": "${STAFF_PASSWORD}", "scheme": scheme, "realm": realm}
    written = {"basic": "basic", "ntlm": "ntlmv2"}.get(scheme, scheme)
    value = f"{user}:{PASSWORD}:{realm}:{written}"
    source.define(start, {"authentication": {"staff": entry}}, inside=section_of("passwd", {url: value}))


# ---- fast_177: HTTP authentication


@pytest.mark.parametrize(
    ("scheme", "realm"),
    [("basic", ""), ("basic", REALM), ("digest", ""), ("digest", REALM), ("auto", "")],
    ids=["basic", "basic-realm", "digest", "digest-realm", "auto"],
)
def test_fast_177_basic_and_digest_against_apache(
    source: Written, tmp_path: Path, scheme: str, realm: str
) -> None:
    protected = "digest" if scheme == "auto" else scheme
    with apache_site(tmp_path / "apache", "robot", PASSWORD) as server:
        with_password(source, f"{server.url}/", f"{server.url}/{protected}/", scheme, realm=realm)
        source.crawl(STAFF_PASSWORD=PASSWORD)
        asked = server.requests()
    assert source.search(f"{protected}word") == [f"/{protected}/{number}.html" for number in range(6)]
    others = {one.status for one in asked if one.path.startswith("/") and protected not in one.path}
    assert 401 in others, "the part that the password is not for stays closed"
    shown = Counter(one.path for one in asked if one.user == "robot")
    assert set(shown.values()) == {1}
    refused = [one for one in asked if one.status == 401 and f"/{protected}/" in one.path]
    limit = 0 if (scheme, realm) == ("basic", "") else 6
    assert len(refused) <= limit, "Basic goes out at once, nonces of Digest are used again"


@pytest.mark.parametrize("scheme", ["basic", "digest"])
def test_fast_177_a_wrong_password_against_apache(source: Written, tmp_path: Path, scheme: str) -> None:
    with apache_site(tmp_path / "apache", "robot", "another", pages=8) as server:
        with_password(source, f"{server.url}/", f"{server.url}/{scheme}/", scheme)
        run = source.crawl(code=1, STAFF_PASSWORD=PASSWORD)
        shown = [one for one in server.requests() if one.user != "-" and f"/{scheme}/" in one.path]
    assert len(run["problems"]) == 1
    assert sentence("logins.refused_three_times") in run["problems"][0]
    assert len(shown) <= 3
    assert {source.statuses()[f"/{scheme}/{number}.html"] for number in range(8)} == {401}


def test_fast_177_basic_against_nginx(source: Written, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "staff").mkdir(parents=True)
    (root / "index.html").write_text('<title>Home</title><a href="/staff/plan.html">plan</a>')
    (root / "staff" / "plan.html").write_text("<title>Plan</title><p>secretword</p>")
    (tmp_path / "users").write_text(f"robot:{sha_of(PASSWORD)}\n")
    users = f'auth_basic Staff; auth_basic_user_file "{tmp_path}/users"; root "{root}";'
    with nginx_site(root, extra=f"location /staff/ {{ {users} }}") as server:
        with_password(source, f"{server.url}/", f"{server.url}/staff/", "basic")
        source.crawl(STAFF_PASSWORD=PASSWORD)
        assert [one.status for one in server.requests() if one.path == "/staff/plan.html"] == [200]
    assert source.search("secretword") == ["/staff/plan.html"]


@pytest.mark.parametrize(
    ("scheme", "server_takes", "let_in"),
    [
        pytest.param("ntlm", "3", True, id="fast_177-ntlmv2"),
        pytest.param("ntlm", "5", True, id="fast_177-ntlmv2-where-only-it-is-taken"),
        pytest.param("ntlmv1", "3", True, id="fast_177-ntlmv1"),
        pytest.param("ntlmv1", "5", False, id="fast_177-ntlmv1-where-only-v2-is-taken"),
        pytest.param("auto", "5", True, id="fast_177-auto-is-ntlmv2"),
    ],
)
def test_ntlm_against_pyspnego(source: Written, scheme: str, server_takes: str, let_in: bool) -> None:
    folder = source.workspace.directory
    with ntlm_site(folder, "CORP\\robot", "correct horse", pages=5, takes=server_takes) as url:
        entry = {"url": f"{url}/private/", "user": "CORP\\robot", "password": "${P}", "scheme": scheme}
        written = {"ntlm": "ntlmv2"}.get(scheme, scheme)
        inside = section_of("passwd", {f"{url}/private/": f"CORP\\robot:correct horse::{written}"})
        source.define(f"{url}/", {"authentication": {"staff": entry}}, inside=inside)
        source.crawl(code=0 if let_in else 1, P="correct horse")
    assert source.search("secretword") == ([f"/private/{number}" for number in range(5)] if let_in else [])
    assert [line for line in ntlm_log(folder) if " NTLM " in line]


# ---- fast_214 to fast_224: a form login at an issue tracker


def login_of(source: Written, url: str, *, scheme: str = "http") -> None:
    host = url.split("/")[2]
    fields = {"__login_name": "robot", "__login_password": PASSWORD}
    entry = {
        "page": f"{url}/issue",
        "preload": f"{url}/",
        "fields": {**fields, "__login_password": "${TRACKER_PASSWORD}"},
        "failed_text": "Invalid login",
    }
    options = {"preload": f"{url}/", "html_form": f"{url}/issue", "scheme": scheme}
    strings = "".join(
        f'<attrib name="{name}" type="string">{value}</attrib>' for name, value in options.items()
    )
    sites = f"<member>{host.partition(':')[0]}</member>"
    inside = (
        f'<Login name="tracker">{strings}<attrib name="autofill" type="boolean">yes</attrib>'
        f'<attrib name="sites" type="list-string">{sites}</attrib>{section_of("parameters", fields)}</Login>'
    )
    pages = tuple(f"{url}/issue{number}" for number in range(1, 6))
    yaml = {"logins": {"tracker": entry}, "start_urls": pages, "depth": 0}
    source.define(f"{url}/", yaml, {"start_uris": pages, "crawlmode/mode": "DEPTH:0"}, inside=inside)


def test_fast_214_219_221_222_224_a_login_at_roundup(source: Written) -> None:
    folder = source.workspace.directory
    with roundup_site(folder, "robot", PASSWORD) as url:
        login_of(source, url)
        source.crawl(TRACKER_PASSWORD=PASSWORD)
    assert source.search("secretword") == [f"/issue{number}" for number in range(1, 6)]
    asked = [line for line in roundup_log(folder) if "robots.txt" not in line and "sitemap" not in line]
    assert asked[:3] == ["GET /", "GET /issue", "POST /"], "preload, form, answer"
    assert [line.split(" ")[0] for line in asked].count("POST") == 1


def test_fast_59_224_a_wrong_password_at_roundup(source: Written) -> None:
    folder = source.workspace.directory
    with roundup_site(folder, "robot", "another") as url:
        login_of(source, url)
        run = source.crawl(code=1, TRACKER_PASSWORD=PASSWORD)
    assert run["problems"][0].startswith("login tracker: ")
    assert set(source.statuses().values()) == {959}
    assert [line.split(" ")[0] for line in roundup_log(folder)].count("POST") == 1


# ---- fast_27, fast_28: client certificates

ASKS = 'ssl_verify_client optional; ssl_client_certificate "{ca}";'
SAYS = 'if ($ssl_client_verify != SUCCESS) { return 403; } return 200 "needle $ssl_client_s_dn";'


@pytest.mark.parametrize("shown", [True, False], ids=["fast_27-fast_28-given", "fast_27-fast_28-not-given"])
def test_a_client_certificate_against_nginx(source: Written, shown: bool) -> None:
    folder = source.workspace.directory
    authority = Authority(folder)
    authority.issue("crawler")
    with secured(folder, authority, SAYS, server=ASKS.format(ca=authority.file)) as (_, address):
        entry = {"certificate": "crawler.pem", "key": "crawler.key"}
        yaml = {"types": ["text/plain"], **({"client_certificates": {"c": entry}} if shown else {})}
        files = {"cert_file": "crawler.pem", "key_file": "crawler.key"} if shown else {}
        source.define(f"{address}/page", yaml, {**files, "allowed_schemes": ("https",)})
        source.crawl(code=None, SSL_CERT_FILE=str(authority.file))
    assert source.search("needle") == (["/page"] if shown else [])
    assert source.statuses()["/page"] == (200 if shown else 403)
