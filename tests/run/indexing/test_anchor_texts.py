"""What links to a document are called counts for it: in a first crawl, when pages change, when they go."""

from __future__ import annotations

import json
from array import array
from contextlib import closing
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from support.crawled import CrawledProjects
from support.project import LOOPBACK, Workspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.index import NewAnchors
from ultracrawl.index.project_index import open_index
from ultracrawl.model.page import Link, LinkKind
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.indexing import link_texts
from ultracrawl.run.indexing.anchors import AnchorTexts
from ultracrawl.service import repair
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores import Retained
from ultracrawl.stores.project_stores import open_state

ENGINES = ["whoosh", "tantivy"]


def linking(site: Site, path: str, links: dict[str, str], *, text: str = "", attributes: str = "") -> None:
    """Put a page whose links have these texts; its own text does not hold them a second time."""
    anchors = "".join(f'<a href="{target}"{attributes}>{said}</a>' for target, said in links.items())
    html = f"<html lang=en><title>Page {path}</title><body><p>{text}</p><nav role=navigation>{anchors}</nav>"
    site.file(path, html.encode(), "text/html; charset=utf-8")


def define(workspace: Workspace, url: str, engine: str = "whoosh", **index: object) -> None:
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    source["limits"] = {"retry_delay": 0.05}
    workspace.write(
        {"index": {"path": "index", "engine": engine, **index}, "sources": {"site": source}},
    )


def anchors(workspace: Workspace) -> dict[str, list[str]]:
    rows = map(json.loads, workspace.command("index", "dump").out.splitlines())
    return {"/" + row["url"].split("/", 3)[3]: row["anchors"] for row in rows}


def parts(workspace: Workspace) -> dict[str, list[list[str]]]:
    rows = map(json.loads, workspace.command("index", "dump").out.splitlines())
    return {"/" + row["url"].split("/", 3)[3]: row.get("section_anchors", []) for row in rows}


