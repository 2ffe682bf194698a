"""A damaged index: told in one line, and made sound again without losing a document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.named import named
from support.project import LOOPBACK, Workspace
from support.site import Site

PATHS = ["/", "/a", "/b", "/c"]


def largest(folder: Path, pattern: str) -> Path:
    return max(folder.rglob(pattern), key=lambda path: path.stat().st_size)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garbage(path: Path) -> None:
    path.write_bytes(b"\x00garbage\xff" * 20)


DAMAGE: dict[str, tuple[str, Callable[[Path], None]]] = {
    "whoosh: truncated segment": ("*.seg", cut),
    "whoosh: deleted segment": ("*.seg", Path.unlink),
    "whoosh: garbage in the table of contents": ("*.toc", garbage),
    "whoosh: deleted table of contents": ("*.toc", Path.unlink),
    "tantivy: truncated file": ("*.store", cut),
    "tantivy: deleted file": ("*.pos", Path.unlink),
    "tantivy: garbage in the table of contents": ("meta.json", garbage),
    "tantivy: deleted name of the folder": ("current", Path.unlink),
}


@pytest.fixture
def define(site: Site, url: str, workspace: Workspace) -> Callable[..., None]:
    site.page("/", title="Home", links=PATHS[1:], text="heron home")
    for path in PATHS[1:]:
        site.page(path, title=path[1:], text=f"heron {path} " * 200)

    def write(engine: str, **options: object) -> None:
        source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}, **options}
        workspace.write({"index": {"path": "index", "engine": engine}, "sources": {"site": source}})

    return write


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.processes
def test_a_damaged_index_is_repaired_and_the_next_crawl_brings_what_was_lost(
    define: Callable[..., None], site: Site, workspace: Workspace, what: str
) -> None:
    define(what.partition(":")[0])
    workspace.crawl()
    pattern, damage = DAMAGE[what]
    damage(largest(workspace.directory / "index", pattern))
    checked = workspace.command("index", "check")
    assert (checked.code, checked.err.count("\n")) == (1, 1)
    assert "ultracrawl index rebuild" in named(checked.err)
    rebuilt = workspace.command("index", "rebuild", "--json")
    assert rebuilt.code == 0, rebuilt.err
    left = rebuilt.json["after"]["documents"]
    assert rebuilt.json["fetched_again"] == len(PATHS) - left
    assert workspace.command("index", "check").code == 0
    run = workspace.crawl().run
    assert run["fetched"] >= len(PATHS) - left
    assert workspace.indexed() == PATHS
    assert sorted(workspace.search("heron")) == PATHS


@pytest.mark.processes
def test_what_is_stored_is_made_again_without_a_request(
    define: Callable[..., None], site: Site, workspace: Workspace
) -> None:
    define("whoosh", storage={"keep": True})
    workspace.crawl()
    asked = len(site.requests)
    garbage(largest(workspace.directory / "index", "*.toc"))
    rebuilt = workspace.command("index", "rebuild")
    assert rebuilt.code == 0, rebuilt.err
    assert "4" in named(rebuilt.out)
    assert len(site.requests) == asked
    assert workspace.indexed() == PATHS
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 4}


@pytest.mark.parametrize("engine", ["tantivy"])
def test_an_index_of_another_version_is_made_anew_by_the_crawl_which_says_so(
    define: Callable[..., None], site: Site, workspace: Workspace, engine: str
) -> None:
    define(engine)
    workspace.crawl()
    (facts,) = (workspace.directory / "index").rglob("ultracrawl.json")
    facts.write_text(json.dumps(json.loads(facts.read_text()) | {"analysis": 1}))
    assert len(workspace.search("heron")) == 4, "it is searched meanwhile"
    shown = workspace.command("index", "info").out
    assert "schema version 1)" in shown
    assert "ultracrawl index rebuild" in named(shown)
    site.change("/a", text="egret")
    ended = workspace.command("crawl")
    assert "of another version" not in workspace.command("index", "info").out
    notes = [line for line in ended.out.splitlines() if "has another schema version" in line]
    assert len(notes) == 1, ended.out
    assert ended.code == 0
    assert workspace.search("egret") == ["/a"]
    assert len(workspace.search("heron")) == 3


def test_what_a_repaired_index_lost_is_a_problem_only_if_it_cannot_be_fetched(
    define: Callable[..., None], site: Site, workspace: Workspace
) -> None:
    define("whoosh")
    workspace.crawl()
    largest(workspace.directory / "index", "*.seg").unlink()
    run = workspace.crawl().run
    assert (run["outcomes"], run["problems"], len(run["remarks"])) == ({"NEW": 4}, [], 2)
    largest(workspace.directory / "index", "*.seg").unlink()
    site.respond("/c", status=500)
    (problem,) = workspace.crawl(code=1).run["problems"]
    assert "`ultracrawl crawl`" in problem
    site.page("/c", title="c", text="heron /c")
    assert workspace.crawl().run["outcomes"].get("NEW") == 1
    assert workspace.indexed() == PATHS
