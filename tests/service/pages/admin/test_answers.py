"""What a person clicks is answered: one sentence says what was done, and the page shows what is to come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from lxml.html import HtmlElement, document_fromstring
from service.pages.admin.conftest import Administration, texts
from support.clock import wall_time
from support.in_process import InProcessWorkspace

from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.orders import SourcePhase, SourceState
from ultracrawl.stores import control_channel

SOURCE = "/admin/sources/site"


def after(administration: Administration, path: str, **fields: str) -> HtmlElement:
    """Send a form, and return the page to which it leads, which has exactly one answer for screen readers."""
    answer = administration.send(path, **fields)
    assert answer.status_code == 303, answer.text
    page = administration.get(answer.headers["location"])
    (said,) = page.cssselect(".done[role=status][autofocus]")
    assert said.text_content().strip()
    return page


def said(page: HtmlElement) -> str:
    (sentence,) = texts(page, ".done")
    return sentence


def page_of(url: str, **more: str) -> str:
    return f"{SOURCE}/url?{urlencode({'url': url, **more})}"


def buttons(page: HtmlElement) -> set[str]:
    """Return the orders that a page has for its URL."""
    forms = page.cssselect(".head form")
    return {
        "restore" if one.cssselect("[name=restore]") else one.get("action").rpartition("/")[2]
        for one in forms
    }


def test_a_page_that_is_fetched_again_waits_and_says_when(
    administration: Administration, workspace: InProcessWorkspace, url: str
) -> None:
    assert not administration.get(page_of(f"{url}/heron")).cssselect(".next-visit")
    administration.supervisor.known["site"] = SourceState("site", next_run=wall_time() + 9000)
    page = after(administration, f"{SOURCE}/submit", url=f"{url}/heron", again="1")
    assert page.cssselect(".done time[datetime]"), "when the crawl begins"
    assert page.cssselect(".next-visit time[datetime]")
    assert buttons(page) == {"remove"}, "it is ordered already"
    later = administration.get(page_of(f"{url}/heron"))
    assert later.cssselect(".next-visit"), "the state stays when the answer is gone"
    assert not later.cssselect(".done")
    workspace.crawl()
    fetched = administration.get(page_of(f"{url}/heron", done="submit"))
    assert not fetched.cssselect(".next-visit")
    assert buttons(fetched) == {"submit", "remove"}


def test_the_answer_says_what_the_source_does(administration: Administration, url: str) -> None:
    known, now = administration.supervisor.known, wall_time()
    states = (
        SourceState("site"),
        SourceState("site", next_run=now + 9000),
        SourceState("site", next_run=now - 9),
        SourceState("site", paused_by_hand=True),
    )
    sentences = set()
    for known["site"] in states:
        sentences.add(said(after(administration, f"{SOURCE}/submit", url=f"{url}/heron", again="1")))
    assert len(sentences) == len(states)
    known["site"] = SourceState("site")
    links = administration.get(page_of(f"{url}/heron", done="submit")).cssselect(".done a")
    assert [one.get("href") for one in links] == [SOURCE], "where it is started"


def begins(page: HtmlElement) -> list[str]:
    """Return where the buttons stand that start the crawl which fetches the URL."""
    forms = page.cssselect(f"form[action='{SOURCE}/start']")
    return ["done" if "done" in [up.get("class") for up in one.iterancestors()] else "state" for one in forms]


def test_the_crawl_that_fetches_a_page_is_started_beside_the_sentence(
    administration: Administration, url: str
) -> None:
    known = administration.supervisor.known
    known["site"] = SourceState("site", next_run=wall_time() + 9000)
    assert begins(administration.get(page_of(f"{url}/heron"))) == [], "nothing waits"
    for path, order in (("submit", {"again": "1"}), ("remove", {}), ("remove", {"restore": "1"})):
        page = after(administration, f"{SOURCE}/{path}", url=f"{url}/heron", **order)
        assert begins(page) == ([] if path == "remove" and not order else ["done"])
    assert begins(after(administration, f"{SOURCE}/submit", url=f"{url}/new")) == ["done"]
    assert begins(administration.get(page_of(f"{url}/heron"), Role.EDITOR)) == ["state"]
    for known["site"] in (
        SourceState("site", SourcePhase.RUNNING),
        SourceState("site", SourcePhase.QUEUED),
        SourceState("site", paused_by_hand=True),
    ):
        assert begins(administration.get(page_of(f"{url}/heron", done="submit"))) == []
    known["site"] = SourceState("site")
    started = after(administration, f"{SOURCE}/start")
    assert administration.supervisor.orders == [("start", "site", "")]
    assert started.cssselect("h1 b")[0].text_content() == "site"


def test_a_new_page_is_submitted(administration: Administration, url: str) -> None:
    page = after(administration, f"{SOURCE}/submit", url=f"{url}/new")
    assert page.cssselect(".next-visit")
    assert buttons(page) == {"remove"}


def test_a_removed_page_says_so_until_it_may_be_crawled_again(
    administration: Administration, url: str
) -> None:
    page = after(administration, f"{SOURCE}/remove", url=f"{url}/heron")
    assert page.cssselect(".next-visit")
    assert buttons(page) == {"restore"}
    back = after(administration, f"{SOURCE}/remove", url=f"{url}/heron", restore="1")
    assert said(back) != said(page)
    assert buttons(back) == {"remove"}
    assert not back.cssselect(".chain .decides"), "its former answer excludes nothing"
    stale = administration.get(page_of(f"{url}/heron", done="remove"))
    assert not stale.cssselect(".done"), "nothing is said that is not so"


@pytest.fixture
def crawling(administration: Administration, monkeypatch: pytest.MonkeyPatch) -> Administration:
    """A source that is being crawled by another process."""
    status = control_channel.CrawlStatus("2", 1)
    for place in (
        "service.approval",
        "run.inspection.submission",
        "run.inspection.url_life",
    ):
        monkeypatch.setattr(f"ultracrawl.{place}.crawl_status", lambda _notes: status)
    return administration


def test_a_running_crawl_carries_it_out(crawling: Administration, url: str) -> None:
    again = after(crawling, f"{SOURCE}/submit", url=f"{url}/heron", again="1")
    assert again.cssselect(".next-visit")
    gone = after(crawling, f"{SOURCE}/remove", url=f"{url}/heron", next="/?q=heron")
    assert gone.cssselect(".next-visit")
    assert buttons(gone) == set(), "removed as soon as the crawl has read it"
    assert said(gone) != said(again)
    new = after(crawling, f"{SOURCE}/submit", url=f"{url}/new")
    assert buttons(new) == set()


def test_a_page_removed_at_its_hit_is_named_and_can_be_let_back(
    administration: Administration, url: str
) -> None:
    page = after(administration, f"{SOURCE}/remove", url=f"{url}/heron", next="/?q=grey+heron")
    assert f"{url}/heron" in said(page)
    (form,) = page.cssselect(".done form")
    fields = {one.get("name"): one.get("value") for one in form.cssselect("[name]")}
    del fields["csrf_token"]
    address = f"/?{urlencode({'q': 'grey heron', 'removed': f'{url}/heron', 'removed_from': 'site'})}"
    assert administration.get(address, Role.EDITOR).cssselect(".done")
    assert not administration.get(address, Role.READER).cssselect(".done")
    assert "restore" not in buttons(after(administration, form.get("action"), **fields))
    assert not administration.get(address).cssselect(".done"), "it is not removed any more"
    for made_up in ({"removed": "<b>x"}, {"removed": f"{url}/egret", "removed_from": "site"}):
        assert not administration.get(f"/?{urlencode({'q': 'heron', **made_up})}").cssselect(".done")


def test_a_run_that_is_due_is_no_run_of_the_past(administration: Administration) -> None:
    known = administration.supervisor.known
    shown = []
    for seconds in (9000, -9):
        known["site"] = SourceState("site", next_run=wall_time() + seconds)
        rows = administration.get("/admin").cssselect("tbody td:last-child")
        facts = administration.get(SOURCE).cssselect(".figures > div:last-child dd")
        shown.append([len(one.cssselect("time")) for one in (*rows, *facts)])
    assert shown == [[1, 1], [0, 0]]


@pytest.mark.parametrize("order", ["start", "stop", "pause", "resume"])
def test_orders_for_a_source_are_answered(administration: Administration, order: str) -> None:
    known = administration.supervisor.known
    known["site"] = replace(known["site"], phase=SourcePhase.RUNNING if order == "stop" else SourcePhase.IDLE)
    answer = administration.send(f"{SOURCE}/{order}")
    if order == "pause":
        known["site"] = replace(known["site"], paused_by_hand=True)
    assert administration.get(answer.headers["location"]).cssselect(".done[role=status]")
    known["site"] = replace(
        known["site"],
        phase=SourcePhase.RUNNING if order == "stop" else SourcePhase.IDLE,
        paused_by_hand=order == "resume",
    )
    assert not administration.get(answer.headers["location"]).cssselect(".done"), "it has ended since"


def test_other_orders_are_answered(administration: Administration) -> None:
    TokenStore.of_project(administration.project).create_token("old", Role.READER)
    after(administration, "/admin/access/tokens/old")
    definition = administration.get(f"{SOURCE}/definition")
    lines: Any = definition.cssselect("textarea")[0].text
    revision = definition.cssselect("[name=revision]")[0].get("value")
    saved = after(
        administration,
        f"{SOURCE}/definition",
        lines=f"{lines.rstrip()}\n    exclude: [/heron]",
        revision=revision,
    )
    (undo,) = saved.cssselect("form[action$='/undo']")
    fields = {one.get("name"): one.get("value") for one in undo.cssselect("[name]")}
    del fields["csrf_token"]
    assert said(after(administration, undo.get("action"), **fields)) != said(saved)


def test_a_link_cannot_put_words_into_an_answer(administration: Administration) -> None:
    for path in ("/admin", "/admin/approvals", SOURCE, "/admin/schedules", "/admin/access"):
        text = administration.browser().get(f"{path}?done=%3Cb%3Ehello").text
        assert not document_fromstring(text).cssselect(".done[role]")
        assert "hello" not in document_fromstring(text).cssselect("#main")[0].text_content()


def test_a_chosen_language_stays_on_the_way_through_the_administration(
    administration: Administration, url: str
) -> None:
    at_url = f"{page_of(f'{url}/heron')}&more=1"
    for path in ("/admin?", f"{SOURCE}?", f"{SOURCE}/urls?", at_url, "/admin/schedules?", "/admin/approvals?",
                 "/admin/definitions?", f"{SOURCE}/definition?", "/admin/definitions/new?", "/admin/access?",
                 "/admin/audit?", "/admin/queries?", "/?q=heron"):  # fmt: skip
        page = administration.get(f"{path}&language=de")
        assert page.get("lang") == "de"
        leads = [one.get("href") for one in page.cssselect("a[href^='/admin']:not([hreflang])")]
        leads += [one.get("action") for one in page.cssselect("form[method=post][action^='/admin']")]
        assert [one for one in leads if "language=de" not in one] == []
        asking = page.cssselect("form[action^='/admin']:not([method=post])")
        assert all(one.cssselect("[name=language][value=de]") for one in asking)
    answer = administration.send(f"{SOURCE}/submit?language=de", url=f"{url}/heron", again="1")
    assert administration.get(answer.headers["location"]).get("lang") == "de"
    unknown = administration.get("/admin?language=xx").cssselect("main a")
    assert not [one for one in unknown if "language" in one.get("href")]
