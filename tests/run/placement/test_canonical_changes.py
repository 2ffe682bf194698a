"""Canonical links of a site that changes: no page is ever lost, and without a change nothing is told."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.in_process import InProcessWorkspace
from support.project import Workspace
from support.site import Site

PATHS = [f"/page/{letter}" for letter in "abcdefgh"]
STATES = ("page", "page", "page", "page", "gone", "noindex", "german", "redirect")


class RandomSite:
    """Pages that name each other as canonical, of which each may become something else."""

    def __init__(self, site: Site, seed: int) -> None:
        self.site = site
        self.random = random.Random(seed)
        self.states: dict[str, str] = {}
        self.version = 0
        for path in PATHS:
            self.put(path)
        fillers = [f"/filler/{number}" for number in range(30)]
        for path in fillers:
            site.page(path, title=path, text=f"filler at {path}")
        site.page("/", title="Start", links=[*PATHS, *fillers], text="where everything begins")

    def change(self) -> None:
        for path in self.random.sample(PATHS, 2):
            self.put(path)

    def put(self, path: str) -> None:
        state = self.states[path] = self.random.choice(STATES)
        self.version += 1
        target = self.random.choice([*PATHS, "", path])
        head = f'<link rel="canonical" href="{target}">' if target else ""
        page: dict[str, Any] = {"title": path, "text": f"{path} in version {self.version}", "head": head}
        match state:
            case "gone":
                self.site.respond(path, status=404)
            case "redirect":
                self.site.redirect(path, self.random.choice(PATHS))
            case "noindex":
                self.site.page(path, robots="noindex", **page)
            case "german":
                self.site.page(path, lang="de", **page)
            case _:
                self.site.page(path, **page)

    @property
    def pages(self) -> set[str]:
        return {path for path, state in self.states.items() if state in ("page", "german")}


def define(workspace: Workspace, url: str, engine: str) -> None:
    workspace.define(f"{url}/", duplicates={"canonical": "follow"})
    with (workspace.directory / "ultracrawl.yaml").open("a") as definition:
        definition.write(f"index: {{engine: {engine}}}\n")


def lost(workspace: Workspace, site: RandomSite) -> list[str]:
    """Return the pages that are neither indexed nor aliases of a document that is."""
    indexed, rows = set(workspace.indexed()), workspace.urls()
    stands = {path: row["duplicate_of"] for path, row in rows.items()}
    return [path for path in sorted(site.pages) if path not in indexed and not stands[path]]


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("seed", range(3))
def test_no_change_loses_a_page_and_without_one_all_stays(
    site: Site, url: str, tmp_path: Path, engine: str, seed: int
) -> None:
    workspace, changing = InProcessWorkspace(tmp_path / "old"), RandomSite(site, seed)
    workspace.directory.mkdir()
    define(workspace, url, engine)
    for _ in range(5):
        run = workspace.crawl(code=None).run
        assert sum(run["outcomes"].values()) == run["scheduled"]
        assert lost(workspace, changing) == []
        changing.change()
    before = None
    for number in range(5):
        run = workspace.crawl(code=None).run
        assert lost(workspace, changing) == []
        if number > 2:
            assert not {"NEW", "MODIFIED"} & run["outcomes"].keys()
            assert workspace.indexed() == before
        before = workspace.indexed()
