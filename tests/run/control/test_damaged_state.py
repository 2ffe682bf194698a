"""A state that is damaged or lost: named, set aside, and made anew by a crawl with the index of a fresh one."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from support.damage import DAMAGES, garbage
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site

PATHS = [f"/{number}" for number in range(30)]


class Crawled(NamedTuple):
    """A site, and a project that has crawled it."""

    site: Site
    url: str
    directory: Path


def fill(site: Site) -> None:
    site.page("/", title="Start", links=PATHS, text="where everything begins")
    for path in PATHS:
        site.page(path, title=path, text=f"heron {path} waits at the water")


@pytest.fixture(scope="module", params=["whoosh", "tantivy"])
def crawled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    site, directory = NetworkSite(), tmp_path_factory.mktemp(request.param)
    with site.serve() as url:
        fill(site)
        source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
        source["limits"] = {"retry_delay": 0.05}
        workspace = InProcessWorkspace(directory)
        workspace.write({"index": {"engine": request.param}, "sources": {"site": source}})
        workspace.crawl()
        yield Crawled(site, url, directory)


@pytest.fixture
def project(crawled: Crawled, tmp_path: Path) -> Workspace:
    fill(crawled.site)
    shutil.copytree(crawled.directory, tmp_path / "project")
    return InProcessWorkspace(tmp_path / "project")


def state_of(project: Workspace) -> Path:
    return project.directory / "var/state/site.sqlite"


def aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.damaged-*"))


def other_schema(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE url RENAME COLUMN removal_code TO departed")
    db.close()


def bad_value(path: Path) -> None:
    """Put a text that is no UTF-8, which SQLite's own check does not see, into every record."""
    with sqlite3.connect(path) as db:
        db.execute("UPDATE url SET detail=CAST(x'ff' AS TEXT)")
    db.close()


STATE = {**DAMAGES, "other schema": other_schema}
HARMLESS = ("empty", "delete")
"""What is left is as if nothing had been crawled."""


@pytest.mark.parametrize("damage", [one for one in STATE if one not in HARMLESS])
def test_a_damaged_state_is_named_set_aside_and_made_anew(project: Workspace, damage: str) -> None:
    STATE[damage](state_of(project))
    for command in ("urls", "status"):
        ended = project.command(command)
        assert ended.code == 1
        (told,) = [line for line in (ended.out + ended.err).splitlines() if str(state_of(project)) in line]
        assert "the next crawl" in told
    (problem,) = project.crawl(code=1).run["problems"]
    assert str(state_of(project)) in problem
    (kept,) = aside(state_of(project))
    assert kept.name in problem
    assert project.indexed() == sorted(["/", *PATHS])
    assert project.crawl().run["outcomes"] == {"NOT_MODIFIED": 31}


@pytest.mark.parametrize("damage", [garbage, bad_value])
def test_the_urls_of_other_sources_are_listed_all_the_same(
    project: Workspace, damage: Callable[[Path], None]
) -> None:
    shutil.copy(state_of(project), state_of(project).with_name("site2.sqlite"))
    sources = yaml.safe_load((project.directory / "ultracrawl.yaml").read_text())
    sources["sources"]["site2"] = sources["sources"]["site"]
    project.write(sources)
    damage(state_of(project))
    ended = project.command("urls")
    assert (ended.code, len(ended.out.splitlines())) == (1, 31)
    assert str(state_of(project)) in ended.err


def test_what_only_reading_finds_ends_that_crawl_and_the_next_one_begins_anew(project: Workspace) -> None:
    bad_value(state_of(project))
    (problem,) = project.crawl(code=None).json["runs"][0]["problems"]
    assert str(state_of(project)) in problem
    project.crawl()
    assert project.crawl().run["outcomes"] == {"NOT_MODIFIED": 31}


def test_few_damaged_files_are_kept(project: Workspace) -> None:
    for number in range(5):
        garbage(state_of(project))
        state_of(project).with_name(f"site.sqlite.damaged-2020010{number}T000000").write_bytes(b"")
    project.crawl(code=1)
    assert len(aside(state_of(project))) == 3


@pytest.mark.parametrize("damage", HARMLESS)
def test_documents_without_a_record_leave_with_the_next_complete_crawl(
    crawled: Crawled, project: Workspace, damage: str
) -> None:
    STATE[damage](state_of(project))
    crawled.site.remove("/3")
    crawled.site.redirect("/4", "/5")
    crawled.site.page("/", title="Start", links=[one for one in PATHS if one != "/3"], text="fewer")
    assert project.crawl().run["problems"] == []
    assert project.indexed() == sorted({"/", *PATHS} - {"/3", "/4"})
    assert "/3" not in project.urls(), "nothing knows it any more"
    assert project.crawl().run["deleted"] == 0


def test_many_documents_without_a_record_wait_for_a_word(crawled: Crawled, project: Workspace) -> None:
    state_of(project).unlink()
    crawled.site.page("/", title="Start", links=PATHS[:10], text="few")
    (problem,) = project.crawl(code=1).run["problems"]
    assert sentence("removal.guard_held") in problem
    assert project.indexed() == sorted(["/", *PATHS])
    assert project.command("approve-deletions", "site").code == 0
    assert project.indexed() == sorted(["/", *PATHS[:10]])
    assert project.crawl().run["problems"] == []
    assert project.indexed() == sorted(["/", *PATHS[:10]])


def test_documents_behind_a_page_that_cannot_be_read_stay_until_it_can(
    crawled: Crawled, project: Workspace
) -> None:
    state_of(project).unlink()
    crawled.site.page("/", title="Start", links=["/1", "/list"], text="where everything begins")
    crawled.site.page("/list", links=PATHS[2:28], status=500)
    project.crawl(code=None)
    assert project.indexed() == sorted(["/", *PATHS])
    crawled.site.page("/list", links=PATHS[2:28], text="the rest of it")
    project.crawl()
    assert project.indexed() == sorted(["/", "/list", *PATHS[1:28]])
