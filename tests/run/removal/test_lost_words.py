"""Sites whose pages lose their words: walls of random text, empty pages, walls that spread, and what is none."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
import yaml
from support.crawled import CrawledProjects
from support.free_port import free_port
from support.project import Workspace
from support.site import Site

from ultracrawl.model import UrlOutcome, UrlRecord

NUMBER = 30
NAMES = [f"/p{number}" for number in range(NUMBER)]
FRAME = "Home Products Services About Contact Imprint"

Page = dict[str, Any]
"""What `Site.page` takes."""


def words(seed: object, number: int) -> str:
    """Return random words of a large vocabulary."""
    chosen = random.Random(str(seed))
    return " ".join("".join(chosen.choices("abcdefghijklmnoprstuvw", k=7)) for _ in range(number))


def links_of(number: int) -> list[str]:
    return [NAMES[other % NUMBER] for other in (2 * number + 1, 2 * number + 2, number + 7)]


def real(name: str, *, version: int = 0, kept: int = 50) -> Page:
    """Return a page of fifty words, of which a later version keeps the first ones."""
    number = NAMES.index(name)
    text = words(name, kept).split() + words((name, version), 50 - kept).split()
    return {
        "title": words(name if kept else (name, version), 2),
        "text": f"{FRAME} {' '.join(text)} needle",
        "links": links_of(number),
        "head": f"<meta name='v' content='{version}'>",
    }


def serve(site: Site, pages: Callable[[str], Page], names: Iterable[str] = NAMES) -> None:
    for name in names:
        site.page(name, **pages(name))


def dump(workspace: Workspace) -> dict[str, Any]:
    """Return title, text and anchor texts of all documents."""
    lines = workspace.command("index", "dump").out.splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["url"].partition("://")[2].partition("/")[2]: row for row in rows}


def maze(name: str) -> Page:
    return {
        "title": words((name, 1), 4),
        "text": words((name, 2), 150),
        "links": [f"/maze/{words(name, 1)}", "/help"],
    }


WALLS: dict[str, Callable[[str], Page]] = {
    "random words": lambda name: {**maze(name), "links": links_of(NAMES.index(name))},
    "maze": maze,
    "poem": lambda name: {
        "title": "Down for maintenance",
        "text": f"We will be back. Meanwhile, a poem: {words((name, 3), 60)}",
    },
    "captcha": lambda name: {
        "title": f"Verify {words((name, 4), 1)}",
        "text": f"Please type the words below to show that you are human {words((name, 5), 40)}",
        "links": ["/imprint"],
    },
    "in the frame": lambda name: {"title": "Consent", "text": f"{FRAME} We use cookies, accept all {name}"},
    "fixed": lambda name: {
        "title": "Log in",
        "text": "Please log in with your account",
        "links": ["/help", "/imprint"],
    },
}


@pytest.fixture
def served(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """Thirty pages, all indexed by a first crawl."""
    serve(site, real)
    workspace.define(f"{url}/p0")
    crawled_projects.crawl(workspace, site)
    return site


def crawled_by(engine: str, site: Site, url: str, workspace: Workspace) -> dict[str, Any]:
    """Crawl the real pages into an index of an engine; return its documents."""
    serve(site, real)
    workspace.define(f"{url}/p0")
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.write({"index": {"engine": engine}, **definition})
    workspace.crawl()
    return dump(workspace)


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("wall", WALLS.values(), ids=WALLS)
def test_a_wall_changes_nothing_in_the_index(
    site: Site, url: str, workspace: Workspace, wall: Callable[[str], Page], engine: str
) -> None:
    before = crawled_by(engine, site, url, workspace)
    assert len(before) == NUMBER
    serve(site, wall)
    for path in ("/help", "/imprint"):
        site.page(path, **wall("/p1"))
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert (run["outcomes"], len(run["problems"])) == ({"HELD_BACK": NUMBER}, 1)
        assert dump(workspace) == before
    assert not [one.path for one in site.requests if one.path.startswith(("/maze", "/help", "/imprint"))]
    serve(site, real)
    run = workspace.crawl().run
    assert (run["outcomes"], run["problems"]) == ({"NOT_MODIFIED": NUMBER}, [])
    assert dump(workspace) == before


EMPTY: dict[str, Callable[[str], bytes]] = {
    "no element": lambda name: b"<html></html>",
    "an image": lambda name: b"<body><img src=/x.png></body>",
    "a blank body": lambda name: b"<html><body>  </body></html>",
    "random comments": lambda name: f"<html><!-- blocked {words(name, 1)} --></html>".encode(),
}


@pytest.mark.parametrize("body", EMPTY.values(), ids=EMPTY)
def test_empty_pages_change_nothing_in_the_index(
    served: Site, workspace: Workspace, body: Callable[[str], bytes]
) -> None:
    before = dump(workspace)
    for name in NAMES:
        served.file(name, body(name), "text/html")
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert (run["outcomes"], run["indexed"]) == ({"HELD_BACK": NUMBER}, 0)
        assert dump(workspace) == before


def enter(site: Site, name: str) -> None:
    site.redirect(name, f"/enter?from={name}", status=302)
    site.page(f"/enter?from={name}", title="Enter", text=f"Choose an account for {name}", links=["/p3"])


LEFT: dict[str, Callable[[Site, str], None]] = {
    "redirects": enter,
    "no byte": lambda site, name: site.file(name, b"", "text/html"),
    "gone": lambda site, name: site.gone(name),
    "noindex": lambda site, name: site.page(
        name, title="Enter", text="Log in", robots="noindex", links=["/p1", "/p2"]
    ),
}


@pytest.mark.parametrize("answer", LEFT.values(), ids=LEFT)
def test_documents_whose_deletion_is_held_keep_the_texts_of_their_links(
    served: Site, workspace: Workspace, answer: Callable[[Site, str], None]
) -> None:
    before = dump(workspace)
    for name in NAMES:
        answer(served, name)
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert run["deleted"] == 0
        assert {url: row for url, row in dump(workspace).items() if url in before} == before
    serve(served, real)
    workspace.crawl()
    assert {url: row for url, row in dump(workspace).items() if url in before} == before


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("status", [301, 302])
@pytest.mark.parametrize("wall", ["random words", "poem", "captcha", "in the frame", "fixed"])
def test_a_wall_behind_redirects_deletes_nothing(
    site: Site, url: str, workspace: Workspace, wall: str, status: int, engine: str
) -> None:
    before = crawled_by(engine, site, url, workspace)
    for name in NAMES:
        site.redirect(name, f"/check{name}", status=status)
        site.page(f"/check{name}", **{**WALLS[wall](name), "links": []})
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert (run["deleted"], len(run["problems"])) == (0, 1)
        assert {url: row for url, row in dump(workspace).items() if url in before} == before
    serve(site, real)
    assert workspace.crawl(code=None).run["deleted"] == 0
    assert {url: row for url, row in dump(workspace).items() if url in before} == before


def test_pages_that_moved_with_their_words_are_no_loss(served: Site, workspace: Workspace) -> None:
    for name in NAMES:
        served.redirect(name, f"/new{name}")
        page = real(name, version=1, kept=20)
        served.page(f"/new{name}", **{**page, "text": f"{words('new frame', 80)} {page['text']}"})
    run = workspace.crawl().run
    assert (run["deleted"], run["problems"]) == (NUMBER, [])


def test_the_texts_of_links_of_a_document_that_left_are_gone(served: Site, workspace: Workspace) -> None:
    served.page("/p29", **{**real("/p29"), "links": [*links_of(29), "/alone"]})
    served.page("/alone", title="Alone", text=words("alone", 30))
    workspace.crawl()
    assert dump(workspace)["alone"]["anchors"]
    served.gone("/p29")
    assert workspace.crawl().run["deleted"] == 1
    assert not dump(workspace)["alone"].get("anchors")


def test_pages_that_are_back_and_changed_are_let_in_at_once(served: Site, workspace: Workspace) -> None:
    serve(served, WALLS["fixed"])
    assert workspace.crawl(code=1).run["outcomes"] == {"HELD_BACK": NUMBER}
    for version in (1, 2, 3):
        serve(served, lambda name, version=version: real(name, version=version, kept=20))  # type: ignore[misc]
        run = workspace.crawl().run
        assert (run["outcomes"], run["problems"]) == ({"MODIFIED": NUMBER}, [])
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": NUMBER}


def test_some_that_are_back_are_let_in_beside_a_wall_that_stays(served: Site, workspace: Workspace) -> None:
    serve(served, WALLS["fixed"])
    workspace.crawl(code=1)
    serve(served, lambda name: real(name, version=1, kept=20), NAMES[:20])
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"MODIFIED": 20, "HELD_BACK": 10}
    serve(served, lambda name: real(name, version=1, kept=20), NAMES[20:28])
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"NOT_MODIFIED": 20, "MODIFIED": 8, "HELD_BACK": 2}, "it was held back before"


def test_a_wall_that_spreads_by_five_documents_a_run_is_held(served: Site, workspace: Workspace) -> None:
    before = dump(workspace)
    for walled in range(5, NUMBER, 5):
        serve(served, WALLS["fixed"], NAMES[:walled])
        run = workspace.crawl(code=None).run
        assert run["outcomes"].get("HELD_BACK", 0) == walled - 5
    after = dump(workspace)
    assert {
        url: row for url, row in before.items() if url in [name[1:] for name in NAMES[5:]]
    }.items() <= after.items()
    serve(served, real)
    workspace.crawl()
    assert {url: row["text"] for url, row in dump(workspace).items()} == {
        url: row["text"] for url, row in before.items()
    }


def test_a_redesign_that_keeps_the_words_passes(served: Site, workspace: Workspace) -> None:
    def restyled(name: str) -> Page:
        page = real(name)
        return {
            **page,
            "title": f"Our new look: {page['title']}",
            "text": f"{words('new frame', 80)} {page['text']}",
        }

    serve(served, restyled)
    run = workspace.crawl().run
    assert (run["outcomes"], run["problems"]) == ({"MODIFIED": NUMBER}, [])


def test_a_site_that_is_new_each_time_has_a_way_out(served: Site, url: str, workspace: Workspace) -> None:
    serve(served, lambda name: real(name, version=1, kept=0))
    assert workspace.crawl(code=1).run["outcomes"] == {"HELD_BACK": NUMBER}
    workspace.define(f"{url}/p0", modification={"percent": 100})
    for version in (2, 3):
        serve(served, lambda name, version=version: real(name, version=version, kept=0))  # type: ignore[misc]
        run = workspace.crawl().run
        assert (run["outcomes"], run["problems"]) == ({"MODIFIED": NUMBER}, [])


def test_few_pages_that_were_written_anew_are_let_in_with_their_links(
    served: Site, workspace: Workspace
) -> None:
    for name in NAMES[:5]:
        served.page(
            name, title="Another story", text=words((name, "anew"), 60), links=[f"/from{name}", *links_of(1)]
        )
        served.page(f"/from{name}", title="New", text=words((name, "new"), 30))
    run = workspace.crawl().run
    assert run["outcomes"] == {"MODIFIED": 5, "NEW": 5, "NOT_MODIFIED": NUMBER - 5}
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": NUMBER + 5}


def test_a_known_duplicate_and_a_new_page_behind_the_wall_are_held_with_the_others(
    served: Site, workspace: Workspace
) -> None:
    served.page("/p29", **{**real("/p29"), "links": [*links_of(29), "/copy"]})
    served.page("/copy", **real("/p1"))
    assert workspace.crawl().run["outcomes"].get("DUPLICATE") == 1
    before = dump(workspace)
    serve(served, maze)
    served.page("/copy", **maze("/p1"))
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"HELD_BACK": NUMBER + 1}
    assert dump(workspace) == before
    serve(served, real)
    served.page("/copy", **real("/p1"))
    run = workspace.crawl().run
    assert run["problems"] == []
    assert workspace.outcomes()["/copy"] == "DUPLICATE"


def test_links_of_what_a_person_lets_in_are_followed_by_the_next_run(
    served: Site, workspace: Workspace
) -> None:
    serve(
        served,
        lambda name: {**real(name, version=1, kept=0), "links": [*links_of(NAMES.index(name)), "/late"]},
    )
    served.page("/late", title="Late", text=words("late", 30))
    workspace.crawl(code=1)
    assert workspace.command("approve-changes", "site").code == 0
    run = workspace.crawl().run
    assert (run["outcomes"], run["problems"]) == ({"MODIFIED": NUMBER, "NEW": 1}, [])
    assert "/late" in workspace.indexed()
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": NUMBER + 1}


def test_documents_that_a_person_approved_are_guarded(site: Site, url: str, workspace: Workspace) -> None:
    serve(site, real)
    workspace.define(f"{url}/p0", crawling_mode="examine")
    workspace.crawl()
    assert workspace.command("approve", "site").code == 0
    before = dump(workspace)
    workspace.define(f"{url}/p0")
    serve(site, maze)
    assert workspace.crawl(code=1).run["outcomes"] == {"HELD_BACK": NUMBER}
    assert dump(workspace) == before


def forget_sketches(workspace: Workspace) -> None:
    (file,) = (workspace.directory / "var" / "state").glob("*.sqlite")
    with closing(sqlite3.connect(file)) as state, state:
        state.execute("UPDATE url SET sketch=x''")


def test_documents_whose_words_are_not_known_are_guarded_until_a_person_lets_them_in(
    served: Site, workspace: Workspace
) -> None:
    forget_sketches(workspace)
    serve(served, lambda name: real(name, version=1))
    assert workspace.crawl(code=1).run["outcomes"] == {"HELD_BACK": NUMBER}
    assert workspace.command("approve-changes", "site").code == 0
    serve(served, lambda name: real(name, version=2))
    run = workspace.crawl().run
    assert (run["indexed"], run["problems"]) == (NUMBER, [])


def test_the_successor_of_a_document_that_left_is_guarded(served: Site, workspace: Workspace) -> None:
    served.page("/p29", **{**real("/p29"), "links": [*links_of(29), "/copy"]})
    served.page("/copy", **real("/p1"))
    workspace.crawl()
    served.gone("/p1")
    assert workspace.crawl().run["deleted"] == 1
    before = dump(workspace)
    assert "copy" in before
    others = [name for name in NAMES if name != "/p1"]
    serve(served, maze, others)
    served.page("/copy", **maze("/p1"))
    assert workspace.crawl(code=1).run["outcomes"]["HELD_BACK"] == NUMBER
    assert dump(workspace) == before


@pytest.mark.parametrize("walled", [1, NUMBER], ids=["let in", "held back"])
def test_a_restricted_version_that_waited_takes_no_place_of_a_public_one(
    served: Site, url: str, workspace: Workspace, walled: int
) -> None:
    served.page("/p0", **{**real("/p0"), "links": [*links_of(0), "/secret/d"]})
    served.page("/secret/d", **real("/p7"))
    workspace.define(f"{url}/p0", acl_paths={"/secret/": ["boss"]})
    workspace.crawl()
    assert {"/p7", "/secret/d"} <= set(workspace.indexed())
    serve(served, maze, NAMES[NUMBER - walled + 1 :])
    for name in ("/secret/d", "/public"):
        served.page(name, title="Handbook", text=words("handbook", 50))
    open_home = {**real("/p0"), "links": [*links_of(0), "/secret/d", "/public"]}
    if walled == 1:
        served.page("/p0", **open_home)
    workspace.crawl(code=None)
    workspace.command("approve-changes", "site")
    served.page("/p0", **open_home)
    for _ in range(2):
        workspace.crawl(code=None)
        assert {"/public", "/secret/d"} <= set(workspace.indexed())


@pytest.fixture
def walled(served: Site, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A site whose wall is gone, but for eight pages that are new."""
    serve(served, WALLS["fixed"])
    crawled_projects.crawl(workspace, served, code=1)
    serve(served, real)
    crawled_projects.crawl(workspace, served)
    new = [f"/new{number}" for number in range(8)]
    for name in new:
        served.page(name, **{**WALLS["fixed"]("/p1"), "links": []})
    served.page("/p0", **{**real("/p0"), "links": [*new, *links_of(0)]})
    return served


