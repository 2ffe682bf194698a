"""Login forms: which form of a page, its fields, where it may be sent, and how a lost session shows."""

from __future__ import annotations

from typing import Any

import pytest
from support.sentences import sentence

from ultracrawl.rules.access.login import Form, Login, login_forms
from ultracrawl.rules.access.visitors import VisitorPage
from ultracrawl.sources.sections.fetching.authentication import LoginEntry

URL = "https://login.example.com/session/start?x=1"


@pytest.mark.parametrize(
    ("markup", "action", "method", "fields"),
    [
        pytest.param(
            '<form action="/q"><input name=q></form>'
            '<form method=post action=new><input type=hidden name=t value="a&amp;b">'
            "<input name=user value=guest><input type=PassWord name=pw></form>",
            "https://login.example.com/session/new",
            "POST",
            (("t", "a&b"), ("user", "guest")),
            id="fast_222-the-form-with-a-password",
        ),
        pytest.param("<form><input type=password name=p></form>", URL, "GET", (), id="no-action-no-method"),
        pytest.param(
            '<base href="https://other.example/b/"><form action=x method=POST><input type=password name=p></form>',
            "https://other.example/b/x",
            "POST",
            (),
            id="base",
        ),
        pytest.param(
            '<base href="http://a:b/"><form action=x method=POST><input type=password name=p></form>',
            "https://login.example.com/session/x",
            "POST",
            (),
            id="a-base-that-is-no-url",
        ),
        pytest.param(
            "<form method=post><input type=password name=p><input type=checkbox name=keep value=1 checked>"
            "<input type=checkbox name=no value=1><select name=lang><option value=de>D<option value=en selected>E"
            "</select><textarea name=t>x</textarea><input type=submit name=go value=Go>"
            "<input name=off value=1 disabled><input value=nameless></form>",
            URL,
            "POST",
            (("keep", "1"), ("lang", "en"), ("t", "x")),
            id="what-a-browser-sends-but-empty-fields",
        ),
    ],
)
def test_the_form_of_a_page(
    markup: str, action: str, method: str, fields: tuple[tuple[str, str], ...]
) -> None:
    assert login_forms(markup.encode(), URL) == [Form(action, method, fields)]


@pytest.mark.parametrize(
    "body", [b"", b"\0\0", b"<p>no form</p>", b"<form><input name=user></form>", b"<" * 10_000, b"\xff\xfe"]
)
def test_pages_without_a_login_form(body: bytes) -> None:
    assert login_forms(body, URL, names={"user", "password"}) == []


def test_without_a_password_field_it_is_the_form_that_has_the_fields_that_are_given() -> None:
    search = "<form><input name=q></form>"
    entry = '<form action=/in><input name=user><input name="password">%s</form>'
    names = {"user", "password", "area"}
    with_all = (entry % "<select name=area><option>a</select>").encode()
    action = "https://login.example.com/in"
    assert login_forms(search.encode() + with_all, URL, names=names) == [
        Form(action, "GET", (("area", "a"),))
    ]
    assert login_forms(with_all, URL) == []
    assert login_forms(with_all, URL, names={*names, "other"}) == []
    hidden = b"<form action=/p><input type=password name=p></form>"
    assert [form.action for form in login_forms(with_all + hidden, URL, names=names)] == [
        "https://login.example.com/p"
    ]


def test_fast_224_given_values_win_and_come_last_in_their_order() -> None:
    form = Form("", "POST", (("pw", ""), ("csrf", "t"), ("user", "guest")))
    filled = form.filled([("user", "robot"), ("pw", "x"), ("extra", "1")])
    assert filled == [("csrf", "t"), ("user", "robot"), ("pw", "x"), ("extra", "1")]


LOGIN = Login(
    "m",
    frozenset({"members.example.com"}),
    (("pw", "hidden-secret"),),
    page="https://login.example.com/session?next=/",
    action="https://login.example.com/new",
)


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        pytest.param("https://login.example.com/anything", True, id="same-site"),
        pytest.param("https://evil.example/session", False, id="P4-another-host"),
        pytest.param("http://login.example.com/session", False, id="P4-scheme-downgrade"),
        pytest.param("https://login.example.com:8443/session", False, id="P4-another-port"),
        pytest.param("", False, id="no-url"),
    ],
)
def test_where_a_form_may_be_sent(action: str, allowed: bool) -> None:
    assert LOGIN.may_receive(action) is allowed


