"""Two who do the same at once, or later than they looked: each learns what became of it, and nobody decides unseen."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lxml.html import document_fromstring
from service.pages.admin.conftest import PASSWORD, Administration, Form
from service.pages.admin.test_decisions import alike, held, waiting
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

from ultracrawl.errors import UserError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.access.users import UserStore

__all__ = ["alike", "held", "waiting"]
PAGE = "/admin/approvals"


def waiting_urls(administration: Administration) -> list[str]:
    return [one.text_content() for one in administration.get(PAGE).cssselect(".documents .address")]


def press_at_once(administration: Administration, *forms: Form) -> list[int]:
    """Return the statuses of forms that several tabs send at once, in order."""
    browser = administration.browser()
    token = {"csrf_token": browser.session_token}
    answers = browser.ask_all([("POST", path, {"data": {**token, **fields}}) for path, fields in forms])
    return sorted(one.status_code for one in answers)


# ---- approvals and held changes


def test_as_many_other_documents_are_not_those_that_were_shown(
    held: Administration, workspace: InProcessWorkspace, site: NetworkSite
) -> None:
    shown = held.form("deletions", "delete")
    assert held.press(held.form("deletions", "discard")) == 303
    site.page("/egret", title="Egret", text="the egret is white")
    site.gone("/heron")
    workspace.crawl(code=1)
    (left,) = waiting_urls(held)
    assert left.endswith("/heron")
    assert held.press(shown) == 409
    assert waiting_urls(held) == [left]


@pytest.mark.parametrize("one", ["", "/heron"], ids=["all", "one"])
def test_another_text_than_the_one_that_was_shown_is_not_approved(
    waiting: Administration, workspace: InProcessWorkspace, site: NetworkSite, url: str, one: str
) -> None:
    shown = waiting.form("approvals", "approve", one and url + one)
    site.page("/heron", title="Heron", text="buy cheap herons here")
    workspace.crawl()
    assert waiting.press(shown) == 409
    assert len(waiting_urls(waiting)) == 3
    shown = waiting.form("approvals", "approve", one and url + one)
    assert waiting.press(shown) == 303


def test_another_new_version_than_the_one_that_was_shown_is_not_accepted(
    alike: Administration, workspace: InProcessWorkspace, site: NetworkSite
) -> None:
    shown = alike.form("changes", "accept")
    for number in range(30):
        text = f"This page is for members, please pay here /story{number}"
        site.page(f"/story{number}", title="Members", text=text)
    workspace.crawl(code=1)
    assert alike.press(shown) == 409
    assert len(waiting_urls(alike)) == 30
    assert alike.press(alike.form("changes", "accept")) == 303


@pytest.mark.parametrize(
    ("of", "part", "decisions"),
    [
        ("held", "deletions", ("delete", "discard")),
        ("held", "deletions", ("delete", "delete")),
        ("alike", "changes", ("accept", "discard")),
        ("waiting", "approvals", ("approve", "approve")),
    ],
)
def test_of_two_who_decide_at_once_one_is_refused(
    request: pytest.FixtureRequest, of: str, part: str, decisions: tuple[str, str]
) -> None:
    administration: Administration = request.getfixturevalue(of)
    forms = [administration.form(part, one) for one in decisions]
    first, second = press_at_once(administration, *forms)
    assert first == 303
    assert second in {400, 409}, "the other one holds the state, or has decided"
    assert administration.press(forms[1]) == 409, "and later too"
    assert waiting_urls(administration) == []


def test_of_two_who_decide_about_one_document_the_later_is_refused(waiting: Administration, url: str) -> None:
    forms = [waiting.form("approvals", one, f"{url}/heron") for one in ("approve", "remove")]
    assert waiting.press(forms[0]) == 303
    assert waiting.press(forms[1]) == 409
    assert len(waiting_urls(waiting)) == 2


# ---- definitions, sources, schedules


DEFINITION = "/admin/sources/site/definition"
SCHEDULES = "/admin/definitions/schedules"


def lines_of(administration: Administration, path: str) -> dict[str, str]:
    """Return the fields of the form of a definition."""
    page = administration.get(path)
    lines = page.cssselect("textarea")[0].text.removeprefix("\n")
    return {"lines": lines, "revision": page.cssselect("[name=revision]")[0].get("value")}


def changed(fields: dict[str, str], old: str, new: str) -> dict[str, str]:
    assert old in fields["lines"]
    return {**fields, "lines": fields["lines"].replace(old, new)}


def test_of_two_who_save_a_definition_at_once_one_is_refused_and_sees_both(
    administration: Administration,
) -> None:
    seen = lines_of(administration, DEFINITION)
    forms = [(DEFINITION, changed(seen, "interval: 1 h", f"interval: {hours} h")) for hours in (2, 3)]
    assert press_at_once(administration, *forms) == [303, 409]
    kept = lines_of(administration, DEFINITION)["lines"]
    assert [f"interval: {hours} h" in kept for hours in (2, 3)].count(True) == 1
    late = administration.send(DEFINITION, **changed(seen, "interval: 1 h", "interval: 4 h"))
    assert late.status_code == 409
    assert "interval: 4 h" in document_fromstring(late.text).cssselect("textarea")[0].text


def test_an_undo_beside_a_save_takes_back_no_more_than_was_shown(administration: Administration) -> None:
    first = lines_of(administration, DEFINITION)
    assert administration.press((DEFINITION, changed(first, "interval: 1 h", "interval: 2 h"))) == 303
    shown = lines_of(administration, DEFINITION)
    undo = (f"{DEFINITION}/undo", {"revision": shown["revision"]})
    save = (DEFINITION, changed(shown, "interval: 2 h", "interval: 3 h"))
    assert press_at_once(administration, undo, save) == [303, 409]
    kept = lines_of(administration, DEFINITION)["lines"]
    assert "interval: 1 h" in kept or "interval: 3 h" in kept
    assert administration.press(undo) == 409, "whichever came first"


def test_of_two_presses_of_undo_one_takes_back(administration: Administration) -> None:
    for hours in (1, 2):
        fields = lines_of(administration, DEFINITION)
        new = changed(fields, f"interval: {hours} h", f"interval: {hours + 1} h")
        assert administration.press((DEFINITION, new)) == 303
    undo = (f"{DEFINITION}/undo", {"revision": lines_of(administration, DEFINITION)["revision"]})
    assert press_at_once(administration, undo, undo) == [303, 409]
    assert "interval: 2 h" in lines_of(administration, DEFINITION)["lines"]


def test_of_two_who_add_a_source_of_one_name_at_once_one_is_refused(administration: Administration) -> None:
    place = "/admin/sources/docs/definition"
    forms = [
        (place, lines_of(administration, f"{place}?start_url=http://192.0.43.{number}/")) for number in (7, 8)
    ]
    assert press_at_once(administration, *forms) == [303, 409]
    assert len(administration.project.sources["docs"].start_urls) == 1
    assert set(administration.project.sources) == {"site", "docs"}


def test_of_two_who_change_the_schedules_at_once_one_is_refused(administration: Administration) -> None:
    file = administration.workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("    refresh:\n      interval: 1 h\n", ""))
    file.write_text(f"{file.read_text()}schedules: {{night: {{sources: [site], every: 6 h}}}}\n")
    seen = lines_of(administration, SCHEDULES)
    forms = [(SCHEDULES, changed(seen, "6 h", f"{hours} h")) for hours in (7, 8)]
    assert press_at_once(administration, *forms) == [303, 409]


# ---- orders, tokens


def test_of_two_who_start_or_stop_a_source_at_once_one_is_refused(administration: Administration) -> None:
    for order in ("start", "stop"):
        form = (f"/admin/sources/site/{order}", dict[str, str]())
        assert press_at_once(administration, form, form) == [303, 409]
    assert administration.supervisor.orders == [("start", "site", ""), ("stop", "site")]


def test_of_two_who_revoke_a_token_at_once_one_is_refused(administration: Administration) -> None:
    store = TokenStore.of_project(administration.project)
    texts = [store.create_token(name, Role.READER) for name in ("portal", "other")]
    form = ("/admin/access/tokens/portal", dict[str, str]())
    assert press_at_once(administration, form, form) == [303, 400]
    assert [store.find_token(text) is None for text in texts] == [True, False]


# ---- lists that commands change


def at_once(act: Callable[[str], object], names: list[str]) -> list[bool]:
    """Return for each name whether it was taken, of threads that begin together."""
    meeting = threading.Barrier(len(names))

    def take(name: str) -> bool:
        meeting.wait(10)
        try:
            act(name)
        except UserError:
            return False
        return True

    with ThreadPoolExecutor(len(names)) as pool:
        return list(pool.map(take, names))


@pytest.mark.parametrize("kind", ["users", "tokens"])
def test_many_who_are_added_at_once_are_all_kept_and_one_of_each_name(tmp_path: Path, kind: str) -> None:
    """Each with a store of its own, as processes have."""

    def add(name: str) -> None:
        if kind == "users":
            UserStore(tmp_path / "users.json").add_user(name, Role.READER, PASSWORD)
        else:
            TokenStore(tmp_path / "tokens.json").create_token(name, Role.READER)

    names = [f"name{number}" for number in range(6)]
    added = at_once(add, [*names, "name0", "name0"])
    assert added.count(True) == len(names)
    if kind == "users":
        assert [one.name for one in UserStore(tmp_path / "users.json").all_users()] == names
    else:
        assert [one.name for one in TokenStore(tmp_path / "tokens.json").all_tokens()] == names