def test_new_pages_that_are_held_back_stop_no_deletion(walled: Site, workspace: Workspace) -> None:
    walled.gone("/p29")
    run = workspace.crawl().run
    assert (run["outcomes"]["HELD_BACK"], run["deleted"], run["problems"]) == (8, 1, [])


@pytest.mark.parametrize(
    ("changes", "is_held"),
    [
        ({}, True),
        ({"indexed": False}, False),
        ({"outcome": UrlOutcome.GONE}, False),
        ({"last_fetched": 4.0}, False),
    ],
)
def test_only_documents_that_this_run_held_back_count_when_it_is_resumed(
    changes: dict[str, Any], is_held: bool
) -> None:
    record = UrlRecord("http://h/", "s", 0, outcome=UrlOutcome.HELD_BACK, indexed=True, last_fetched=5.0)
    assert replace(record, **changes).is_held_since(5.0) is is_held


def test_links_of_what_is_let_in_are_followed_though_a_site_is_given_up(
    served: Site, url: str, workspace: Workspace
) -> None:
    port = free_port("127.0.0.2")
    nobody = [f"http://127.0.0.2:{port}/{number}" for number in range(60)]
    workspace.define(
        start_urls=[f"{url}/p0", *nobody],
        politeness={"delay": 0, "concurrency": 1, "backoff": {"longest": 0.1, "limit": 3}},
        limits={"retries": 0},
        robots={"obey": False},
        sitemaps={"use": False},
    )
    served.page("/p1", title="Another story", text=words("anew", 60), links=["/from"])
    served.page("/from", title="New", text=words("from", 30))
    run = workspace.crawl(code=None).run
    assert run["given_up"]
    assert "/from" in workspace.indexed()
    assert workspace.crawl(code=None).run["resumed"] is False


def test_only_the_group_of_what_a_person_lets_in_is_no_wall_any_more(
    served: Site, workspace: Workspace
) -> None:
    def maintenance(name: str) -> Page:
        return {"title": f"Down {words(name, 1)}", "text": f"We come back soon, with {name}: please wait"}

    serve(served, WALLS["fixed"], NAMES[:10])
    workspace.crawl(code=1)
    serve(served, real, NAMES[:10])
    serve(served, maintenance, NAMES[10:20])
    for _ in range(2):
        assert workspace.crawl(code=1).run["outcomes"]["HELD_BACK"] == 10
    assert workspace.command("approve-changes", "site").code == 0
    serve(served, real, NAMES[10:20])
    serve(served, WALLS["fixed"], ["/p0"])
    serve(served, maintenance, ["/p21"])
    assert workspace.crawl(code=1).run["outcomes"]["HELD_BACK"] == 1
    assert (workspace.outcomes()["/p0"], workspace.outcomes()["/p21"]) == ("HELD_BACK", "MODIFIED")
