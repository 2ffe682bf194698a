"""Logging in and out with a browser, and what a session is good for."""

from __future__ import annotations

import pytest
from service.access.conftest import PASSWORD, Browser, Service

from ultracrawl.service.access.requester import Role
from ultracrawl.service.api.app import ApiOptions
from ultracrawl.service.api.middleware.cookies import Cookies
from ultracrawl.service.pages.account.login import one_time_path


def test_a_visitor_logs_in_searches_and_logs_out(browser: Browser) -> None:
    first = browser.get("/?q=heron")
    assert (first.status_code, first.headers["location"]) == (303, "/login?next=%2F%3Fq%3Dheron")
    form = browser.get(first.headers["location"])
    assert form.status_code == 200
    assert 'name="next" value="/?q=heron"' in form.text
    answer = browser.log_in(next_="/?q=heron")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=heron")
    assert "lake.example/ring" in browser.get("/?q=ringed").text, "the user has all principals"
    assert browser.get("/login").headers["location"] == "/"
    left = browser.ask("POST", "/logout", data={"csrf_token": browser.session_token})
    assert (left.status_code, left.headers["location"]) == (303, "/")
    assert browser.get("/?q=heron").status_code == 303


def test_log_ins_and_log_outs_are_recorded(browser: Browser) -> None:
    browser.log_in(password="wrong password")
    browser.log_in(name="nobody else", password=PASSWORD)
    browser.log_in()
    browser.ask("POST", "/logout", data={"csrf_token": browser.session_token})
    rows = [(row["who"], row["from"], row["action"], row["result"]) for row in browser.service.audit]
    assert rows == [
        ("user:anna", "192.0.2.1", "log-in", "refused"),
        ("user:anna", "192.0.2.1", "log-in", "done"),
        ("user:anna", "192.0.2.1", "log-out", "done"),
    ]
    assert PASSWORD not in str(browser.service.audit)
    assert "nobody else" not in str(browser.service.audit), "what is typed as a name may be a password"


def test_a_session_has_the_role_of_its_user(service: Service) -> None:
    service.add("eric", Role.EDITOR)
    eric = Browser(service)
    eric.log_in("Eric ")
    assert eric.get("/api/v1/sources").status_code == 200
    assert eric.get("/api/v1/sources/lake/urls").status_code == 200
    headers = {"X-CSRF-Token": eric.session_token}
    assert eric.ask("POST", "/api/v1/sources/lake/start", headers=headers).status_code == 202
    assert eric.ask("POST", "/api/v1/reload", headers=headers).status_code == 403


def test_who_may_only_search_sees_no_administration(service: Service) -> None:
    service.add("ben", None)
    ben = Browser(service)
    ben.log_in("ben")
    page = ben.get("/?q=heron")
    assert page.status_code == 200
    assert "/admin" not in page.text
    assert ben.get("/api/v1/search?q=heron").json()["total"] == 2
    paths = ("/admin", "/admin/schedules", "/admin/sources/lake", "/api/v1/sources", "/api/v1/schedules")
    assert {ben.get(path).status_code for path in paths} == {403}


def test_a_session_sees_the_documents_of_its_user(service: Service) -> None:
    service.add("ben")
    service.add("staffer", principals=("staff",))
    totals = []
    for name in ("ben", "staffer"):
        browser = Browser(service)
        browser.log_in(name)
        totals.append(browser.get("/api/v1/search?q=heron").json()["total"])
    assert totals == [2, 3]


def test_sessions_outlive_the_service_but_not_a_password_nor_a_user(service: Service) -> None:
    anna, elsewhere = Browser(service), Browser(service, "192.0.2.2")
    anna.log_in()
    elsewhere.log_in()
    service.restart()
    assert [one.get("/").status_code for one in (anna, elsewhere)] == [200, 200]
    service.users.change_password("anna", "another long one")
    assert [one.get("/").status_code for one in (anna, elsewhere)] == [303, 303]
    assert anna.log_in().status_code == 401
    assert anna.log_in(password="another long one").status_code == 303
    service.users.remove_user("anna")
    assert anna.get("/").status_code == 303
    service.add("anna")
    assert anna.get("/").status_code == 303, "a user of the same name is somebody else"


