"""Users, tokens and public keys made, changed and taken away in the browser: what works, and what nobody can do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lxml.html import HtmlElement, document_fromstring
from service.access.conftest import Browser
from service.pages.admin.conftest import PASSWORD, Administration, led_to, texts
from service.pages.admin.test_races import press_at_once
from service.pages.test_page_attacks import QUOTES, SCRIPT, assert_harmless
from support.clock import wall_time

from ultracrawl.service.access.accounts import Accounts
from ultracrawl.service.access.failed_logins import MAX_FAILED_LOGINS
from ultracrawl.service.access.requester import RequesterKind, Role
from ultracrawl.service.access.sessions import KEY_LIFE
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.pages.account.login import one_time_path
from ultracrawl.stores.audit_log import recorded_actions

ACCESS = "/admin/access"
NEW = "seventeen wet herons"
ADMINISTRATOR = Role.ADMINISTRATOR.value
OWN = {"own": PASSWORD}


@pytest.fixture
def tokens(administration: Administration) -> TokenStore:
    return TokenStore.of_project(administration.project)


def names_of(tokens: TokenStore) -> set[str]:
    return {one.name for one in tokens.all_tokens()}


def faults(answer: Any) -> list[str]:
    """Return the fields of a page that something is wrong with; each has its sentence beside it."""
    page = document_fromstring(answer.text)
    marked = [one.get("name") for one in page.cssselect("[aria-invalid]")]
    told = [one.get("id").removesuffix("-problem") for one in page.cssselect(".field-problem")]
    assert set(marked) <= set(told)
    assert all(one.text_content().strip() for one in page.cssselect(".field-problem"))
    return told


def secret_of(answer: Any) -> str:
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    (shown,) = document_fromstring(answer.text).cssselect("pre.code")
    return str(shown.text_content())


def field(page: HtmlElement, name: str) -> str:
    (found,) = page.cssselect(f"main form [name={name}]")
    return str(found.text if found.tag == "textarea" else found.get("value", "")).strip()


def post(administration: Administration, path: str, **fields: str) -> Any:
    """Send a form as the administrator."""
    browser = administration.browser()
    return browser.ask("POST", path, data={"csrf_token": browser.session_token, **fields})


def logged_in(administration: Administration, name: str, password: str = PASSWORD) -> Browser:
    browser = Browser(administration)  # type: ignore[arg-type] # it asks for the application only
    assert browser.log_in(name, password).status_code == 303
    return browser


def audited(administration: Administration) -> list[dict[str, Any]]:
    """Return what the audit log says, without log-ins, the newest first."""
    rows = [one for one in recorded_actions(administration.project) if one["action"] != "log-in"]
    assert PASSWORD not in json.dumps(rows)
    return rows


# ---- users


def test_a_user_is_added_with_rights_and_logs_in(administration: Administration) -> None:
    fields = {"name": "Ben", "password": NEW, "role": "editor", "principals": " group:sales \n\nuser:ben\n"}
    answer = post(administration, f"{ACCESS}/users", **fields, sources="site")
    assert led_to(answer) == f"{ACCESS}/users/ben"
    ben = administration.users.known_user("ben")
    assert (ben.role, ben.principals, ben.sources) == (Role.EDITOR, ("group:sales", "user:ben"), ("site",))
    assert ben.requester.sources == ("site",)
    assert logged_in(administration, "ben", NEW).get("/admin").status_code == 200
    row = audited(administration)[0]
    assert (row["who"], row["action"], row["targets"]) == (f"user:{ADMINISTRATOR}", "user add", ["ben"])
    assert (row["role"], row["principals"], row["sources"]) == (
        "editor",
        ["group:sales", "user:ben"],
        ["site"],
    )
    assert NEW not in json.dumps(row)


def test_a_first_password_that_is_made_is_shown_once(administration: Administration) -> None:
    form = (f"{ACCESS}/users", {"name": "ben", "role": "searcher"})
    secret = secret_of(post(administration, form[0], **form[1]))
    assert logged_in(administration, "ben", secret).get("/").status_code == 200
    again = post(administration, form[0], **form[1])
    assert (again.status_code, faults(again)) == (400, ["name"]), "sent again, it shows and changes nothing"
    assert secret not in again.text
    assert secret not in administration.browser().get(f"{ACCESS}/users/ben").text
    assert secret not in json.dumps(audited(administration))


def test_pressed_twice_at_once_a_form_adds_one(administration: Administration) -> None:
    administration.browser()
    form = (f"{ACCESS}/users", {"name": "ben", "password": NEW})
    assert press_at_once(administration, form, form) == [303, 400]
    form = (f"{ACCESS}/tokens", {"name": "portal", "role": "reader"})
    assert press_at_once(administration, form, form) == [200, 400]


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"name": "a b"}, ["name"]),
        ({"name": "x" * 65}, ["name"]),
        ({"name": "x" * 100_000}, ["name"]),
        ({"name": ADMINISTRATOR.upper()}, ["name"]),
        ({"password": "short"}, ["password"]),
        ({"password": "passwordpassword"}, ["password"]),
        ({"role": "king"}, ["role"]),
        ({"sources": "site\nnone"}, ["sources"]),
        ({"principals": "x" * 1001}, ["principals"]),
        ({"principals": "a\x07b"}, ["principals"]),
        ({"name": "", "sources": "none"}, ["name", "sources"]),
        ({"role": ADMINISTRATOR}, ["own"]),
        ({"role": ADMINISTRATOR, "own": NEW}, ["own"]),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_lost(
    administration: Administration, fields: dict[str, str], wrong: list[str]
) -> None:
    typed = {
        "name": "ben",
        "password": NEW,
        "role": "reader",
        "principals": "staff",
        "sources": "site",
        **fields,
    }
    answer = post(administration, f"{ACCESS}/users", **typed)
    assert (answer.status_code, faults(answer)) == (400, wrong)
    page = document_fromstring(answer.text)
    kept = {name: field(page, name) for name in ("name", "principals", "sources")}
    assert kept == {name: typed[name].replace("\x07", "\ufffd") for name in kept}
    assert field(page, "password") == ""
    assert [one.name for one in administration.users.all_users()] == [ADMINISTRATOR]
    assert NEW not in answer.text
    assert NEW not in json.dumps(audited(administration))


def test_changed_rights_end_all_sessions_at_once(administration: Administration) -> None:
    administration.users.add_user("ben", Role.EDITOR, PASSWORD, ("staff",))
    browser = logged_in(administration, "ben")
    assert field(administration.get(f"{ACCESS}/users/ben"), "principals") == "staff"
    rights = {"role": "editor", "principals": "staff"}
    assert post(administration, f"{ACCESS}/users/ben/rights", **rights).status_code == 303
    assert browser.get("/admin").status_code == 200, "nothing is different"
    rights = {"role": "searcher", "principals": "group:board", "sources": "site"}
    assert post(administration, f"{ACCESS}/users/ben/rights", **rights).status_code == 303
    assert browser.get("/").status_code == 303
    ben = administration.users.known_user("ben")
    assert (ben.role, ben.principals, ben.sources) == (None, ("group:board",), ("site",))
    post(administration, f"{ACCESS}/users/ben/rights", role="searcher", principals="kept", all="1")
    assert administration.users.known_user("ben").principals is None


@pytest.mark.parametrize("password", [NEW, ""])
def test_a_new_password_ends_all_sessions(administration: Administration, password: str) -> None:
    administration.users.add_user("ben", Role.READER, PASSWORD)
    browser = logged_in(administration, "ben")
    answer = post(administration, f"{ACCESS}/users/ben/password", password=password)
    secret = password or secret_of(answer)
    assert browser.get("/").status_code == 303
    assert logged_in(administration, "ben", secret).get("/").status_code == 200
    weak = post(administration, f"{ACCESS}/users/ben/password", password="short")
    assert (weak.status_code, faults(weak)) == (400, ["password"])
    assert secret not in json.dumps(audited(administration))


def test_a_removed_user_is_out_at_once(administration: Administration) -> None:
    administration.users.add_user("ben", Role.READER, PASSWORD)
    browser = logged_in(administration, "ben")
    assert led_to(post(administration, f"{ACCESS}/users/ben/remove")) == ACCESS
    assert browser.get("/").status_code == 303
    assert post(administration, f"{ACCESS}/users/ben/remove").status_code == 404
    assert administration.users.find_user("ben") is None


# ---- administrators


@pytest.mark.parametrize(
    ("part", "fields"),
    [("rights", {"role": "reader"}), ("password", {"password": NEW}), ("remove", {})],
)
def test_what_is_about_an_administrator_needs_the_own_password(
    administration: Administration, part: str, fields: dict[str, str]
) -> None:
    before = administration.users.add_user("eve", Role.ADMINISTRATOR, PASSWORD)
    for own in ({}, {"own": "wrong"}, {"own": NEW}):
        refused = post(administration, f"{ACCESS}/users/eve/{part}", **fields, **own)
        assert (refused.status_code, faults(refused)) == (400, ["own"])
    assert administration.users.find_user("eve") == before
    assert post(administration, f"{ACCESS}/users/eve/{part}", **fields, **OWN).status_code == 303
    assert administration.users.find_user("eve") != before


def test_guesses_of_the_own_password_end(administration: Administration) -> None:
    administration.users.add_user("eve", Role.ADMINISTRATOR, PASSWORD)
    statuses = [
        post(administration, f"{ACCESS}/users/eve/remove", own="x").status_code
        for _ in range(MAX_FAILED_LOGINS + 1)
    ]
    assert (statuses[0], statuses[-1]) == (400, 429)
    assert post(administration, f"{ACCESS}/users/eve/remove", **OWN).status_code == 429


def test_a_new_administrator_needs_the_own_password(
    administration: Administration, tokens: TokenStore
) -> None:
    fields = {"name": "eve", "password": NEW, "role": ADMINISTRATOR}
    assert post(administration, f"{ACCESS}/users", **fields, **OWN).status_code == 303
    administration.users.add_user("ben", Role.READER, PASSWORD)
    raised = post(administration, f"{ACCESS}/users/ben/rights", role=ADMINISTRATOR)
    assert (raised.status_code, faults(raised)) == (400, ["own"])
    token = {"name": "all", "role": ADMINISTRATOR}
    assert faults(post(administration, f"{ACCESS}/tokens", **token)) == ["own"]
    assert "all" not in names_of(tokens)
    secret_of(post(administration, f"{ACCESS}/tokens", **token, **OWN))


def test_nobody_takes_the_own_role_or_account_away(administration: Administration) -> None:
    administration.users.add_user("eve", Role.ADMINISTRATOR, PASSWORD)
    own = f"{ACCESS}/users/{ADMINISTRATOR}"
    for part, fields, wrong in (
        ("rights", {"role": "reader"}, "role"),
        ("remove", {}, "remove"),
        ("password", {"password": NEW}, "password"),
    ):
        refused = post(administration, f"{own}/{part}", **fields, **OWN)
        assert (refused.status_code, faults(refused)) == (400, [wrong]), part
    page = administration.get(own)
    assert [one.get("action") for one in page.cssselect("main form[method=post]")] == [f"{own}/rights"]


def test_own_sight_is_changed_with_the_password_and_the_session_goes_on(
    administration: Administration,
) -> None:
    elsewhere = [administration.browser(), logged_in(administration, ADMINISTRATOR)][1]
    own, rights = f"{ACCESS}/users/{ADMINISTRATOR}", {"role": ADMINISTRATOR, "principals": "group:sales"}
    assert post(administration, f"{own}/rights", **rights).status_code == 400
    assert post(administration, f"{own}/rights", **rights, **OWN).status_code == 303
    assert administration.users.known_user(ADMINISTRATOR).principals == ("group:sales",)
    assert administration.status(own) == 200
    assert elsewhere.get("/").status_code == 303


def test_the_last_administrator_stays(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    administration.users.add_user("eve", Role.ADMINISTRATOR, PASSWORD)
    eve = logged_in(administration, "eve")
    post(administration, f"{ACCESS}/users/eve/rights", role="reader", **OWN)
    assert eve.get("/admin").status_code == 303
    # of two who remove each other at once, one is too late
    administration.users.change_rights("eve", role=Role.ADMINISTRATOR)
    eve = logged_in(administration, "eve")
    token = {"csrf_token": eve.session_token, **OWN}
    administration.users.change_rights(ADMINISTRATOR, role=Role.ADMINISTRATOR, principals=None)
    assert eve.ask("POST", f"{ACCESS}/users/{ADMINISTRATOR}/remove", data=token).status_code == 303
    assert [one.name for one in administration.users.all_users()] == ["eve"]
    other = Browser(administration)  # type: ignore[arg-type]
    other.get(one_time_path(administration.app))
    token = {"csrf_token": other.session_token}
    for part, fields in (("remove", {}), ("rights", {"role": "reader"})):
        refused = other.ask("POST", f"{ACCESS}/users/eve/{part}", data={**token, **fields})
        assert refused.status_code == 400, part
    assert administration.users.known_user("eve").role is Role.ADMINISTRATOR


def test_whoever_started_the_service_makes_the_first_administrator_within_minutes(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(administration)  # type: ignore[arg-type]
    browser.get(one_time_path(administration.app))
    fields = {"csrf_token": browser.session_token, "password": NEW, "role": ADMINISTRATOR}
    assert browser.ask("POST", f"{ACCESS}/users", data={**fields, "name": "anna"}).status_code == 303
    later = wall_time() + KEY_LIFE + 1
    monkeypatch.setattr("ultracrawl.service.pages.admin.records.grants.time.time", lambda: later)
    refused = browser.ask("POST", f"{ACCESS}/users", data={**fields, "name": "eve"})
    assert (refused.status_code, faults(refused)) == (400, ["own"])
    assert [one.name for one in administration.users.all_users()] == ["anna"]


def test_a_token_makes_nobody(administration: Administration, tokens: TokenStore) -> None:
    header = {"Authorization": f"Bearer {tokens.create_token('all', Role.ADMINISTRATOR, None)}"}
    browser = administration.browser(None)
    assert browser.get(ACCESS, headers=header).status_code == 200
    administration.users.add_user("ben", Role.READER, PASSWORD)
    for path in (
        "users",
        "tokens",
        "keys",
        *(f"users/ben/{part}" for part in ("rights", "password", "remove")),
    ):
        fields = {"name": "eve", "role": "reader", "sites": "https://a.example"}
        assert browser.ask("POST", f"{ACCESS}/{path}", data=fields, headers=header).status_code == 403, path
    assert names_of(tokens) <= {"all", "reader"}
    assert [one.name for one in administration.users.all_users()] == ["ben"]


# ---- tokens and public keys


def test_a_token_is_shown_once_and_works(administration: Administration, tokens: TokenStore) -> None:
    fields = {"name": "portal", "role": "reader", "sources": "site", "expires": "90d"}
    secret = secret_of(post(administration, f"{ACCESS}/tokens", **fields))
    found = tokens.find_token(secret)
    assert found is not None
    assert (found.role, found.principals, found.sources) == (Role.READER, (), ("site",))
    assert found.expires is not None
    assert secret not in administration.browser().get(ACCESS).text
    row = audited(administration)[0]
    assert (row["action"], row["targets"], row["role"]) == ("token create", ["portal"], "reader")
    assert secret not in json.dumps(row)


def test_a_token_has_no_rights_that_its_maker_lacks(
    administration: Administration, tokens: TokenStore
) -> None:
    fields = {"name": "portal", "role": "reader"}
    for beyond in ({"principals": "group:sales"}, {"all": "1"}):
        refused = post(administration, f"{ACCESS}/tokens", **fields, **beyond)
        assert (refused.status_code, faults(refused)) == (400, ["principals"])
    administration.users.add_user("eve", Role.ADMINISTRATOR, PASSWORD, ("group:sales",), ("site",))
    eve = logged_in(administration, "eve")
    token = {"csrf_token": eve.session_token, **fields}
    for beyond in ({"principals": "group:sales\nstaff"}, {"all": "1"}):
        assert eve.ask("POST", f"{ACCESS}/tokens", data={**token, **beyond}).status_code == 400
    secret = secret_of(eve.ask("POST", f"{ACCESS}/tokens", data={**token, "principals": "group:sales"}))
    made = tokens.find_token(secret)
    assert made is not None
    assert (made.principals, made.sources) == (("group:sales",), ("site",)), "nor other sources"


def test_a_public_key_has_its_sites_and_sources_and_finds_nothing_private(
    administration: Administration, tokens: TokenStore
) -> None:
    file = administration.workspace.directory / "ultracrawl.yaml"
    private = "  other: {start_urls: ['https://b.example/'], acl: [staff]}\n"
    public = "  third: {start_urls: ['https://c.example/'], public: true}\n"
    text = file.read_text().replace("    type: web", "    type: web\n    public: confirmed")
    file.write_text(text.replace("sources:\n", f"sources:\n{private}{public}"))
    form = {"name": "docs", "sites": "https://a.example/\nhttp://b.example:80"}
    refused = post(administration, f"{ACCESS}/keys", **form, sources="site\nother")
    assert (refused.status_code, faults(refused)) == (400, ["sources"])
    key = secret_of(
        post(administration, f"{ACCESS}/keys", **form, sources="site", role=ADMINISTRATOR, all="1")
    )
    made = tokens.find_token(key)
    assert made is not None
    assert (made.role, made.principals) == (None, ())
    assert (made.sites, made.sources) == (("https://a.example", "http://b.example"), ("site",))
    requester = made.public_requester(administration.project.public_sources)
    assert (requester.kind, requester.sources, requester.principals) == (RequesterKind.KEY, ("site",), ())
    everywhere = secret_of(post(administration, f"{ACCESS}/keys", **{**form, "name": "all"}))
    found = tokens.find_token(everywhere)
    assert found is not None
    assert set(found.public_requester(administration.project.public_sources).sources or ()) == {
        "site",
        "third",
    }


@pytest.mark.parametrize(
    ("kind", "fields", "wrong"),
    [
        ("tokens", {"name": ""}, ["name"]),
        ("tokens", {"name": "x" * 101}, ["name"]),
        ("tokens", {"name": "a\x00b"}, ["name"]),
        ("tokens", {"expires": "soon"}, ["expires"]),
        ("tokens", {"expires": "2001-01-01"}, ["expires"]),
        ("tokens", {"role": "searcher"}, ["role"]),
        ("keys", {"sites": ""}, ["sites"]),
        ("keys", {"sites": "https://a.example/path"}, ["sites"]),
        ("keys", {"sites": "https://*.example"}, ["sites"]),
    ],
)
def test_mistakes_in_tokens_and_keys(
    administration: Administration, tokens: TokenStore, kind: str, fields: dict[str, str], wrong: list[str]
) -> None:
    typed = {"name": "portal", "role": "reader", "expires": "9d", "sites": "https://a.example", **fields}
    answer = post(administration, f"{ACCESS}/{kind}", **typed)
    assert (answer.status_code, faults(answer)) == (400, wrong)
    assert field(document_fromstring(answer.text), "expires") == typed["expires"]
    assert names_of(tokens) <= {"reader"}, "that of the tests"


# ---- hostile names


def test_names_of_others_are_text(administration: Administration, tokens: TokenStore) -> None:
    evil = SCRIPT + QUOTES
    administration.users.add_user("ben", Role.READER, PASSWORD, (evil,), (evil,))
    tokens.create_token(evil[:100], Role.READER, (evil,), sources=(evil,))
    asked = [administration.browser().get(path) for path in (ACCESS, f"{ACCESS}/users/ben")]
    fields = {"name": evil, "principals": evil, "sources": evil, "sites": evil, "expires": evil, "role": evil}
    for path in ("users", "users/ben/rights", "tokens", "keys"):
        answer = post(administration, f"{ACCESS}/{path}", **fields)
        assert answer.status_code == 400, path
        asked.append(answer)
    made = post(administration, f"{ACCESS}/tokens", name=SCRIPT, role="reader")
    for answer in (*asked, made):
        page = document_fromstring(answer.text)
        assert_harmless(page)
        assert SCRIPT in page.text_content() or SCRIPT in answer.text.replace("&lt;", "<").replace(
            "&gt;", ">"
        )


def test_a_user_of_another_system_adds_users_and_no_administrator(
    administration: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = administration.app.state.api.accounts.sessions
    identifier, session = sessions.begin("oidc:ida", "", issuer="https://id.example")
    administrator = administration.users.add_user("root", Role.ADMINISTRATOR, PASSWORD, None).requester
    monkeypatch.setattr(Accounts, "requester_of", lambda *_: administrator)
    browser = administration.browser(None)
    answer = browser.get("/login")
    (name,) = {cookie.replace("_form_", "_session_") for cookie in answer.cookies}
    browser.cookies.set(name, identifier, domain="127.0.0.1")
    token = {"csrf_token": session.csrf_token, "password": NEW}
    assert browser.ask("POST", f"{ACCESS}/users", data={**token, "name": "ben"}).status_code == 303
    grave = {**token, "name": "eve", "role": ADMINISTRATOR, "own": PASSWORD}
    refused = browser.ask("POST", f"{ACCESS}/users", data=grave)
    assert (refused.status_code, faults(refused)) == (400, ["own"])
    assert texts(document_fromstring(refused.text), "[name=own]") == []
