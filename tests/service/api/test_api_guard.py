"""What the API refuses, and how it says so."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from service.api.conftest import Api
from support.certificates import Authority
from support.clock import wall_time
from support.sentences import sentence

from ultracrawl.cli.main import cli
from ultracrawl.cli.serve.token import expiry
from ultracrawl.errors import UserError
from ultracrawl.model.dates import iso
from ultracrawl.service.access.failed_logins import MAX_FAILED_LOGINS
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.app import ApiOptions
from ultracrawl.service.api.middleware.cookies import Cookies
from ultracrawl.service.api.middleware.guard import MAX_BODY_BYTES, host_of
from ultracrawl.service.api.problems import json_answer
from ultracrawl.service.api.serving import check_exposure, make_server

if TYPE_CHECKING:
    from pathlib import Path

    from support.in_process import InProcessWorkspace

READERS = ["/api/v1/sources", "/api/v1/search?q=x", "/api/v1/schedules", "/api/v1/openapi.json", "/metrics"]
EDITORS = ["/api/v1/sources/site/urls", "/api/v1/sources/site/approvals", "/api/v1/sources/site/plan"]


@pytest.mark.parametrize("path", [*READERS, *EDITORS])
def test_without_a_token_nothing_is_shown(api: Api, path: str) -> None:
    for headers in ({}, {"Authorization": "Bearer uc_x_y"}, {"Authorization": "Basic abc"}):
        answer = api.ask("GET", path, role=None, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["status"] == 401
    secret = api.secrets[Role.ADMINISTRATOR]
    assert (
        api.ask("GET", path, role=None, params={"token": secret, "access_token": secret}).status_code == 401
    )


def test_roles_are_checked(api: Api) -> None:
    for path in READERS:
        assert api.ask("GET", path, role=Role.READER).status_code == 200
    for path in EDITORS:
        assert api.ask("GET", path, role=Role.READER).status_code == 403
        assert api.ask("GET", path, role=Role.EDITOR).status_code == 200
    assert api.ask("POST", "/api/v1/sources/site/start", role=Role.READER).status_code == 403
    assert api.ask("POST", "/api/v1/schedules/nightly/launch", role=Role.EDITOR).status_code == 403
    assert api.ask("POST", "/api/v1/reload", role=Role.EDITOR).status_code == 403
    assert api.supervisor.orders == []


def test_a_revoked_token_is_refused_at_once(api: Api) -> None:
    api.store.revoke_token("reader")
    assert api.ask("GET", "/api/v1/sources", role=Role.READER).status_code == 401


def test_health_needs_no_token_and_says_no_more(api: Api) -> None:
    for path, text in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
        answer = api.ask("GET", path, role=None)
        assert (answer.status_code, answer.text) == (200, text)


def test_a_service_whose_tokens_cannot_be_read_is_not_ready(api: Api) -> None:
    (api.project.state.path / "service" / "tokens.json").write_text("{")
    for path in ("/readyz", "/api/v1/sources"):
        answer = api.ask("GET", path, role=None, token="uc_1_2")
        assert answer.status_code == 503
        assert "tokens.json" not in answer.text, "anybody may ask"
    assert api.ask("GET", "/healthz", role=None).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "[", "evil.example:8480", "a@127.0.0.1.b"]
)
def test_other_hosts_are_refused_against_dns_rebinding(api: Api, host: str) -> None:
    answer = api.ask("GET", "/healthz", role=None, headers={"Host": host})
    assert (answer.status_code, answer.headers["content-type"]) == (421, "application/problem+json")


@pytest.mark.parametrize(
    ("text", "host"), [("LOCALHOST:80", "localhost"), ("[::1]:8480", "::1"), ("127.0.0.1", "127.0.0.1")]
)
def test_hosts_are_read_with_their_ports(text: str, host: str) -> None:
    assert host_of(text) == host


def test_large_bodies_are_refused(api: Api) -> None:
    path = "/api/v1/sources/site/approvals"
    assert api.ask("POST", path, content=b"x" * (MAX_BODY_BYTES + 1)).status_code == 413

    async def pieces() -> object:
        for _ in range(MAX_BODY_BYTES // 1000 + 1):
            yield b" " * 1000

    assert api.ask("POST", path, content=pieces()).status_code == 413


def test_too_many_failed_logins_are_not_looked_at(api: Api) -> None:
    requests = [("GET", "/api/v1/sources", {})] * (MAX_FAILED_LOGINS + 1)
    answers = api.ask_all(requests, role=None, token="uc_no_no")
    assert sorted(one.status_code for one in answers) == [401] * MAX_FAILED_LOGINS + [429]
    assert api.ask("GET", "/api/v1/sources").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/sources/none", 404),
        ("GET", "/api/v1/none", 404),
        ("DELETE", "/api/v1/sources", 405),
        ("GET", "/api/v1/search?limit=x", 422),
        ("GET", "/api/v1/search?where=Size~3", 400),
        ("GET", "/api/v1/search?source=none", 400),
        ("POST", "/api/v1/sources/none/start", 404),
        ("POST", "/api/v1/sources/site/approvals", 422),
    ],
)
def test_errors_are_problems(api: Api, method: str, path: str, status: int) -> None:
    answer = api.ask(method, path)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["type"], problem["status"]) == ("about:blank", status)
    assert problem["title"]


BODIES = (
    ("POST", "/api/v1/sources/site/start"),
    ("POST", "/api/v1/sources/site/urls"),
    ("POST", "/api/v1/sources/site/approvals"),
    ("PUT", "/api/v1/sources/site/definition"),
    ("POST", "/api/v1/sources/site/definition/what-if"),
    ("POST", "/api/v1/definitions/schedules/what-if"),
)


@pytest.mark.parametrize(
    "media_type", ["application/x-www-form-urlencoded", "text/plain", "image/png", "x", None]
)
def test_a_body_of_another_media_type_is_refused(api: Api, media_type: str | None) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    for method, path in BODIES:
        answer = api.ask(method, path, content=b'{"urls": []}', headers=headers)
        assert (answer.status_code, answer.headers.get("accept")) == (415, "application/json"), (
            path,
            answer.text,
        )
        assert answer.json()["status"] == 415
        assert api.ask(method, path, role=None, content=b"x", headers=headers).status_code == 401
    assert api.supervisor.orders == []


def test_json_of_any_name_is_read(api: Api) -> None:
    for media_type in ("application/json", "application/json; charset=utf-8", "application/merge-patch+json"):
        headers = {"Content-Type": media_type}
        answer = api.ask("POST", "/api/v1/sources/site/approvals", content=b"{}", headers=headers)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/api/v1/sources/site/definition", "GET, PUT"),
        ("/api/v1/sources/site/approvals", "GET, POST"),
        ("/api/v1/sources/site/start", "POST"),
        ("/healthz", "GET"),
    ],
)
def test_a_method_that_a_path_lacks_is_answered_with_all_that_it_has(
    api: Api, path: str, methods: str
) -> None:
    answer = api.ask("DELETE", path)
    assert (answer.status_code, answer.headers["allow"]) == (405, methods)


@pytest.mark.parametrize("root", ["", "/search"])
def test_a_slash_at_the_end_leads_to_a_path_alone(workspace: InProcessWorkspace, url: str, root: str) -> None:
    workspace.define(f"{url}/")
    api = Api(workspace, ApiOptions(cookies=Cookies(root_path=root)))
    base = f"http://127.0.0.1:8480{root}"
    for path in ("/api/v1/sources/", "/api/v1/sources//", "//api/v1/sources/"):
        answer = api.ask("GET", f"{base}{path}?a=b")
        assert (answer.status_code, answer.headers["location"]) == (307, f"{root}/api/v1/sources?a=b")
    for path in ("/evil.example/", "//evil.example/", "/"):
        assert api.ask("GET", base + path).status_code == 404


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ('{"forse": true}', "forse: Extra inputs"),
        ('{"force":', sentence("api.body_not_valid_json_at")),
        ("force", sentence("api.body_not_valid_json_at_2")),
        ('["force"]', "body: Input should be"),
    ],
)
def test_mistakes_in_a_body_are_named(api: Api, body: str, detail: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = api.ask("POST", "/api/v1/sources/site/start", content=body, headers=headers)
    assert (answer.status_code, answer.json()["detail"].startswith(detail)) == (422, True), answer.text
    assert api.supervisor.orders == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("urls", r'{"urls": ["http://127.0.0.1/\ud800"]}'),
        ("approvals", r'{"decision": "remove", "prefixes": ["http://\udfff/"]}'),
        ("approvals", r'{"decision": "approve", "regexps": [".*", "\ud83d"]}'),
        ("deletions", r'{"decision": "\ud800"}'),
        ("start", r'{"\ud800": true}'),
    ],
)
def test_half_a_surrogate_pair_is_no_text(
    api: Api, path: str, body: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    headers = {"Content-Type": "application/json"}
    answer = api.ask("POST", f"/api/v1/sources/site/{path}", content=body, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert "surrogate" in answer.json()["detail"]
    assert caplog.text == ""
    assert api.ask("GET", "/api/v1/search?q=%ED%A0%80").status_code == 200


def test_an_answer_is_json_whatever_its_text() -> None:
    value = {"url": "http://a.example/\ud800 ä"}
    assert json.loads(bytes(json_answer(value).body)) == value


def test_messages_hold_no_folders_of_the_server(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    path = "/api/v1/sources/site/explain?url=http://a.example/&as_of_run=1"
    answers = [api.ask("GET", path)]
    state = api.project.state.path / "site.sqlite"
    state.write_bytes(b"garbage" * 1000)
    answers += [api.ask("GET", "/api/v1/sources/site/runs"), api.ask("GET", "/api/v1/sources/site/urls")]
    assert [one.status_code for one in answers] == [400, 503, 503]
    for one in answers:
        assert str(api.workspace.directory) not in one.text
    assert "site.sqlite" in answers[1].json()["detail"]
    assert str(state) in caplog.text, "the administrator is told where it is"


def test_answers_are_not_kept_nor_framed(api: Api) -> None:
    headers = api.ask("GET", "/api/v1/sources").headers
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
    assert "access-control-allow-origin" not in headers


def test_the_description_names_every_route_that_needs_a_token(api: Api) -> None:
    description = api.get("/openapi.json", Role.READER)
    assert description["openapi"].startswith("3.")
    paths = description["paths"]
    assert {"/api/v1/search", "/api/v1/sources/{name}/start", "/api/v1/schedules/{name}/{order}"} <= set(
        paths
    )
    for path, methods in paths.items():
        for method in methods.values():
            assert method["description"].startswith(method["summary"])
            assert 10 < len(method["summary"]) < 80
            (good,) = (code for code in method["responses"] if code.startswith("2"))
            schemas = [kind["schema"] for kind in method["responses"][good].get("content", {}).values()]
            assert len(schemas) == (good != "204"), path
            for schema in schemas:
                assert schema.get("type") in ("string", "object") or schema["$ref"], path
            if "security" in method:
                for code in ("4XX", "5XX"):
                    assert list(method["responses"][code]["content"]) == ["application/problem+json"]
            assert ("security" in method) == (path not in ("/healthz", "/readyz"))


def test_tokens_go_to_other_machines_by_tls_alone(tmp_path: Path) -> None:
    check_exposure("127.0.0.1", None, behind_proxy=False)
    check_exposure("::1", None, behind_proxy=False)
    check_exposure("0.0.0.0", tmp_path / "certificate.pem", behind_proxy=False)
    check_exposure("10.1.2.3", None, behind_proxy=True)
    with pytest.raises(UserError, match="unencrypted"):
        check_exposure("0.0.0.0", None, behind_proxy=False)


def test_a_certificate_that_cannot_be_used_is_named(api: Api, tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("localhost")
    make_server(api.app, certificate, key)
    with pytest.raises(UserError, match=r"none\.pem: No such file"):
        make_server(api.app, tmp_path / "none.pem", key)
    for wrong in ((key, key), (certificate, None), (certificate, certificate)):
        with pytest.raises(UserError, match=sentence("api.not_certificate_key")):
            make_server(api.app, *wrong)


# ---- tokens


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ultracrawl.yaml").write_text("sources: {site: {start_urls: ['https://a.example/']}}\n")
    return tmp_path


def test_a_token_is_printed_once_and_kept_hashed(folder: Path) -> None:
    made = CliRunner().invoke(cli, ["token", "create", "portal", "--role", "reader", "--principal", "staff"])
    secret = made.stdout.strip()
    file = folder / "var" / "state" / "service" / "tokens.json"
    assert secret.startswith("uc_")
    assert secret.split("_", 2)[2] not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o077 == 0
    found = TokenStore(file).find_token(secret)
    assert found is not None
    assert (found.name, found.role, found.principals) == ("portal", Role.READER, ("staff",))
    listed = CliRunner().invoke(cli, ["token", "list"]).output
    assert "portal: reader" in listed
    assert "staff" in listed
    assert TokenStore(file).find_token(secret[:-1]) is None
    assert TokenStore(file).find_token("") is None


def test_names_of_tokens_are_unique_and_unknown_ones_named(folder: Path) -> None:
    create = ["token", "create", "portal", "--role", "editor"]
    assert CliRunner().invoke(cli, create).exit_code == 0
    again = CliRunner().invoke(cli, create)
    assert isinstance(again.exception, UserError)
    unknown = CliRunner().invoke(cli, ["token", "revoke", "none"])
    assert isinstance(unknown.exception, UserError)
    assert "portal" in str(unknown.exception)
    assert CliRunner().invoke(cli, ["token", "revoke", "portal"]).exit_code == 0
    assert CliRunner().invoke(cli, ["token", "list"]).output == ""


def test_an_expired_token_is_refused_with_its_reason_to_its_holder_only(api: Api) -> None:
    api.store.create_token("old", Role.READER, expires=wall_time() - 1)
    secret = api.store.create_token("short", Role.READER, expires=wall_time() + 1e6)
    path = api.store.path
    assert api.ask("GET", "/api/v1/sources", token=secret).status_code == 200
    kept = json.loads(path.read_text())
    (row,) = (row for row in kept["tokens"] if row["name"] == "short")
    row["expires"] = "2001" + row["expires"][4:]
    path.write_text(json.dumps(kept))
    answer = api.ask("GET", "/api/v1/sources", token=secret)
    assert (answer.status_code, "expired at 2001-" in answer.json()["detail"]) == (401, True)
    number = secret.split("_")[1]
    other = api.ask("GET", "/api/v1/sources", token=f"uc_{number}_x")
    assert (other.status_code, "2001" in other.json()["detail"]) == (401, False)
    *_, row = (api.project.logs.path / "audit.jsonl").read_text().splitlines()
    assert '"token:short"' in row
    assert '"log-in"' in row


@pytest.mark.parametrize("prefix", ["", "uc", "xx_", "UC_", "ghp_"])
def test_a_token_of_another_program_is_reported_as_such(api: Api, prefix: str) -> None:
    _, number, secret = api.secrets[Role.READER].split("_", 2)
    answer = api.ask("GET", "/api/v1/sources", token=f"{prefix}{number}_{secret}")
    assert (answer.status_code, "begin with uc_" in answer.json()["detail"]) == (401, True)


def test_the_last_use_is_written_once_a_minute(tmp_path: Path) -> None:
    now = 1e9
    store = TokenStore(tmp_path / "service" / "tokens.json", lambda: now)
    secret, other = store.create_token("portal", Role.READER), store.create_token("other", Role.READER)
    assert store.last_uses() == {}
    uses = tmp_path / "service" / "token-uses.json"
    store.find_token(secret)
    assert store.last_uses() == {"portal": iso(now)}
    assert uses.stat().st_mode & 0o777 == 0o600
    first, now = uses.stat().st_ino, now + 59
    store.find_token(secret)
    assert uses.stat().st_ino == first
    store.find_token(other)
    now += 2
    store.find_token(secret)
    assert store.last_uses() == {"portal": iso(now), "other": iso(now - 2)}
    store.revoke_token("portal")
    assert list(store.last_uses()) == ["other"]


def test_a_use_that_cannot_be_written_refuses_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = TokenStore(tmp_path / "service" / "tokens.json")
    secret = store.create_token("portal", Role.READER)
    (tmp_path / "service" / "token-uses.json").mkdir()
    assert store.find_token(secret) is not None
    assert "token-uses.json" in caplog.text


def test_ends_and_uses_of_tokens_are_shown(folder: Path) -> None:
    def call(*words: str) -> str:
        return CliRunner().invoke(cli, ["token", *words]).output

    assert "does not expire; --expires 90d" in call("create", "long", "--role", "reader")
    assert "expires at 2999-01-31T00:00:00Z" in call(
        "create", "dated", "--role", "reader", "--expires", "2999-01-31"
    )
    store = TokenStore(folder / "var" / "state" / "service" / "tokens.json")
    store.find_token(store.create_token("used", Role.READER, expires=wall_time() - 1 + 60))
    rows = {row["name"]: row for row in json.loads(call("list", "--json"))["tokens"]}
    assert rows["long"]["expires"] is None
    assert rows["long"]["last_used"] is None
    assert rows["dated"]["expires"] == "2999-01-31T00:00:00Z"
    assert rows["used"]["last_used"]
    text = call("list")
    assert "dated: reader" in text
    assert "expires 2999-01-31T00:00:00Z, never used" in text
    assert sentence("tokens.never_used") in text


@pytest.mark.parametrize(
    ("text", "seconds"), [("90d", 90 * 86_400), ("12h", 43_200), ("2w", 1_209_600), ("2001-09-10", 80_000)]
)
def test_the_end_of_a_token_is_a_span_or_a_date(text: str, seconds: float) -> None:
    assert expiry(text, 1e9) - 1e9 == seconds


OTHER_ENDS = ["", "90", "0d", "d", "2001", "2001-13-01", "2001-09-09", "soon", "-3d", "9" * 9 + "d"]


def test_other_ends_are_mistakes(subtests: pytest.Subtests) -> None:
    for text in OTHER_ENDS:
        with subtests.test(text), pytest.raises(UserError, match="--expires"):
            expiry(text, 1e9)
