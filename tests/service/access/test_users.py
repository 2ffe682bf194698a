"""Users on the command line, their names and passwords, and what is stored of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from service.access.conftest import Browser, Service
from zxcvbn.frequency_lists import FREQUENCY_LISTS

from ultracrawl.cli.main import cli
from ultracrawl.errors import MissingExtraError, UserError
from ultracrawl.service.access import passwords
from ultracrawl.service.access.passwords import MIN_CHARACTERS, Weakness, check_password, weakness_of
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.access.users import UserStore

PASSWORD = "correct horse battery"


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UserStore:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ultracrawl.yaml").write_text("sources: {site: {start_urls: ['https://a.example/']}}\n")
    return UserStore(tmp_path / "var" / "state" / "service" / "users.json")


def user(*words: str, password: str = PASSWORD) -> Result:
    return CliRunner().invoke(cli, ["user", *words], input=f"{password}\n")


def test_users_are_added_listed_changed_and_removed(users: UserStore) -> None:
    added = user("add", "Anna", "--role", "administrator", "--all-principals", "--password-stdin")
    assert added.exit_code == 0
    assert user("add", "ben", "--role", "reader", "--principal", "staff", "--password-stdin").exit_code == 0
    assert user("add", "carl", "--role", "searcher", "--password-stdin").exit_code == 0
    rows = json.loads(user("list", "--json").output)["users"]
    assert [(row["name"], row["role"], row["principals"]) for row in rows] == [
        ("anna", "administrator", None),
        ("ben", "reader", ["staff"]),
        ("carl", None, []),
    ]
    assert {"password", "number"}.isdisjoint(rows[0])
    assert "anna: administrator" in user("list").output
    assert "carl: searcher" in user("list").output
    before = users.find_user("ANNA")
    assert before is not None
    assert passwords.fits(before.password, PASSWORD)
    assert user("password", "Anna", "--password-stdin", password="another long one").exit_code == 0
    after = users.find_user("anna")
    assert after is not None
    assert (after.role, after.principals, after.created) == (before.role, before.principals, before.created)
    assert after.number != before.number
    assert passwords.fits(after.password, "another long one")
    assert not passwords.fits(after.password, PASSWORD)
    assert user("remove", "anna").exit_code == 0
    assert [one.name for one in users.all_users()] == ["ben", "carl"]
    text = users.path.read_text() + (users.path.parents[2] / "log" / "audit.jsonl").read_text()
    assert PASSWORD not in text
    assert "another long one" not in text
    assert '"user add"' in text
    assert '"user remove"' in text


def test_role_and_principals_are_changed_and_what_is_not_named_stays(users: UserStore) -> None:
    kept = users.add_user("ben", Role.READER, PASSWORD, ("staff",))

    def changed(*options: str, **rights: Any) -> None:
        nonlocal kept
        assert user("change", "Ben", *options).exit_code == 0
        after = users.known_user("ben")
        assert after == replace(kept, number=after.number, **rights)
        assert after.number != kept.number, "all sessions have ended"
        kept = after

    changed("--role", "editor", role=Role.EDITOR)
    changed("--principal", "group:board", "--principal", "lee", principals=("group:board", "lee"))
    changed("--role", "searcher", "--all-principals", role=None, principals=None)
    changed("--no-principals", principals=())
    changed("--source", "site", sources=("site",))
    changed("--all-sources", sources=None)
    assert user("change", "ben", "--all-sources").exit_code == 0
    assert users.known_user("ben") == kept, "what changes nothing ends no session"
    lines = (users.path.parents[2] / "log" / "audit.jsonl").read_text().splitlines()
    told = [json.loads(line) for line in lines]
    assert [one["action"] for one in told] == ["user change"] * 7
    assert told[0]["role"] == "editor"


@pytest.mark.parametrize(
    "words",
    [
        ("change", "anna"),
        ("change", "none", "--role", "editor"),
        ("change", "anna", "--role", "king"),
        ("change", "anna", "--no-principals", "--principal", "a"),
        ("change", "anna", "--no-principals", "--all-principals"),
        ("change", "anna", "--all-sources", "--source", "site"),
        ("change", "anna", "--source", "none"),
        ("add", "ben", "--role", "reader", "--source", "none", "--password-stdin"),
        ("add", "anna", "--role", "reader", "--password-stdin"),
        ("add", "ANNA ", "--role", "reader", "--password-stdin"),
        ("add", "a b", "--role", "reader", "--password-stdin"),
        ("add", "", "--role", "reader", "--password-stdin"),
        ("add", "-x", "--role", "reader", "--password-stdin"),
        ("add", "a\r\nb", "--role", "reader", "--password-stdin"),
        ("add", "../x", "--role", "reader", "--password-stdin"),
        ("add", "x" * 65, "--role", "reader", "--password-stdin"),
        ("add", "ben", "--role", "king", "--password-stdin"),
        ("add", "ben", "--role", "reader", "--principal", "a", "--all-principals", "--password-stdin"),
        ("add", "ben", "--role", "reader"),
        ("password", "none", "--password-stdin"),
        ("password", "anna"),
        ("remove", "none"),
    ],
)
def test_mistakes_change_nothing(users: UserStore, words: tuple[str, ...]) -> None:
    users.add_user("anna", Role.READER, PASSWORD)
    before = users.path.read_bytes()
    result = user(*words, password="another long one")
    assert result.exit_code == 2 or isinstance(result.exception, UserError)
    assert users.path.read_bytes() == before


def test_a_principal_that_differs_from_a_reader_by_its_type_is_reported(users: UserStore) -> None:
    file = users.path.parents[3] / "ultracrawl.yaml"

    def define(acl: str) -> None:
        source = f"{{start_urls: ['https://a.example/'], acl: ['{acl}']}}"
        file.write_text(f"sources: {{site: {source}}}\n")

    def hints() -> list[dict[str, Any]]:
        lines = CliRunner().invoke(cli, ["lint", "--json"]).output.splitlines()
        return [one for one in map(json.loads, lines) if one["key"].endswith("acl")]

    def is_reported(name: str, principal: str) -> bool:
        added = user("add", name, "--role", "reader", "--principal", principal, "--password-stdin")
        assert added.exit_code == 0
        return "another name" in added.stderr

    define("group:sales")
    assert is_reported("ben", "sales")
    assert not is_reported("eva", "group:sales")
    assert not is_reported("kim", "other")
    assert hints() == [], "a typed name may be one of another system"
    define("sales")
    assert hints() == [], "ben has it"
    users.change_rights("ben", principals=())
    (hint,) = hints()
    assert not hint["fatal"]
    assert "group:sales" in hint["instead"]
    file.write_text(file.read_text() + "sign_in: {ldap: {url: ldaps://ldap.example, base: dc=example}}\n")
    assert hints() == [], "the directory may know it"


def test_somebody_with_sources_finds_documents_of_these_alone(service: Service) -> None:
    service.users.add_user("ben", Role.READER, PASSWORD, None, ("sea",))
    tokens = TokenStore.of_project(service.project)
    token = tokens.create_token("portal", Role.READER, None, sources=("sea",))
    keys = [tokens.create_token(f"key{one}", None, sources=(one,)) for one in ("lake", "sea")]
    browser = Browser(service)
    browser.log_in("ben")

    def found(**headers: str) -> list[str]:
        answer = browser.get("/api/v1/search?q=heron", headers=headers)
        return [one["url"] for one in answer.json()["hits"]]

    gull = "http://sea.example/gull"
    assert found() == [gull]
    assert found(Authorization=f"Bearer {token}") == [gull]
    lake, sea = (found(Authorization=f"Bearer {key}") for key in keys)
    assert lake == ["http://lake.example/heron"]
    assert sea == [], "it is not public"
    service.users.change_rights("ben", sources=None)
    browser.log_in("ben")
    assert len(found()) == 3


WORDS = "alder birch cedar elder hazel juniper larch maple oak poplar rowan spruce willow yew aspen beech elm fir holly"


@pytest.mark.parametrize("password", ["", "tree-frog 7", WORDS + " and so on, and so on", "ä" * 513])
def test_passwords_that_are_too_short_or_too_long_are_refused(users: UserStore, password: str) -> None:
    assert weakness_of("anna", password) is Weakness.LENGTH
    with pytest.raises(UserError):
        users.add_user("anna", Role.READER, password)
    users.add_user("anna", Role.READER, PASSWORD)
    with pytest.raises(UserError):
        users.change_password("anna", password)


@pytest.mark.parametrize("length", [12, 128])
def test_the_lengths_that_a_password_may_have(length: int) -> None:
    text = (WORDS + WORDS)[:length]
    assert weakness_of("anna", text) is None
    assert weakness_of("anna", text[:11] if length == 12 else text + "x") is Weakness.LENGTH


def test_frequent_passwords_are_refused() -> None:
    frequent = [one for one in FREQUENCY_LISTS["passwords"] if len(one) >= MIN_CHARACTERS]
    assert len(frequent) > 200
    taken = [one for one in frequent for written in (one, one.upper()) if not weakness_of("zoe", written)]
    assert taken == []


GUESSED = [
    "aaaaaaaaaaaa", "abcabcabcabc", "abcdefghijkl", "123456789012", "qwertyuiop12", "qwertzuiopasdf",
    "1qaz2wsx3edc", "passwordpassword", "P@ssw0rd1234", "Summer2026!!", "12.05.1987 12", "anna.brightwater",
    "brightwater-2026", "AnnaAnnaAnna", "Ultracrawl2026", "ultracrawl-ultracrawl", "brightwater ultracrawl",
]  # fmt: skip


def test_passwords_that_are_easily_guessed_are_refused(subtests: pytest.Subtests) -> None:
    for password in GUESSED:
        with subtests.test(password):
            assert weakness_of("anna.brightwater", password) is Weakness.GUESSED
            with pytest.raises(UserError):
                check_password("anna.brightwater", password)


def test_words_of_one_user_are_no_weakness_of_another_ones_password() -> None:
    assert weakness_of("anna.brightwater", "brightwater-2026") is Weakness.GUESSED
    assert weakness_of("ben", "brightwater-2026") is None


def test_a_password_of_an_earlier_version_goes_on(users: UserStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr("ultracrawl.service.access.users.check_password", lambda *_: None)
        anna = users.add_user("anna", Role.READER, "eight ch")
    assert passwords.fits(anna.password, "eight ch")
    users.renew_hash(anna, "eight ch")


@pytest.mark.parametrize("password", ["correct horse battery", "pässwörter 1", " leading space", WORDS])
def test_other_passwords_are_taken_as_they_are(password: str) -> None:
    check_password("anna", password)
    assert passwords.fits(passwords.hash_password(password), password)
    assert not passwords.fits(passwords.hash_password(password), password.strip() + ".")


def test_a_password_typed_on_another_keyboard_is_the_same() -> None:
    assert passwords.fits(passwords.hash_password("p\u00e4sswort 1"), "pa\u0308sswort 1")


@pytest.mark.parametrize("digest", ["", "x", "$argon2id$v=19$m=8,t=1,p=1$$", "$2b$12$abc"])
def test_a_damaged_hash_fits_no_password(digest: str) -> None:
    assert not passwords.fits(digest, PASSWORD)


def test_a_hash_of_earlier_parameters_is_renewed_at_the_next_log_in(users: UserStore) -> None:
    anna = users.add_user("anna", Role.READER, PASSWORD)
    users.renew_hash(anna, PASSWORD)
    renewed = users.find_user("anna")
    assert renewed is not None
    assert renewed.password != anna.password
    assert renewed.number == anna.number, "sessions go on"
    users.renew_hash(anna, PASSWORD)
    assert users.find_user("anna") == renewed, "the user was changed meanwhile"


def test_without_the_extra_its_install_line_is_named(
    users: UserStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingExtraError("users with passwords", "serve")

    monkeypatch.setattr(passwords, "_hasher", missing)
    result = user("add", "anna", "--role", "reader", "--password-stdin")
    assert isinstance(result.exception, MissingExtraError)
    assert not users.path.exists()
