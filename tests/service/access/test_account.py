"""The page on which users change their password, and see and end their sessions."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml.html import fromstring
from service.access.conftest import PASSWORD, Browser, Service, csrf_token_of
from support.oidc import CLIENT, SECRET, Provider

from ultracrawl.service.access import sessions as session_times
from ultracrawl.service.access.failed_logins import MAX_FAILED_LOGINS
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.sessions import SessionStore
from ultracrawl.service.access.users import UserStore
from ultracrawl.service.pages.account.login import one_time_path

NEW = "seventeen wet herons"


def change(browser: Browser, **fields: str) -> httpx.Response:
    """Send the form that changes the password."""
    form = {"csrf_token": browser.session_token, "password": PASSWORD, "new": NEW, "again": NEW, **fields}
    return browser.ask("POST", "/account/password", data=form)


def end(browser: Browser, session: str, **fields: str) -> httpx.Response:
    """Send the form that ends sessions."""
    form = {"csrf_token": browser.session_token, "password": PASSWORD, "session": session, **fields}
    return browser.ask("POST", "/account/sessions", data=form)


def handles(browser: Browser) -> list[str]:
    """Return what the buttons of the other sessions send."""
    page = fromstring(browser.get("/account").text)
    return [str(one.get("value")) for one in page.cssselect(".sessions button")]


def logged_in(service: Service, number: int, name: str = "anna") -> list[Browser]:
    browsers = [Browser(service, f"192.0.2.{one}") for one in range(1, number + 1)]
    for one in browsers:
        assert one.log_in(name).status_code == 303
    return browsers


def is_in(browser: Browser) -> bool:
    return browser.get("/").status_code == 200


# ---- the password


def test_a_user_changes_the_own_password_and_stays_alone(service: Service) -> None:
    anna, elsewhere = logged_in(service, 2)
    stolen = Browser(service)
    stolen.cookies.update(anna.cookies)
    assert is_in(stolen)
    answer = change(anna)
    assert (answer.status_code, answer.headers["location"]) == (303, "/account?done=password")
    assert 'role="status"' in anna.get("/account?done=password").text
    assert [is_in(one) for one in (anna, elsewhere)] == [True, False]
    assert handles(anna) == []
    assert not is_in(stolen), "the session has another identifier"
    assert elsewhere.log_in().status_code == 401
    assert elsewhere.log_in(password=NEW).status_code == 303
    user = service.users.find_user("anna")
    assert user is not None
    assert (user.role, user.principals) == (Role.ADMINISTRATOR, None)


def test_changes_are_recorded_without_passwords(service: Service) -> None:
    (anna,) = logged_in(service, 1)
    change(anna, password="a wrong password")
    change(anna)
    end(anna, "others", password=NEW)
    rows = [(row["who"], row["from"], row["action"], row["result"]) for row in service.audit[1:]]
    assert rows == [
        ("user:anna", "192.0.2.1", "user password", "refused"),
        ("user:anna", "192.0.2.1", "user password", "done"),
        ("user:anna", "192.0.2.1", "session end", "done"),
    ]
    for secret in (PASSWORD, NEW, "a wrong password"):
        assert secret not in str(service.audit)


@pytest.mark.parametrize(
    "fields",
    [
        {"password": "a wrong password"},
        {"password": ""},
        {"again": NEW + "x"},
        {"again": ""},
        {"new": "", "again": ""},
        {"new": "heron 17", "again": "heron 17"},
        {"new": "password12345", "again": "password12345"},
        {"new": "x" * 2000, "again": "x" * 2000},
    ],
)
def test_what_is_refused_changes_nothing(service: Service, fields: dict[str, str]) -> None:
    anna, elsewhere = logged_in(service, 2)
    before = service.users.path.read_bytes()
    answer = change(anna, **fields)
    assert answer.status_code == 400
    page = fromstring(answer.text)
    assert len(page.cssselect("[role=alert]")) == 1
    assert not any(field.get("value") for field in page.cssselect("input[type=password]"))
    assert service.users.path.read_bytes() == before
    assert all(map(is_in, (anna, elsewhere)))


def test_the_problems_of_a_new_password_have_texts_of_their_own(service: Service) -> None:
    (anna,) = logged_in(service, 1)
    given = [{"again": "x"}, {"password": "x"}, *({"new": one, "again": one} for one in ("short", "a" * 12))]
    texts = [
        fromstring(change(anna, **one).text).cssselect("[role=alert]")[0].text_content() for one in given
    ]
    assert len(set(texts)) == len(given)


def test_guesses_of_a_session_are_slowed_down_as_log_ins_are(service: Service) -> None:
    (anna,) = logged_in(service, 1)
    forms = (lambda: change(anna, password="guess"), lambda: end(anna, "others", password="guess"))
    answers = [forms[number % 2]() for number in range(MAX_FAILED_LOGINS + 2)]
    assert [one.status_code for one in answers] == [400] * MAX_FAILED_LOGINS + [429] * 2
    assert int(answers[-1].headers["retry-after"]) > 0
    assert change(anna).status_code == 429, "the right password is not checked either"
    assert is_in(anna)


def test_guesses_of_a_stolen_session_count_for_the_address(service: Service) -> None:
    (anna,) = logged_in(service, 1)
    thief = Browser(service, "203.0.113.5")
    thief.cookies.update({name: value for name, value in anna.cookies.items() if "_session_" in name})
    codes = [change(thief, password="guess").status_code for _ in range(MAX_FAILED_LOGINS + 1)]
    assert codes == [400] * MAX_FAILED_LOGINS + [429]
    assert Browser(service, "203.0.113.5").log_in("nobody", "guess").status_code == 429
    assert change(anna).status_code == 303


def test_a_change_meanwhile_is_not_undone(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    (anna,) = logged_in(service, 1)
    replace_password = UserStore.replace_password

    def later(store: UserStore, user: Any, password: str) -> Any:
        monkeypatch.setattr(UserStore, "replace_password", replace_password)
        service.users.change_password("anna", "set by whoever runs it")
        return replace_password(store, user, password)

    monkeypatch.setattr(UserStore, "replace_password", later)
    assert change(anna).status_code == 400
    assert not is_in(anna)
    assert anna.log_in(password="set by whoever runs it").status_code == 303


def test_a_change_on_the_day_of_a_new_identifier_keeps_the_session(service: Service) -> None:
    (anna,) = logged_in(service, 1)
    age(service, session_times.ROTATION + 1)
    assert change(anna).status_code == 303
    assert is_in(anna)


def age(service: Service, seconds: float) -> None:
    """Let sessions have their identifiers for longer."""
    store = service.app.state.api.accounts.sessions
    for digest, one in store._sessions.items():
        store._sessions[digest] = replace(one, renewed=one.renewed - seconds)


# ---- sessions


def test_users_see_their_own_sessions_and_end_one(service: Service) -> None:
    service.add("ben")
    anna, phone, library = logged_in(service, 3)
    (ben,) = logged_in(service, 1, "ben")
    page = anna.get("/account")
    listed = [one.text_content() for one in fromstring(page.text).cssselect(".sessions li")]
    assert len(listed) == 3
    assert "192.0.2.1" in listed[0], "this one is the first"
    assert [sum(f"192.0.2.{number}" in one for one in listed) for number in (1, 2, 3)] == [1, 1, 1]
    assert len(re.findall(r"<time ", page.text)) == 6
    mine = phone.session_token
    kept = handles(library)
    (other,) = set(handles(anna)) & set(kept)
    assert end(library, other).headers["location"] == "/account?done=sessions"
    assert [is_in(one) for one in (anna, phone, library, ben)] == [True, False, True, True]
    assert mine not in page.text


def test_users_end_all_their_other_sessions(service: Service) -> None:
    service.add("ben")
    browsers = logged_in(service, 3)
    (ben,) = logged_in(service, 1, "ben")
    assert end(browsers[1], "others").status_code == 303
    assert [is_in(one) for one in (*browsers, ben)] == [False, True, False, True]


def test_ending_a_session_needs_the_password(service: Service) -> None:
    browsers = logged_in(service, 2)
    for password in ("", "a wrong password"):
        answer = end(browsers[0], "others", password=password)
        assert answer.status_code == 400
        assert len(fromstring(answer.text).cssselect("[role=alert]")) == 1
    assert all(map(is_in, browsers))


def test_sessions_of_others_are_not_ended(service: Service) -> None:
    service.add("ben")
    anna, phone = logged_in(service, 2)
    (ben,) = logged_in(service, 1, "ben")
    for handle in (*handles(anna), *handles(phone), "", "x", "' or 1", anna.session_token):
        if handle:
            assert end(ben, handle).status_code == 303
    assert [is_in(one) for one in (anna, phone, ben)] == [True, True, True]


def test_a_session_is_listed_once_while_it_has_two_identifiers(tmp_path: Path) -> None:
    now = 1e9
    store = SessionStore(tmp_path / "sessions.json", lambda: now)
    identifier, _ = store.begin("anna", "1", address="192.0.2.1")
    now += session_times.ROTATION + 1
    assert store.find(identifier) is not None
    assert store.rotated(identifier) is not None
    assert [(one.address, one.seen) for one in store.open_sessions()] == [("192.0.2.1", now)]


def test_handles_outlive_identifiers_and_restarts(service: Service) -> None:
    anna, phone = logged_in(service, 2)
    before = handles(anna)
    age(service, session_times.ROTATION + 1)
    phone.get("/")
    phone.get("/")
    service.restart()
    assert handles(anna) == before


# ---- who has such a page


def test_nobody_is_led_to_the_log_in_form(service: Service) -> None:
    for _ in range(2):
        nobody = Browser(service)
        assert nobody.get("/account").headers["location"] == "/login?next=%2Faccount"
        for path in ("/account/password", "/account/sessions"):
            assert nobody.ask("POST", path, data={"new": NEW}).headers["location"].startswith("/login")
        service.define(search_page={"public": True})
        service.restart()


def test_whoever_has_no_password_here_has_no_such_page(service: Service) -> None:
    with Provider() as provider:
        oidc = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": SECRET}
        proxy = {"networks": "203.0.113.7", "header": "X-User"}
        service.define(sign_in={"oidc": oidc, "proxy": proxy})
        operator, ida, proxied = Browser(service), Browser(service), Browser(service, "203.0.113.7")
        operator.get(one_time_path(service.app))
        ida.get(provider.sign_in(ida.get("/login/oidc").headers["location"]))
        assert ida.get("/").status_code == 200
        headers = {"X-User": "ida"}
        token = csrf_token_of(proxied.get("/", headers=headers).text)
        for browser, more, shown in (
            (operator, {}, operator.session_token),
            (ida, {}, ida.session_token),
            (proxied, headers, token),
        ):
            assert 'href="/account"' not in browser.get("/", headers=more).text
            assert browser.get("/account", headers=more).status_code == 404
            for path in ("/account/password", "/account/sessions"):
                form = {"csrf_token": shown, "new": NEW, "again": NEW, "session": "others"}
                assert browser.ask("POST", path, data=form, headers=more).status_code == 404


def test_users_of_each_role_find_the_page(service: Service) -> None:
    service.add("ben")
    for name in ("ben", "anna"):
        (browser,) = logged_in(service, 1, name)
        assert 'href="/account"' in browser.get("/").text
        assert change(browser).status_code == 303


@pytest.mark.parametrize("path", ["/account/password", "/account/sessions"])
def test_forms_of_other_sites_do_nothing(service: Service, path: str) -> None:
    anna, other = logged_in(service, 2)
    form = {"password": PASSWORD, "new": NEW, "again": NEW, "session": "others"}
    before = service.users.path.read_bytes()
    for token in ("", "x", "ä"):
        assert anna.ask("POST", path, data={**form, "csrf_token": token}).status_code == 403
    assert anna.ask("POST", path, data={**form, "csrf_token": other.session_token}).status_code == 403
    foreign = {"Sec-Fetch-Site": "cross-site"}
    form["csrf_token"] = anna.session_token
    assert anna.ask("POST", path, data=form, headers=foreign).status_code == 403
    assert service.users.path.read_bytes() == before
    assert is_in(other)


def test_users_that_cannot_be_read_are_no_reason_to_say_where_they_are(service: Service) -> None:
    (anna,) = logged_in(service, 1)
    token = anna.session_token
    service.users.path.write_text("{")
    form = {"csrf_token": token, "password": PASSWORD, "new": NEW, "again": NEW}
    for answer in (anna.get("/account"), anna.ask("POST", "/account/password", data=form)):
        assert answer.status_code == 503
        assert "users.json" not in answer.text


def test_other_languages_of_an_answer_are_pages(service: Service) -> None:
    (anna,) = logged_in(service, 1)
    links = fromstring(change(anna, password="a wrong password").text).cssselect(".menu a[hreflang]")
    assert len(links) > 1
    assert {anna.get(str(link.get("href"))).status_code for link in links} == {200}
