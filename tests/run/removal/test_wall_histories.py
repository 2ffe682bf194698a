"""Random histories of a site that walls replace, crawled: the index is what the model of the guard says."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from support.project import Workspace
from support.site import Site
from support.wall_histories import BLANK, History, Kind, Model, page_of

RUNS = 12


def put(site: Site, found: dict[int, Kind]) -> None:
    for name in set(range(40)) - found.keys():
        site.gone(f"/p{name}")
    for name, kind in found.items():
        title, text = page_of(name, kind)
        site.page(f"/p{name}", title=title, text=text)


def texts(workspace: Workspace) -> dict[int, set[str]]:
    rows = map(json.loads, workspace.command("index", "dump").out.splitlines())
    named: dict[str, Any] = {row["url"].rpartition("/p")[2]: row for row in rows}
    return {int(name): set(row["text"].split()) for name, row in named.items() if name.isdigit()}


def has(kind: Kind, name: int, text: set[str]) -> bool:
    words = set(page_of(name, kind)[1].split())
    return words <= text if words else len(text) < 5


def follow(site: Site, url: str, workspace: Workspace, seed: int, engine: str) -> None:
    """Crawl a history; a document in the index that had no words is compared with what was crawled only."""
    site.page("/", title="All pages", text="list of them all", links=[f"/p{name}" for name in range(40)])
    workspace.define(f"{url}/", deletion={"percent": 100}, duplicates={"detect": False})
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.write({"index": {"engine": engine}, **definition})
    history, model = History(seed), Model()
    for number in range(RUNS):
        found = history.run(number)
        put(site, found)
        without_words = {name for name in found if model.index.get(name) == BLANK}
        before = dict(model.index)
        held = model.crawl(found)
        run = workspace.crawl(code=None).run
        assert (run["problems"] != []) >= bool((held & before.keys()) - without_words), (seed, number)
        crawled = texts(workspace)
        for name in (found.keys() & model.index.keys()) - without_words:
            assert has(model.index[name], name, crawled[name]), (seed, number, name)
        for name in without_words:  # it depends on the order whether the wall is known by then
            is_new = name in crawled and has(found[name], name, crawled[name])
            model.index[name] = found[name] if is_new else before[name]
        assert crawled.keys() == model.index.keys(), (seed, number)


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_a_history_crawled_ends_as_the_model_says(
    site: Site, url: str, workspace: Workspace, engine: str
) -> None:
    follow(site, url, workspace, 5, engine)


@pytest.mark.processes
@pytest.mark.night
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("seed", range(20))
def test_twenty_histories_crawled_end_as_the_model_says(
    site: Site, url: str, workspace: Workspace, seed: int, engine: str
) -> None:
    follow(site, url, workspace, seed, engine)
