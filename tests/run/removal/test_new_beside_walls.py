"""Pages of new URLs behind a wall, parts of a run that were killed, and sites of which few documents are known."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import yaml
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.run.placement import changes, documents

FRAME = "Home Products Services About Contact Imprint"
DEEP = [f"/deep{number}" for number in range(20)]
NEW = [f"/new{number}" for number in range(4)]

Page = dict[str, Any]
"""What `Site.page` takes."""


def words(seed: object, number: int = 50) -> str:
    """Return random words of a large vocabulary."""
    chosen = random.Random(str(seed))
    return " ".join("".join(chosen.choices("abcdefghijklmnoprstuvw", k=7)) for _ in range(number))


def real(name: str) -> Page:
    return {"title": words((name, "title"), 2), "text": f"{FRAME} {words(name)}"}


WALLS: dict[str, Callable[[str], Page]] = {
    "fixed": lambda name: {"title": "Log in", "text": "Please log in with your account"},
    "its path": lambda name: {"title": "", "text": f"Your session has ended, sign in to read {name} again"},
    "in the frame": lambda name: {"title": "Consent", "text": f"{FRAME} We use cookies, accept all {name}"},
    "poem": lambda name: {
        "title": "Down for maintenance",
        "text": f"Back soon, with a poem: {words((name, 3), 15)}",
    },
    "blank": lambda name: {"title": "", "text": ""},
}


def serve(site: Site) -> None:
    """Serve a home page, a page that links to twenty others, and new pages."""
    site.page("/", **real("/"), links=["/middle"])
    site.page("/middle", **real("/middle"), links=DEEP)
    for name in (*DEEP, *NEW):
        site.page(name, **real(name))


def define(
    workspace: Workspace, url: str, engine: str = "tantivy", *, new: bool = False, **options: Any
) -> None:
    """Define the source; with `new` the new pages are start URLs, and come before all but these."""
    starts = [f"{url}/", *(f"{url}{name}" for name in (NEW if new else ()))]
    workspace.define(**{"start_urls": starts, "politeness": {"delay": 0, "concurrency": 1}, **options})
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "index": {"engine": engine}}))


def dump(workspace: Workspace) -> dict[str, Any]:
    """Return what the index has of each document, by path."""
    rows = map(json.loads, workspace.command("index", "dump").out.splitlines())
    return {"/" + row["url"].split("/", 3)[3]: row for row in rows}


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("wall", WALLS.values(), ids=WALLS)
def test_new_pages_that_came_before_the_first_lost_version_leave_the_index(
    site: Site, url: str, workspace: Workspace, wall: Callable[[str], Page], engine: str
) -> None:
    serve(site)
    define(workspace, url, engine)
    workspace.crawl()
    before = dump(workspace)
    define(workspace, url, engine, new=True)
    for name in (*DEEP, *NEW):
        site.page(name, **wall(name))
    site.page(NEW[-1], **real(NEW[-1]))
    for number in range(2):
        run = workspace.crawl(code=1).run
        assert sum(run["outcomes"].values()) == run["scheduled"]
        assert (run["outcomes"].get("NEW", 0) > 1) is (number == 0), "they were let in before"
        outcomes = workspace.outcomes()
        assert {name for name, outcome in outcomes.items() if outcome == "HELD_BACK"} == {*DEEP, *NEW[:-1]}
        after = dump(workspace)
        assert after.keys() == {*before, NEW[-1]}
        assert {name: row["text"] for name, row in after.items() if name in DEEP} == {
            name: before[name]["text"] for name in DEEP
        }
    serve(site)
    run = workspace.crawl().run
    assert (run["outcomes"]["NEW"], run["problems"]) == (len(NEW) - 1, [])
    assert dump(workspace).keys() == {*before, *NEW}
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": len(before) + len(NEW)}


def test_a_person_lets_in_new_pages_that_left_the_index(site: Site, url: str, workspace: Workspace) -> None:
    serve(site)
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, new=True)
    for name in (*DEEP, *NEW):
        site.page(name, **WALLS["its path"](name))
    workspace.crawl(code=1)
    assert workspace.command("approve-changes", "site").code == 0
    assert set(workspace.search("session")) == {*DEEP, *NEW}
    assert workspace.crawl().run["problems"] == []


def test_new_pages_that_are_like_a_wall_are_asked_for_once_more(
    site: Site, url: str, workspace: Workspace
) -> None:
    """One is no wall any more when it is asked for again, another one only has the word of the title."""
    serve(site)
    define(workspace, url)
    workspace.crawl()
    define(workspace, url, new=True)
    for name in DEEP:
        site.page(name, **WALLS["poem"](name) | {"title": "maintenance"})
    site.page(NEW[0], title="A heron", text="maintenance of ponds")
    run = workspace.crawl(code=1).run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    assert set(NEW) <= set(workspace.indexed())
    assert [one.path for one in site.requests].count(NEW[0]) == 2


# ---- parts of a run


def forget_the_note(workspace: Workspace) -> None:
    """Remove what a run notes at its end, as if it had been killed before."""
    for note in workspace.directory.rglob("*lost-versions*"):
        note.unlink()


def crawl_in_part(workspace: Workspace, url: str, pages: int, *, new: bool = False) -> None:
    define(workspace, url, new=new, limits={"pages": pages})
    workspace.crawl(code=None)
    forget_the_note(workspace)
    define(workspace, url, new=new)


def test_a_resumed_run_holds_new_pages_of_its_first_part(site: Site, url: str, workspace: Workspace) -> None:
    serve(site)
    define(workspace, url)
    workspace.crawl()
    before = dump(workspace)
    define(workspace, url, new=True)
    for name in (*DEEP, *NEW):
        site.page(name, **WALLS["its path"](name))
    crawl_in_part(workspace, url, 8, new=True)
    assert set(dump(workspace)) > set(before), "the first part let some in"
    run = workspace.crawl(code=1).run
    assert run["resumed"]
    assert {"HELD_BACK"} == {workspace.outcomes()[name] for name in (*DEEP, *NEW)}
    assert dump(workspace).keys() == before.keys()


def test_what_the_killed_part_of_a_run_held_back_is_known_in_the_next_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    serve(site)
    define(workspace, url)
    workspace.crawl()
    before = dump(workspace)
    for name in DEEP[:12]:
        site.page(name, **WALLS["its path"](name))
    crawl_in_part(workspace, url, 15)
    serve(site)
    assert workspace.crawl(code=1).run["resumed"]
    site.page(DEEP[-1], **WALLS["its path"](DEEP[-1]))
    assert workspace.crawl(code=1).run["outcomes"]["HELD_BACK"] == 1
    assert dump(workspace) == before


def link(site: Site, text: str, head: str = "") -> None:
    """Have a page link to another one with a text."""
    page = f"<title>{words('link')}</title>{head}<p>{words('links')}<a href='/alone'>{text}</a>"
    site.file(DEEP[0], page.encode(), "text/html")


@pytest.mark.processes
@pytest.mark.parametrize("answer", ["gone", "redirect", "noindex"])
def test_links_of_what_leaves_the_index_go_with_it_though_the_run_was_killed(
    site: Site, url: str, workspace: Workspace, answer: str
) -> None:
    serve(site)
    link(site, "solitary heron")
    site.page("/alone", **real("/alone"))
    define(workspace, url)
    workspace.crawl()
    assert dump(workspace)["/alone"]["anchors"] == ["solitary heron"]
    if answer == "gone":
        site.gone(DEEP[0])
    elif answer == "redirect":
        site.redirect(DEEP[0], DEEP[1])
    else:
        link(site, "grey otter", "<meta name=robots content=noindex>")
    last = site.hold(DEEP[-1])
    process = workspace.start("crawl", "--json")
    (state,) = (workspace.directory / "var" / "state").glob("*.sqlite")

    def is_marked() -> bool:
        with closing(sqlite3.connect(state)) as db:
            ((number,),) = db.execute("SELECT count(*) FROM url WHERE removal_code<>''")
        return bool(number)

    until(is_marked, process)
    kill_group(process)
    last.set()
    assert workspace.crawl().run["resumed"]
    assert not dump(workspace)["/alone"].get("anchors")
    workspace.crawl()
    expected = ["grey otter"] if answer == "noindex" else []
    assert dump(workspace)["/alone"].get("anchors", []) == expected


# ---- pages that name others, and sites of which few documents are known


def test_a_page_that_waited_is_the_alias_of_one_that_waited_in_the_same_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    serve(site)
    define(workspace, url, duplicates={"canonical": "follow"})
    workspace.crawl()
    moved = "the tale of a heron who went to the sea and did not come back for many years"
    site.page(DEEP[0], title="Moved", text=moved, head='<link rel="canonical" href="/moved">')
    site.page("/middle", **real("/middle"), links=[*DEEP, "/moved"])
    site.page("/moved", title="Moved", text=f"{moved} again")
    workspace.crawl()
    for _ in range(2):
        assert (workspace.outcomes()[DEEP[0]], workspace.search("tale")) == ("DUPLICATE", ["/moved"])
        workspace.crawl()


def test_a_page_waits_for_the_one_that_it_names_however_many_others_wait(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "BATCH", 1)
    monkeypatch.setattr(changes, "BATCH", 1)
    serve(site)
    define(workspace, url, duplicates={"canonical": "follow"})
    workspace.crawl()
    for name in DEEP[:3]:
        site.page(name, **WALLS["its path"](name))
    site.page("/middle", **real("/middle"), links=[*DEEP, "/moved", "/alias"])
    site.page("/moved", **WALLS["its path"]("/moved"))
    site.page("/alias", **real("/alias"), head='<link rel="canonical" href="/moved">')
    workspace.crawl()
    outcomes = workspace.outcomes()
    assert (outcomes["/moved"], outcomes["/alias"]) == ("NEW", "DUPLICATE")


def test_the_words_of_a_site_of_which_few_documents_are_in_the_sample_are_known(
    site: Site, url: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "SAMPLE", 3)
    serve(site)
    every = ["/", "/middle", *DEEP]
    for name in every:
        site.page(name, **real(name), links=[one for one in every if one != name])
    define(workspace, url)
    workspace.crawl()
    before = dump(workspace)
    for name in DEEP:
        site.page(name, **WALLS["in the frame"](name))
    assert workspace.crawl(code=1).run["outcomes"]["HELD_BACK"] == len(DEEP)
    assert dump(workspace) == before
