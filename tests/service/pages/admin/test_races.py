"""Two who do the same at once, or later than they looked: each learns what became of it, and nobody decides unseen."""

from __future__ import annotations

import pytest
from service.pages.admin.conftest import Administration, Form
from service.pages.admin.test_decisions import alike, held, waiting
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

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
    site.page("/story7", title="Members", text="This page is for members, please pay here /story7")
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