@pytest.mark.parametrize(
    ("status", "location", "lost"),
    [
        pytest.param(302, "https://login.example.com/session?next=/a", True, id="the-page"),
        pytest.param(303, "https://login.example.com/new", True, id="the-action"),
        pytest.param(302, "/elsewhere", False, id="another-page"),
        pytest.param(200, "https://login.example.com/session", False, id="no-redirect"),
        pytest.param(302, "", False, id="nowhere"),
        pytest.param(302, "http://[bad", False, id="no-url"),
    ],
)
def test_how_a_lost_session_shows(status: int, location: str, lost: bool) -> None:
    assert LOGIN.leads_to_form(status, location, "https://members.example.com/a") is lost


def test_p4_a_login_does_not_show_its_values() -> None:
    assert "hidden-secret" not in repr(LOGIN)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        pytest.param({}, "Field required|missing", id="nothing"),
        pytest.param(
            {"fields": {"a": "b"}}, sentence("access.neither_action_nor_page"), id="fast_221-nowhere"
        ),
        pytest.param(
            {"fields": {"a": "b"}, "page": URL, "autofill": False},
            "neither `action` nor",
            id="fast_222-not-filled",
        ),
        pytest.param({"fields": {"a": "b"}, "page": "login"}, "not an absolute URL", id="relative"),
        pytest.param(
            {"fields": {"a": "b"}, "page": URL, "sites": ["http://x/"]},
            sentence("access.not_name_host"),
            id="site",
        ),
    ],
)
def test_entries_that_cannot_work(entry: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        LoginEntry.model_validate(entry)


# ---- what visitors get


def visitors(
    body: str = "", *, status: int = 200, location: str = "", url: str = "https://a.example/in"
) -> VisitorPage:
    return VisitorPage.of(url, status, location, body.encode())


@pytest.mark.parametrize(
    ("known", "status", "location", "body", "likeness"),
    [
        pytest.param(
            visitors("<p>Please join 17 members"),
            200,
            "",
            "<b>please</b> join 18 members",
            "same",
            id="numbers",
        ),
        pytest.param(
            visitors("<p>Read /in, join us"), 200, "", "<p>Read /other, join us", "same", id="own-url"
        ),
        pytest.param(visitors("<p>Please join"), 200, "", "<p>Axolotl gills", "none", id="other-text"),
        pytest.param(visitors("<p>Please join"), 403, "", "", "none", id="other-status"),
        pytest.param(visitors("<p>a"), 200, "", "<p>a" + "<i>" * 600, "none", id="much-longer"),
        pytest.param(
            visitors("<script>go(1)</script>"), 200, "", "<script>go(2)</script>", "none", id="scripts-alone"
        ),
        pytest.param(visitors(status=403), 403, "", "", "perhaps", id="status"),
        pytest.param(
            visitors(status=302, location="/join?x=1"), 302, "/join?x=2", "", "perhaps", id="target"
        ),
        pytest.param(visitors(status=302, location="/join"), 302, "/", "", "none", id="other-target"),
        pytest.param(
            visitors(status=302, location="http://["), 302, "http://[", "", "perhaps", id="no-target"
        ),
    ],
)
def test_an_answer_resembles_what_visitors_get(
    known: VisitorPage, status: int, location: str, body: str, likeness: str
) -> None:
    assert known.likeness("https://a.example/other", status, location, body.encode()).value == likeness
    assert VisitorPage.from_dict(known.as_dict()) == known


def test_a_form_is_sent_in_the_charset_of_its_page() -> None:
    body = "<form action='/in?a=ß'><input type=password name=pw><input type=hidden name=s value=ß></form>"
    (form,) = login_forms(body.encode("latin-1"), URL, "cp1252")
    assert form.action.endswith("/in?a=%DF")
    assert form.encoded([("user", "Jürgen я")]) == "s=%DF&user=J%FCrgen+%26%231103%3B"


def test_a_form_names_the_charset_in_which_it_is_sent() -> None:
    body = "<form accept-charset='x-none windows-1251 utf-8'><input type=password name=pw></form>"
    (form,) = login_forms(body.encode(), URL, "utf-8")
    assert form.encoded([("user", "я")]) == "user=%FF"
