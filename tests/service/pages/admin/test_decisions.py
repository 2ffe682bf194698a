"""Approvals and held changes: what waits, previews, decisions, who may decide, and that nobody decides unseen."""

from __future__ import annotations

import pytest
from lxml.html import document_fromstring
from service.access.conftest import Browser
from service.pages.admin.conftest import PASSWORD, Administration, led_to, texts
from support.crawled import CrawledProjects
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

from ultracrawl.service.access.requester import Role

PAGE = "/admin/approvals"


@pytest.fixture
def waiting(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Administration:
    """Three documents that wait for approval."""
    workspace.define(f"{url}/", crawling_mode="examine", refresh={"interval": "1 h"})
    crawled_projects.crawl(workspace, site)
    return Administration(workspace)


@pytest.fixture
def held(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Administration:
    """Documents whose deletion is held back."""
    workspace.define(f"{url}/", deletion={"percent": 10, "always": 0}, refresh={"interval": "1 h"})
    crawled_projects.crawl(workspace, site)
    site.gone("/egret")
    crawled_projects.crawl(workspace, site, code=1)
    return Administration(workspace)


def test_a_document_is_approved_after_a_look_at_its_text(waiting: Administration, url: str) -> None:
    page = waiting.get("/admin")
    (link,) = page.cssselect(".need.approvals .foot a")
    assert "Review 3" in link.text_content()
    listed = waiting.get(link.get("href"))
    assert len(listed.cssselect(".documents li")) == 3
    assert "the grey heron stands in the water" in " ".join(texts(listed, ".preview"))
    all_three = waiting.form("approvals", "approve")
    path, fields = waiting.form("approvals", "approve", f"{url}/heron")
    answer = waiting.send(path, Role.EDITOR, **fields)
    assert (answer.status_code, led_to(answer)) == (303, PAGE)
    assert len(waiting.get(PAGE).cssselect(".documents li")) == 2
    assert waiting.press(all_three) == 409, "two wait, and not three"
    assert waiting.press(waiting.form("approvals", "approve")) == 303
    assert not waiting.get(PAGE).cssselect(".documents li")


def test_who_finds_documents_of_other_sources_alone_reads_none_here(waiting: Administration) -> None:
    waiting.users.add_user("lee", Role.EDITOR, PASSWORD, (), ("other",))
    browser = Browser(waiting)  # type: ignore[arg-type] # it asks for the application only
    browser.log_in("lee")
    listed = document_fromstring(browser.get(PAGE).text)
    assert len(listed.cssselect(".documents li")) == 3
    assert not listed.cssselect(".preview")


def test_documents_are_chosen_by_their_boxes(waiting: Administration, url: str) -> None:
    (form,) = [one for one in waiting.get(PAGE).cssselect("form") if one.cssselect(".documents")]
    path, boxes = form.get("action"), [one.get("value") for one in form.cssselect("[type=checkbox]")]
    assert len(boxes) == 3
    assert waiting.press((path, {"decision": "approve"})) == 400, "nothing is chosen, which does not mean all"
    stale = f"0{boxes[0][1:]}" if boxes[0][0] != "0" else f"1{boxes[0][1:]}"
    refused = waiting.send(path, decision="approve", document=[stale, boxes[1]])
    assert refused.status_code == 409
    shown = document_fromstring(refused.text)
    assert shown.cssselect("[role=alert]")
    assert [one.get("value") for one in shown.cssselect("[type=checkbox]")] == boxes, "the list as it is now"
    assert [one.get("value") for one in shown.cssselect("[checked]")] == [boxes[1]], (
        "what is as it was stays marked"
    )
    assert len(waiting.get(PAGE).cssselect(".documents li")) == 3
    assert waiting.send_many(path, decision="approve", document=boxes[:2]) == 303
    assert waiting.send_many(path, decision="remove", document=boxes[2:]) == 303
    assert not waiting.get(PAGE).cssselect(".documents li")
    assert len(waiting.get("/?q=heron OR egret OR birds").cssselect(".hit")) == 2


def test_many_documents_are_approved_by_their_folders(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> None:
    names = ["/guide/a", "/guide/b", "/guide/deep/c", "/news/a", "/news/b"]
    site.page("/", title="Home", text="home", links=names)
    for name in names:
        site.page(name, title=name, text=f"text of {name}")
    workspace.define(f"{url}/", crawling_mode="examine")
    crawled_projects.crawl(workspace, site)
    waiting = Administration(workspace)
    page = waiting.get(PAGE)
    groups = page.cssselect(".group")
    assert [one.cssselect("h4")[0].text for one in groups] == [f"{url}/", f"{url}/guide/", f"{url}/news/"]
    (form,) = page.cssselect(f"form#{groups[1].cssselect('button')[0].get('form')}")
    documents = [one.get("value") for one in form.cssselect("[name=document]")]
    path = form.get("action")
    assert waiting.send_many(path, decision="approve", document=documents) == 303
    left = texts(waiting.get(PAGE), ".documents .address")
    assert sorted(left) == [f"{url}/", f"{url}/news/a", f"{url}/news/b"]


def test_many_documents_are_listed_in_parts_and_a_decision_leads_back_to_its_part(
    waiting: Administration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ultracrawl.service.pages.admin.approvals.waiting.SHOWN", 2)
    first = waiting.get(PAGE)
    (link,) = [one.get("href") for one in first.cssselect("a[rel=next]")]
    last = waiting.get(link)
    assert len(texts(first, ".documents .address")) == 2
    assert not set(texts(first, ".documents .address")) & set(texts(last, ".documents .address"))
    assert not last.cssselect("a[rel=next]")
    assert texts(waiting.get(f"{PAGE}?source=site&page=9"), ".documents .address") == texts(
        last, ".documents .address"
    )
    (form,) = [one for one in last.cssselect("form") if one.cssselect(".documents")]
    (box,) = [one.get("value") for one in form.cssselect("[type=checkbox]")]
    assert waiting.press((form.get("action"), {"decision": "approve"})) == 400
    answer = waiting.send(form.get("action"), decision="approve", document=box)
    assert (answer.status_code, led_to(answer)) == (303, link)
    assert len(texts(waiting.get(link), ".documents .address")) == 2, "the part before, which is the last now"
    assert waiting.press(waiting.form("approvals", "approve")) == 303, "all, listed or not"
    assert not waiting.get(PAGE).cssselect(".documents li")


def test_a_page_is_removed_at_its_hit_and_crawled_again_if_wanted(
    administration: Administration, workspace: InProcessWorkspace, url: str
) -> None:
    query = "/?q=grey+heron"
    assert not administration.get(query, Role.READER).cssselect("form[action$='/remove']")
    (form,) = administration.get(query, Role.EDITOR).cssselect(".hit form[action$='/remove']")
    fields = {one.get("name"): one.get("value") for one in form.cssselect("[name]")}
    del fields["csrf_token"]
    assert administration.send(form.get("action"), Role.READER, **fields).status_code == 403
    answer = administration.send(form.get("action"), Role.EDITOR, **fields)
    assert (answer.status_code, led_to(answer)) == (303, query)
    assert not administration.get(query).cssselect(".hit h3 a[href$='/heron']")
    workspace.crawl("--force")
    assert not administration.get(query).cssselect(".hit h3 a[href$='/heron']"), "no crawl brings it back"
    page = administration.get(f"/admin/sources/site/url?url={url}/heron")
    (back,) = [one for one in page.cssselect("form[action$='/remove']") if one.cssselect("[name=restore]")]
    assert administration.press((back.get("action"), {"url": f"{url}/heron", "restore": "1"})) == 303
    workspace.crawl()
    assert administration.get(query).cssselect(".hit h3 a[href$='/heron']")


@pytest.fixture
def alike(
    workspace: InProcessWorkspace, site: NetworkSite, url: str, crawled_projects: CrawledProjects
) -> Administration:
    """Thirty documents of which a new version is held back, because all became alike."""
    names = [f"/story{number}" for number in range(30)]
    site.page("/", title="Home", text="home", links=names)
    for number, name in enumerate(names):
        words = " ".join(f"word{number}x{place}" for place in range(60))
        site.page(name, title=f"Story {number}", text=f"{words} needle")
    workspace.define(f"{url}/", refresh={"interval": "1 h"})
    crawled_projects.crawl(workspace, site)
    for name in names:
        site.page(name, title="Members", text=f"This page is for members, please log in {name}")
    crawled_projects.crawl(workspace, site, code=1)
    return Administration(workspace)


def test_held_changes_are_shown_with_their_new_text(alike: Administration) -> None:
    page = alike.get(PAGE)
    assert len(page.cssselect(".documents li")) == 30
    assert all("please log in" in text for text in texts(page, ".preview"))
    path, fields = alike.form("changes", "accept")
    assert alike.press((path, {**fields, "revision": "x"})) == 409
    assert alike.press((path, {**fields, "revision": ""})) == 409
    assert alike.press(alike.form("changes", "discard")) == 303
    assert not alike.get(PAGE).cssselect(".documents li")
    assert not alike.get("/admin").cssselect(".need.changes")


@pytest.mark.parametrize("decision", ["delete", "discard"])
def test_the_problem_of_a_guard_is_over_when_a_person_has_decided(
    held: Administration, decision: str
) -> None:
    assert held.get("/admin").cssselect(".need.failed")
    assert held.press(held.form("deletions", decision)) == 303
    assert not held.get("/admin").cssselect(".need")


def test_held_deletions_are_kept_or_carried_out(held: Administration) -> None:
    assert held.get("/admin").cssselect(".need.deletions")
    page = held.get(f"{PAGE}?source=site")
    assert page.cssselect(".documents li")
    (form,) = [one for one in page.cssselect("details form") if "/deletions" in one.get("action")]
    assert form.cssselect("[name=decision]")[0].get("value") == "delete", "a second press is needed"
    path, fields = held.form("deletions", "delete")
    assert held.press((path, {**fields, "revision": "x"})) == 409
    assert held.press((path, {**fields, "decision": "nonsense"})) == 400
    assert held.press((path, fields)) == 303
    assert not held.get(PAGE).cssselect(".documents li")


@pytest.mark.parametrize("part", ["approvals", "deletions", "changes"])
def test_a_decision_needs_a_session_a_role_and_a_token(waiting: Administration, part: str) -> None:
    path = f"/admin/sources/site/{part}"
    fields = waiting.form("approvals", "approve")[1]
    assert waiting.send(path, None, **fields).status_code == 303
    assert waiting.send(path, Role.READER, **fields).status_code == 403
    assert waiting.browser(Role.EDITOR).ask("POST", path, data=fields).status_code == 403
    assert len(waiting.get(PAGE).cssselect(".documents li")) == 3


def test_the_page_needs_an_editor_and_a_source_that_exists(waiting: Administration) -> None:
    assert waiting.status(PAGE, None) == 303
    assert waiting.status(PAGE, Role.READER) == 403
    assert waiting.status(f"{PAGE}?source=nothing") == 404
    assert "Approvals" not in texts(waiting.get("/admin", Role.READER), ".sections a")