@pytest.fixture
def crawled(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    linking(site, "/", {"/a": "Grey herons", "/b": "Egrets"})
    linking(site, "/a", {"/b": "little egrets", "/": "up"}, text="wading birds of prey")
    linking(site, "/b", {"/a": "Ardea cinerea", "/c": "bitterns"}, text="heron heron and others")
    linking(site, "/c", {"/a": "grey HERONS"}, text="bittern")
    define(workspace, url)
    crawled_projects.crawl(workspace, site)
    return site


@pytest.mark.parametrize("engine", ENGINES)
def test_words_of_links_find_their_target_and_count_more_than_text(
    site: Site, url: str, workspace: Workspace, engine: str
) -> None:
    linking(site, "/", {"/a": "Grey herons", "/b": "Egrets"})
    linking(site, "/a", {"/b": "little egrets"}, text="wading birds")
    linking(site, "/b", {"/a": "Ardea cinerea"}, text="a heron stands among others here")
    define(workspace, url, engine)
    workspace.crawl()
    assert workspace.search("heron") == ["/a", "/b"], "in another form, in links to /a; in the text of /b"
    assert workspace.search('"grey herons"') == ["/a"]
    assert workspace.search("ardea") == ["/a"], "said by a page that came after /a"
    assert workspace.search('"herons ardea"') == [], "no phrase goes from one link to the next"
    assert anchors(workspace) == {
        "/": [],
        "/a": ["ardea cinerea", "grey herons"],
        "/b": ["egrets", "little egrets"],
    }


def test_equal_texts_count_once_and_texts_that_say_nothing_never(crawled: Site, workspace: Workspace) -> None:
    assert anchors(workspace)["/a"] == ["ardea cinerea", "grey herons"]
    assert anchors(workspace)["/"] == ["up"]


def test_an_unchanged_page_goes_on_saying_what_it_said(crawled: Site, workspace: Workspace) -> None:
    before = anchors(workspace)
    crawled.change(
        "/a", body=b"<html lang=en><title>A</title><p>new words<a href=/b>little egrets</a><a href=/>up</a>"
    )
    run = workspace.crawl().run
    assert run["outcomes"]["MODIFIED"] == 1
    assert run["outcomes"]["NOT_MODIFIED"] == 3
    assert anchors(workspace) == before
    assert workspace.search("ardea") == ["/a"], "the document came anew, its links elsewhere were not read"


def test_a_changed_link_changes_a_document_that_is_not_fetched_again(
    crawled: Site, workspace: Workspace
) -> None:
    linking(crawled, "/b", {"/a": "Fishers", "/c": "bitterns"}, text="heron heron and others")
    run = workspace.crawl().run
    assert (run["outcomes"]["MODIFIED"], run["indexed"]) == (1, 1)
    assert anchors(workspace)["/a"] == ["fishers", "grey herons"]
    assert workspace.search("ardea") == []
    assert workspace.search("fishers") == ["/a"]
    assert workspace.search("prey") == ["/a"], "the rest of the document is as it was"
    assert workspace.urls()["/a"]["indexed"]
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    with closing(open_state(project, "site", read_only=True)) as state:
        assert state.links.documents_due(None, 10) == [], "all texts have arrived"


def test_a_text_goes_with_the_last_page_that_had_it(crawled: Site, workspace: Workspace) -> None:
    linking(crawled, "/", {"/a": "birds", "/b": "Egrets"})
    workspace.crawl()
    assert anchors(workspace)["/a"] == ["ardea cinerea", "birds", "grey herons"], "/c has it still"
    linking(crawled, "/b", {"/a": "Ardea cinerea"}, text="heron heron and others")
    crawled.remove("/c")
    workspace.crawl()
    assert workspace.indexed() == ["/", "/a", "/b"]
    assert anchors(workspace)["/a"] == ["ardea cinerea", "birds"]
    assert workspace.search('"grey herons"') == []


def test_a_page_that_fails_goes_on_saying_what_it_said(crawled: Site, workspace: Workspace) -> None:
    before = anchors(workspace)
    crawled.respond("/b", status=500)
    workspace.crawl(code=None)
    assert anchors(workspace) == before


def test_links_to_a_url_that_redirects_speak_of_its_target(
    site: Site, url: str, workspace: Workspace
) -> None:
    linking(site, "/", {"/old": "Spoonbills"})
    site.redirect("/old", "/new")
    site.page("/new", title="N", text="a bird")
    define(workspace, url)
    workspace.crawl()
    assert len(workspace.search("spoonbill")) == 1


@pytest.mark.parametrize(
    ("said", "attributes"),
    [("next", ""), ("Heron", " rel=nofollow"), ("→", ""), ("https://example.com/heron", "")],
    ids=["leads to everything", "nofollow", "no letter", "an address"],
)
def test_links_that_say_nothing(
    site: Site, url: str, workspace: Workspace, said: str, attributes: str
) -> None:
    pages = [f"/p{number}" for number in range(15)]
    linking(site, "/", dict.fromkeys(pages, said), attributes=attributes)
    linking(site, "/p0", {path: f"Chapter {path[2:]}" for path in pages})
    for path in pages[1:]:
        linking(site, path, {})
    if attributes:
        linking(site, "/", dict.fromkeys(pages[1:], said), attributes=attributes)
        linking(site, "/", {**dict.fromkeys(pages[1:], said)}, attributes=attributes)
        site.sitemap("/sitemap.xml", pages)
    define(workspace, url)
    workspace.crawl()
    found = anchors(workspace)
    assert sorted(found) == sorted(["/", *pages])
    assert found["/p14"] == ["chapter 14"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_link_to_a_part_of_a_page_speaks_of_that_part(
    site: Site, url: str, workspace: Workspace, engine: str
) -> None:
    linking(site, "/", {"/a#eggs": "Eggs of herons", "/a": "Herons", "/b": "Bitterns"})
    linking(site, "/a", {"/a": "myself", "/a#young": "below", "#old": "above"})
    linking(site, "/b", {"/a#eggs": "clutches", "/a#young:~:text=fed": "Chicks"})
    define(workspace, url, engine)
    workspace.crawl()
    assert anchors(workspace)["/a"] == ["herons"]
    assert parts(workspace)["/a"] == [["eggs", "clutches"], ["eggs", "eggs of herons"], ["young", "chicks"]]
    assert workspace.search("clutch") == ["/a"], "said by a page that came after /a"
    linking(site, "/b", {"/a#eggs": "nests"})
    run = workspace.crawl().run
    assert run["outcomes"]["MODIFIED"] == 1
    assert parts(workspace)["/a"] == [["eggs", "eggs of herons"], ["eggs", "nests"]]
    assert workspace.search("clutch") == []


@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
def test_index_anchors_switches_them(site: Site, url: str, workspace: Workspace, on: bool) -> None:
    linking(site, "/", {"/a": "Herons"})
    linking(site, "/a", {})
    define(workspace, url, anchors=on)
    workspace.crawl()
    assert anchors(workspace)["/a"] == (["herons"] if on else [])


def test_documents_that_wait_for_approval_have_theirs(site: Site, url: str, workspace: Workspace) -> None:
    linking(site, "/", {"/a": "Herons", "/b": "Egrets"})
    linking(site, "/a", {})
    linking(site, "/b", {"/a": "Ardea"})
    define(workspace, url)
    definition = workspace.directory / "ultracrawl.yaml"
    definition.write_text(definition.read_text() + "    crawling_mode: examine\n")
    workspace.crawl()
    assert workspace.indexed() == []
    workspace.command("approve", "site")
    assert workspace.search("herons") == ["/a"]
    workspace.crawl()
    assert workspace.search("ardea") == ["/a"]


def test_documents_made_again_from_the_store_keep_them(site: Site, url: str, workspace: Workspace) -> None:
    linking(site, "/", {"/a": "Herons"})
    linking(site, "/a", {"/": "Home of birds"}, text="x")
    define(workspace, url)
    definition = workspace.directory / "ultracrawl.yaml"
    definition.write_text(definition.read_text() + "    storage: {keep: true}\n")
    workspace.crawl()
    before = anchors(workspace)
    assert workspace.command("reindex").code == 0
    assert anchors(workspace) == before == {"/": ["home of birds"], "/a": ["herons"]}


@pytest.mark.parametrize(
    ("href", "text", "looked_at"),
    [
        ("/a", "grey herons", 1),
        ("/a#part", "grey herons", 1),
        ("/a", "grey herons wade " * 100, 2),
        (f"/a#{'part' * 1000}", "grey herons", 2),
    ],
    ids=["text", "part", "long-text", "long-name"],
)
def test_links_are_remembered_unless_they_are_as_long_as_pages(href: str, text: str, looked_at: int) -> None:
    noted: list[str] = []

    def note(target: int, text: str, fragment: str) -> int:
        noted.append(text)
        return 7

    context: Any = SimpleNamespace(store=SimpleNamespace(links=SimpleNamespace(note_anchor=note)))
    visit: Any = SimpleNamespace(url="http://h.test/", entry=SimpleNamespace(key=1))
    texts, target = AnchorTexts(context), "http://h.test/a"
    for _ in range(2):
        links = [Link(href, LinkKind.A, text)]
        texts.links_resolved(visit, {href: target}, array("q", [url_key(target)]), links)
    assert len(noted) == looked_at


@pytest.mark.parametrize("engine", ENGINES)
def test_texts_that_an_index_has_otherwise_are_found_and_sent_again(
    crawled: Site, url: str, workspace: Workspace, engine: str
) -> None:
    define(workspace, url, engine)
    workspace.crawl()
    before = anchors(workspace)
    assert workspace.command("index", "check", "--json").json == {"sound": True, "wrong": []}
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    with closing(open_index(project)) as index:
        index.apply([NewAnchors("site", f"{url}/a", ("of yesterday",)), NewAnchors("site", f"{url}/b", ())])
    checked = workspace.command("index", "check", "--json")
    assert (checked.code, checked.json["sound"], len(checked.json["wrong"])) == (1, False, 1)
    with (
        mock.patch.object(link_texts, "PAGE", 1),
        mock.patch.object(repair, "state_to_read", wraps=repair.state_to_read) as opened,
    ):
        assert len(repair.documents_with_other_texts(project, "default")["site"]) == 2
    assert opened.call_count == 2, "to see whether the source is at rest, and for all documents"
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 4}
    assert anchors(workspace) != before, "no run would find them by itself"
    assert workspace.command("index", "rebuild").code == 0
    assert workspace.command("index", "check").code == 0, "the next run sends what is due"
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 4}
    assert anchors(workspace) == before
    assert workspace.command("index", "check").code == 0


