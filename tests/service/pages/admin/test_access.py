"""The page of who may do what: people, tokens, log-ins, and what revoking one does."""

from __future__ import annotations

import pytest
from click import Context
from service.pages.admin.conftest import Administration, led_to, texts
from support.clock import wall_time

from ultracrawl.cli.main import cli
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.stores.audit_log import Actor, record_action, recorded_actions

PAGE = "/admin/access"


@pytest.fixture
def tokens(administration: Administration) -> TokenStore:
    return TokenStore.of_project(administration.project)


def rows(administration: Administration, part: str) -> list[list[str]]:
    page = administration.get(PAGE)
    return [texts(row, "th, td") for row in page.cssselect(f'[aria-labelledby="{part}"] tbody tr')]


def test_only_administrators_see_it(administration: Administration) -> None:
    assert administration.status(PAGE, None) == 303
    assert [administration.status(PAGE, role) for role in Role] == [403, 403, 200]
    for role in (Role.READER, Role.EDITOR):
        assert "/admin/access" not in administration.browser(role).get("/admin").text


def test_the_commands_that_it_shows_can_be_run_as_they_are(administration: Administration) -> None:
    shown = administration.get(PAGE).cssselect("p.muted code")
    commands = [one.text_content() for one in shown if one.text_content().startswith("ultracrawl ")]
    assert len(commands) == 2
    for command in commands:
        words = command.removeprefix("ultracrawl ").split()
        group, verb, *given = words
        parsed = cli.get_command(Context(cli), group).get_command(Context(cli), verb)
        assert parsed.make_context(verb, given).params["name"] == "NAME"


def test_people_have_their_role_what_they_see_and_their_sessions(administration: Administration) -> None:
    administration.users.add_user("ben", Role.READER, "correct horse battery", ("staff", "<b>"))
    administration.browser(Role.EDITOR).get("/admin")
    found = {row[0]: row for row in rows(administration, "people")}
    assert found["user:ben"][3:5] == ["0", "–"]
    assert "staff, <b>" in found["user:ben"][2]
    assert found["user:editor"][3] == "1"
    assert found["user:administrator"][3] == "1"


def test_tokens_have_their_last_use_and_end(administration: Administration, tokens: TokenStore) -> None:
    text = tokens.create_token("portal", Role.READER)
    tokens.create_token("old", Role.EDITOR, None, wall_time() - 9)
    tokens.create_token("docs", None, sites=["https://docs.example.com"])
    tokens.find_token(text)
    found = {row[0]: row for row in rows(administration, "tokens")}
    assert {"token:portal", "token:old", "key:docs"} <= set(found)
    assert found["token:portal"][3][:2] == "20"
    assert found["token:old"][3][:2] != "20"
    assert "bad" in administration.get(PAGE).cssselect('[aria-labelledby="tokens"] tbody tr')[1][4].get(
        "class"
    )
    assert found["key:docs"][2] == "https://docs.example.com"
    assert text not in administration.browser().get(PAGE).text


@pytest.mark.parametrize("name", ["portal", "a/b c?d#<b>", "ä%2F"])
def test_a_token_is_revoked_by_its_button(
    administration: Administration, tokens: TokenStore, name: str
) -> None:
    text = tokens.create_token(name, Role.READER)
    found = administration.get(PAGE).cssselect('[aria-labelledby="tokens"] tbody tr')
    (form,) = next(row for row in found if texts(row, "th") == [f"token:{name}"]).cssselect("form")
    for role in (None, Role.READER, Role.EDITOR):
        assert administration.send(form.get("action"), role).status_code in (303, 403)
    assert administration.browser().ask("POST", form.get("action"), data={}).status_code == 403, (
        "no CSRF token"
    )
    assert tokens.find_token(text) is not None
    assert led_to(administration.send(form.get("action"))) == PAGE
    assert tokens.find_token(text) is None
    assert administration.send(form.get("action")).status_code == 400
    row = next(row for row in recorded_actions(administration.project) if row["result"] == "done")
    assert (row["who"], row["action"], row["targets"]) == ("user:administrator", "token revoke", [name])


def test_log_ins_say_who_and_from_where_the_newest_first(administration: Administration) -> None:
    for who, address in (("oidc:ida", "192.0.2.7"), ("proxy:<i>", "192.0.2.8")):
        record_action(administration.project, Actor(who, address), "log-in")
    record_action(administration.project, Actor("user:ben", "192.0.2.9"), "start")
    administration.browser()
    found = [row[1:3] for row in rows(administration, "log-ins")]
    assert found[0][0] == "user:administrator"
    assert found[1:] == [["proxy:<i>", "192.0.2.8"], ["oidc:ida", "192.0.2.7"]]