def test_identifiers_are_kept_hashed(browser: Browser) -> None:
    browser.log_in()
    service = browser.service
    path = service.project.state.path / "service" / "sessions.json"
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    (identifier,) = (value for name, value in browser.cookies.items() if "_session_" in name)
    assert identifier not in text
    assert PASSWORD not in text + service.users.path.read_text()
    assert service.users.path.stat().st_mode & 0o777 == 0o600


def test_damaged_sessions_let_everybody_log_in_again(
    browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    browser.log_in()
    (browser.service.project.state.path / "service" / "sessions.json").write_text(
        '{"secret": 1, "sessions": ['
    )
    browser.service.restart()
    assert "sessions.json" in caplog.text
    assert browser.get("/").status_code == 303
    assert browser.log_in().status_code == 303


def test_users_that_cannot_be_read_are_no_reason_to_say_where_they_are(browser: Browser) -> None:
    browser.service.users.path.write_text("{")
    answer = browser.log_in()
    assert answer.status_code == 503
    assert "users.json" not in answer.text
    assert browser.get("/readyz").status_code == 503


def test_a_one_time_key_signs_in_one_browser_as_administrator(service: Service) -> None:
    path = one_time_path(service.app)
    first, second = Browser(service), Browser(service)
    answer = first.get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert second.get(path).status_code == 403
    assert second.get("/login?key=other").status_code == 403
    headers = {"X-CSRF-Token": first.session_token}
    assert first.ask("POST", "/api/v1/reload", headers=headers).status_code == 200
    service.restart()
    assert first.get("/").status_code == 200
    assert [row["action"] for row in service.audit] == ["log-in", "reload"]
    assert path.partition("key=")[2] not in str(service.audit)


def test_cookies_say_port_and_transport(service: Service) -> None:
    kinds = {
        Cookies(8480): ("ultracrawl_session_8480", False, "/"),
        Cookies(8481, is_secure=True): ("__Host-ultracrawl_session_8481", True, "/"),
        Cookies(8480, is_secure=True, root_path="/search"): (
            "__Secure-ultracrawl_session_8480", True, "/search"),
    }  # fmt: skip
    for cookies, (name, is_secure, path) in kinds.items():
        service.restart(ApiOptions(cookies=cookies))
        browser = Browser(service, base="https://127.0.0.1:8480" + cookies.root_path)
        answer = browser.log_in()
        (written,) = (one for one in answer.headers.get_list("set-cookie") if one.startswith(f"{name}="))
        parts = {part.strip().lower() for part in written.split(";")[1:]}
        assert {"httponly", "samesite=lax", f"path={path}"} <= parts
        assert ("secure" in parts) is is_secure
        assert not any(part.startswith("domain") for part in parts)
        assert browser.get("/").status_code == 200


def test_behind_a_proxy_everything_has_to_come_by_tls(service: Service) -> None:
    service.restart(ApiOptions(cookies=Cookies(8480, is_secure=True, root_path="/search")))
    browser = Browser(service)
    assert 'template="https://127.0.0.1:8480/search/?q={searchTerms}"' in browser.get("/opensearch.xml").text
    answer = browser.ask("POST", "/preferences", data={"theme": "dark"})
    parts = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}
    assert {"secure", "httponly", "path=/search/"} <= parts


def test_a_public_page_is_open_and_shows_public_sources(service: Service) -> None:
    service.define(search_page={"public": True})
    anybody, anna = Browser(service), Browser(service)
    assert anybody.get("/").status_code == 200
    assert "lake.example/heron" in anybody.get("/?q=heron").text
    assert "gull" not in anybody.get("/?q=heron").text.lower()
    assert anybody.get("/login").status_code == 200
    anna.log_in()
    assert "sea.example/gull" in anna.get("/?q=heron").text
    for path in ("/api/v1/sources", "/api/v1/schedules", "/metrics", "/api/v1/openapi.json"):
        assert anybody.get(path).status_code == 401
    assert anybody.ask("POST", "/logout").status_code == 303