def retained(workspace: Workspace, purpose: Retained) -> list[int]:
    project = require(read_definitions(workspace.directory / "ultracrawl.yaml"))
    with closing(open_state(project, "site", read_only=True)) as state:
        return list(state.documents.retained_keys(purpose))


@pytest.mark.processes
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("named", [False, True])
def test_a_page_whose_new_version_waited_when_its_run_was_killed_says_what_it_says_now(
    crawled: Site, url: str, workspace: Workspace, engine: str, named: bool
) -> None:
    if engine != ENGINES[0]:
        define(workspace, url, engine)
        workspace.crawl()
    if named:  # it waits for the page that it names, else for others that became like it
        put_unlike(crawled, "/b", '<link rel="canonical" href="/c">')
    else:
        put_unlike(crawled, "/b")
    held = crawled.hold("/c")
    process = workspace.start("crawl")
    until(lambda: retained(workspace, Retained.DEFERRED), process)
    kill_group(process)
    held.set()
    for _ in range(2):
        workspace.crawl()
    assert not retained(workspace, Retained.DEFERRED)
    assert anchors(workspace)["/a"] == ["fishers", "grey herons"]
    assert workspace.crawl().run["outcomes"]["NOT_MODIFIED"] == 4, "nothing is left to be read again"
    assert anchors(workspace)["/a"] == ["fishers", "grey herons"]


def put_unlike(site: Site, path: str, head: str = "") -> None:
    """Put a page that has nothing of the former one but its language."""
    links = "".join(
        f'<a href="{target}">{said}</a>' for target, said in (("/a", "Fishers"), ("/c", "bitterns"))
    )
    html = f"<html lang=en><title>Cliffs</title>{head}<body><p>gulls and terns</p><nav role=navigation>{links}</nav>"
    site.file(path, html.encode(), "text/html; charset=utf-8")


def test_a_page_whose_new_version_was_held_back_says_what_it_says_when_that_is_accepted(
    site: Site, url: str, workspace: Workspace
) -> None:
    pages = [f"/p{number}" for number in range(20)]
    linking(site, "/", {page: f"way to {page[2:]}" for page in pages}, text="home")
    for number, page in enumerate(pages):
        linking(
            site,
            page,
            {"/": f"from {chr(97 + number)}"},
            text=f"tale of heron {chr(97 + number) * 5} {number}",
        )
    define(workspace, url)
    workspace.crawl()
    for page in pages:
        put_unlike(site, page)
    workspace.crawl(code=1)
    assert "from a" in anchors(workspace)["/"], "what is held back says nothing yet"
    workspace.command("approve-changes", "site")
    workspace.crawl(code=None)
    assert anchors(workspace)["/"] == []
