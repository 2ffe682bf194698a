"""What attackers try at the log-in form and with sessions; each is refused, and shuts nobody out."""

from __future__ import annotations

import asyncio
import threading
from typing import Any
from urllib.parse import quote, unquote

import pytest
from service.access.conftest import PASSWORD, Browser, Service, csrf_token_of

from ultracrawl.service.access import logins, passwords
from ultracrawl.service.access.failed_logins import MAX_FAILED_LOGINS, FailedLogins
from ultracrawl.service.access.logins import MANY_ADDRESSES, PAUSE, LoginChecker, TooManyLoginsError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.sessions import SessionStore
from ultracrawl.service.access.users import UserStore
from ultracrawl.service.api.app import ApiOptions
from ultracrawl.service.api.middleware.cookies import Cookies


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes that passwords are compared with."""
    hashes: list[str] = []
    fits = passwords.fits

    def noted(digest: str, password: str) -> bool:
        hashes.append(digest)
        return fits(digest, password)

    monkeypatch.setattr(passwords, "fits", noted)
    return hashes


# ---- enumeration, timing


def test_unknown_names_get_the_same_answer_for_the_same_work(service: Service, checked: list[str]) -> None:
    answers = []
    for name in ("anna", "nobody"):
        browser = Browser(service)
        answer = browser.log_in(name, "a wrong password")
        text = answer.text.replace(name, "NAME").replace(csrf_token_of(answer.text), "")
        cookies = sorted(one.partition("=")[0] for one in answer.headers.get_list("set-cookie"))
        answers.append((answer.status_code, text, cookies))
    assert answers[0] == answers[1]
    assert answers[0][0] == 401
    parameters = {digest.rsplit("$", 2)[0] for digest in checked}
    assert len(checked) == 2
    assert len(parameters) == 1, "both were compared with hashes of the same cost"


def test_limits_tell_no_names(service: Service) -> None:
    counts = []
    for name, address in (("anna", "192.0.2.8"), ("nobody", "192.0.2.9")):
        browser = Browser(service, address)
        tried = [browser.log_in(name, "wrong").status_code for _ in range(MAX_FAILED_LOGINS + 2)]
        counts.append(tried)
    assert counts[0] == counts[1]
    assert counts[0][-1] == 429


# ---- CSRF


FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://127.0.0.1:1"},
)
"""What browsers say of a request that a page of another site sends."""
OWN = (
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://proxy.example"},
    {"Origin": "http://127.0.0.1:8480"},
    {"Origin": "null"},
)
"""And of a request that one of our own sends; a proxy may have changed the host."""


def test_what_changes_something_needs_the_token_of_this_session(service: Service) -> None:
    anna, other, nobody = Browser(service), Browser(service), Browser(service)
    anna.log_in()
    other.log_in()
    form_token = nobody.csrf_token()
    for path in ("/logout", "/api/v1/sources/lake/start", "/api/v1/reload"):
        for token in ("", "x", other.session_token, form_token, "ä"):
            for where in ({"data": {"csrf_token": token}}, {"headers": {"X-CSRF-Token": token.encode()}}):
                assert anna.ask("POST", path, **where).status_code == 403, (path, token)
        for said in FOREIGN:
            headers = {"X-CSRF-Token": anna.session_token, **said}
            assert anna.ask("POST", path, headers=headers).status_code == 403, said
    assert anna.get("/").status_code == 200
    for said in OWN:
        headers = {"X-CSRF-Token": anna.session_token, **said}
        assert anna.ask("POST", "/api/v1/reload", headers=headers).status_code == 200, said


@pytest.mark.parametrize("token", ["", "x", "foreign", "no cookie"])
def test_the_log_in_form_needs_a_token_of_this_browser(service: Service, token: str) -> None:
    browser, attacker = Browser(service), Browser(service)
    own, foreign = browser.csrf_token(), attacker.csrf_token()
    if token == "no cookie":
        browser.cookies.clear()
    sent = {"foreign": foreign, "no cookie": own}.get(token, token)
    form = {"csrf_token": sent, "name": "anna", "password": PASSWORD}
    answer = browser.ask("POST", "/login", data=form)
    assert answer.status_code == 403
    assert browser.get("/").status_code == 303
    again = {**form, "csrf_token": csrf_token_of(answer.text)}
    assert browser.ask("POST", "/login", data=again).status_code == 303, "the new form can be sent"


def test_a_token_that_is_sent_beside_a_session_decides_alone(browser: Browser) -> None:
    browser.log_in()
    headers = {"Authorization": "Bearer uc_no_no"}
    assert browser.get("/api/v1/sources", headers=headers).status_code == 401


# ---- sessions


def test_a_log_in_begins_a_session_that_nobody_knew(service: Service) -> None:
    attacker, anna = Browser(service), Browser(service)
    service.add("mallory")
    attacker.log_in("mallory")
    (name,) = (name for name in attacker.cookies if "_session_" in name)
    planted = attacker.cookies[name]
    anna.cookies.set(name, planted, domain="127.0.0.1")
    assert anna.get("/login").status_code == 303, "the browser has the session of the attacker"
    anna.cookies.clear()
    token = anna.csrf_token()
    anna.cookies.set(name, planted, domain="127.0.0.1", path="/")
    form = {"csrf_token": token, "name": "anna", "password": PASSWORD}
    answer = anna.ask("POST", "/login", data=form)
    fresh = next(one for one in answer.headers.get_list("set-cookie") if one.startswith(name))
    assert planted not in fresh
    assert attacker.get("/").status_code == 303, "the planted session has ended"


@pytest.mark.parametrize("value", ["", "x", "\u00e9" * 10, "a" * 4000, "'; drop", "../../etc/passwd"])
def test_invented_sessions_are_none(browser: Browser, value: str) -> None:
    headers = {"Cookie": f"ultracrawl_session_0={value}".encode()}
    assert browser.get("/", headers=headers).status_code == 303
    assert browser.get("/api/v1/sources", headers=headers).status_code == 401


def test_the_cookie_of_another_service_at_the_same_host_is_none(browser: Browser) -> None:
    browser.log_in()
    browser.service.restart(ApiOptions(cookies=Cookies(8481)))
    assert browser.get("/").status_code == 303


def test_visits_without_a_session_are_no_failed_log_ins(browser: Browser) -> None:
    for _ in range(MAX_FAILED_LOGINS + 5):
        assert browser.get("/").status_code == 303
        assert browser.get("/api/v1/sources").status_code == 401
    assert browser.log_in().status_code == 303


# ---- redirects, headers


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example",
        "\t//evil.example", "/\n/evil.example", "javascript:alert(1)", "evil", "///evil.example", "/%0d%0aX: y\r\nX: z",
        "/a//evil.example", "/..//evil.example", "/login", "http:evil.example", "/" + "a" * 3000, "\x00/", "?q=x",
    ],
)  # fmt: skip
def test_a_log_in_leads_to_no_other_site(browser: Browser, target: str) -> None:
    form = browser.get("/login", params={"next": target})
    assert form.status_code == 200
    assert 'name="next" value=""' in form.text
    answer = browser.log_in(next_=target)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "x" not in answer.headers
    assert browser.get("/login", params={"next": target}).headers["location"] == "/"


@pytest.mark.parametrize(
    "target", ["/?q=a%20b&source=lake", "/cached?url=http%3A%2F%2Fa.example%2F", "/ä?q=ö"]
)
def test_paths_of_the_service_are_kept(browser: Browser, target: str) -> None:
    answer = browser.log_in(next_=target)
    assert unquote(answer.headers["location"]) == unquote(quote(target, safe="/?=&%"))


@pytest.mark.parametrize(
    "name", ["a\r\nSet-Cookie: x=y", '"><script>alert(1)</script>', "\x00", "a" * 100_000]
)
def test_names_end_up_in_no_header_and_no_markup(browser: Browser, name: str) -> None:
    answer = browser.log_in(name, "wrong")
    assert answer.status_code == 401
    assert "<script>alert" not in answer.text
    assert len(answer.text) < 10_000
    assert not any("x=y" in value for value in answer.headers.get_list("set-cookie"))


def test_the_log_in_form_cannot_be_framed_nor_kept(browser: Browser) -> None:
    headers = browser.get("/login").headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "form-action 'self'" in headers["content-security-policy"]
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/login", "/logout", "/", "/api/v1/sources"])
def test_other_hosts_are_refused(browser: Browser, path: str) -> None:
    for method in ("GET", "POST"):
        answer = browser.ask(method, path, headers={"Host": "evil.example"})
        assert (answer.status_code, "location" in answer.headers) == (421, False)


# ---- guessing


def test_huge_passwords_are_not_hashed(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    passwords.hash_of_nobody()
    monkeypatch.setattr(passwords, "_hasher", lambda: pytest.fail("hashed"))
    for name in ("anna", "nobody"):
        assert browser.log_in(name, "x" * (passwords.MAX_BYTES + 1)).status_code == 401
    assert browser.ask("POST", "/login", content=b"x" * (2 << 20)).status_code == 413


def test_a_flood_from_one_address_shuts_out_that_address_alone(service: Service, checked: list[str]) -> None:
    attacker, anna = Browser(service, "203.0.113.5"), Browser(service, "192.0.2.1")
    token = attacker.csrf_token()
    form = {"csrf_token": token, "name": "anna", "password": "a wrong password"}
    answers = [
        code for _ in range(12) for code in codes(attacker.ask_all([("POST", "/login", {"data": form})] * 6))
    ]
    assert set(answers) == {401, 429}
    assert answers.count(401) <= MAX_FAILED_LOGINS + 4, "those that were under way when the limit was reached"
    assert len(checked) == answers.count(401)
    assert attacker.ask("POST", "/login", data={**form, "password": PASSWORD}).status_code == 429
    assert anna.log_in().status_code == 303


def codes(answers: list[Any]) -> list[int]:
    return [answer.status_code for answer in answers]


def test_a_browser_that_was_logged_in_gets_in_beside_a_flood_from_its_own_address(service: Service) -> None:
    anna, attacker = Browser(service), Browser(service)
    anna.log_in()
    anna.ask("POST", "/logout", data={"csrf_token": anna.session_token})
    for _ in range(MAX_FAILED_LOGINS + 1):
        attacker.log_in(password="wrong")
    assert attacker.log_in().status_code == 429
    assert anna.log_in().status_code == 303
    anna.ask("POST", "/logout", data={"csrf_token": anna.session_token})
    assert anna.log_in("ben").status_code == 429, "for its own user alone"


class Guesses:
    """A log-in checker at a time that stands still until it is moved."""

    def __init__(self, service: Service) -> None:
        self.now = 1000.0
        users = UserStore.of_project(service.project)
        self.failed_logins = FailedLogins(lambda: self.now)
        self.checker = LoginChecker(users, self.failed_logins, "secret", lambda: self.now)

    def guess(self, address: str, password: str = "wrong", name: str = "anna", device: str = "") -> str:
        """Return what came of a log-in."""
        try:
            found = asyncio.run(self.checker.check(name, password, address, device))
        except TooManyLoginsError:
            return "not checked"
        return "in" if found else "out"


def test_guesses_from_many_addresses_slow_down_and_shut_out_nobody_for_long(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "fits", lambda _digest, password: password == PASSWORD)
    guesses = Guesses(service)
    device = guesses.checker.device_of(service.users.all_users()[0])
    for number in range(MANY_ADDRESSES):
        assert guesses.guess(f"198.51.100.{number}") == "out"
    results = [guesses.guess(f"203.0.113.{number}") for number in range(50)]
    assert results == ["out"] + ["not checked"] * 49
    assert guesses.guess("192.0.2.1", PASSWORD, device=device) == "in", "a browser of the user"
    guesses.now += PAUSE
    assert guesses.guess("192.0.2.1", PASSWORD) == "in", "another one after seconds"
    assert guesses.guess("203.0.113.1", name="ben") == "out", "other names are not concerned"


def test_addresses_of_one_network_of_ipv6_are_one(service: Service) -> None:
    failures = FailedLogins(lambda: 0.0)
    for number in range(MAX_FAILED_LOGINS):
        failures.note_failure(f"2001:db8::{number:x}")
    assert failures.too_many("2001:db8::ffff")
    assert not failures.too_many("2001:db8:0:1::1")


def test_a_browser_is_marked_for_one_user_by_the_service_alone(service: Service) -> None:
    guesses, other = Guesses(service), LoginChecker(service.users, FailedLogins(), "other secret")
    anna = service.users.all_users()[0]
    for _ in range(MAX_FAILED_LOGINS):
        guesses.failed_logins.note_failure("192.0.2.1")
    for forged in ("", "anna", other.device_of(anna), guesses.checker.device_of(anna) + "x"):
        assert guesses.guess("192.0.2.1", PASSWORD, device=forged) == "not checked"
    assert guesses.guess("192.0.2.1", PASSWORD, device=guesses.checker.device_of(anna)) == "in"
    for _ in range(MAX_FAILED_LOGINS):
        assert guesses.guess("192.0.2.1", device=guesses.checker.device_of(anna)) == "out"
    assert guesses.guess("192.0.2.1", PASSWORD, device=guesses.checker.device_of(anna)) == "not checked"


def test_few_passwords_are_checked_at_a_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    running, most = [0], [0]
    lock = threading.Lock()
    enough = threading.Event()

    def slow(_digest: str, _password: str) -> bool:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        enough.wait(0.05)
        with lock:
            running[0] -= 1
        return False

    monkeypatch.setattr(passwords, "fits", slow)
    guesses = Guesses(service)

    async def flood() -> list[object]:
        checks = (guesses.checker.check("anna", "wrong", f"198.51.{number}.1") for number in range(100))
        return await asyncio.gather(*checks, return_exceptions=True)

    refused = [one for one in asyncio.run(flood()) if isinstance(one, TooManyLoginsError)]
    assert most[0] == logins.CHECKS
    assert 0 < len(refused) < 100, "beyond those that wait, the others are told to come again"


# ---- one-time keys


def test_keys_and_sessions_end_in_time(service: Service) -> None:
    now = 1e9
    path = service.folder / "sessions.json"
    store = SessionStore(path, lambda: now)
    key = store.make_key("root")
    now += 601
    assert store.redeem_key(key) is None
    identifier, _ = store.begin("anna", "1")
    for _ in range(29):
        now += 86_400
        assert store.find(identifier) is not None
        renewed = store.rotated(identifier)
        assert renewed not in (None, identifier)
        assert store.rotated(identifier) is None
        assert store.find(identifier) is not None, "until the new one is used"
        assert store.find(str(renewed)) is not None
        now += 61
        assert store.find(identifier) is None
        identifier = str(renewed)
    now += 86_400
    assert store.find(identifier) is None, "whatever it did, it ends after 30 days"
    identifier, _ = store.begin("anna", "1")
    now += 3 * 86_400 - 1
    assert SessionStore(path, lambda: now).find(identifier) is not None
    now += 2
    assert SessionStore(path, lambda: now).find(identifier) is None, "idle"


def test_a_log_out_ends_all_identifiers_of_a_session(service: Service) -> None:
    now = 1e9
    store = SessionStore(service.folder / "sessions.json", lambda: now)
    identifier, _ = store.begin("anna", "1")
    other, _ = store.begin("anna", "1")
    now += 86_401
    renewed = store.rotated(identifier)
    store.end_session(str(renewed))
    assert [store.find(one) for one in (identifier, str(renewed))] == [None, None]
    assert store.find(other) is not None


def test_a_flood_of_sessions_has_a_bound(service: Service) -> None:
    store = SessionStore(service.folder / "sessions.json")
    first, _ = store.begin("anna", "1")
    identifiers = [store.begin("ben", "2")[0] for _ in range(60)]
    assert store.find(first) is not None
    assert sum(store.find(one) is not None for one in identifiers) == 50
    assert store.find(identifiers[-1]) is not None


def test_an_editor_is_no_administrator_by_any_method(service: Service) -> None:
    service.add("eric", Role.EDITOR)
    eric = Browser(service)
    eric.log_in("eric")
    headers = {"X-CSRF-Token": eric.session_token, "X-HTTP-Method-Override": "POST"}
    assert eric.get("/api/v1/reload", headers=headers).status_code == 405
