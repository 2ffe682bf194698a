"""A project of two sources whose documents are in its index."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracrawl.index import Change, IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.searching.orders import Order, SearchOrder
from ultracrawl.service.searching.requests import Searching
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions

DOCUMENTS = (
    IndexDocument("lake", "http://lake.example/heron", "Heron", "the grey heron stands in the water"),
    IndexDocument(
        "lake", "http://lake.example/egret", "Egret", "the egret is white and stands near the heron"
    ),
    IndexDocument("sea", "http://sea.example/gull", "Gull", "the gull steals what the heron leaves"),
    IndexDocument("sea", "http://sea.example/ring", "Ring", "the ringed heron of the staff", acl=("staff",)),
)
OPTIONS = SearchingOptions(processes=1, timeout=60.0)
ANYBODY = Requester("token:any", RequesterKind.TOKEN, Role.READER, ())


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended, but was not waited for, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Birds:
    """The project; `put` changes its index."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder = folder
        self.engine = engine
        self.define()
        self.project = self.read()
        self.searching = Searching(lambda: self.project, options=OPTIONS)

    def define(self, **further: object) -> None:
        """Write the definitions, with further sections."""
        groups = {"lake": ["birds"], "sea": ["birds", "coast"]}
        sources = {
            name: {"start_urls": [f"http://{name}.example/"], "groups": groups[name]} for name in groups
        }
        definition = {"index": {"engine": self.engine}, "sources": sources, **further}
        (self.folder / "ultracrawl.yaml").write_text(yaml.safe_dump(definition))

    def serve(self, **options: Any) -> None:
        """Search with other options from now on."""
        self.searching.close()
        self.searching = Searching(lambda: self.project, options=replace(OPTIONS, **options))

    def ask(self, requester: Requester, order: Order) -> Any:
        """Return the answer of an order."""
        return asyncio.run(self.searching.run(requester, order))

    def titles(self, text: str, requester: Requester | None = None) -> list[str]:
        """Return the titles of the hits of a search, sorted."""
        return sorted(hit["title"] for hit in self.ask(requester or ANYBODY, SearchOrder(text))["hits"])

    def read(self) -> Project:
        """Return the project by its present definitions."""
        return require(read_definitions(self.folder / "ultracrawl.yaml"))

    def put(self, *changes: Change) -> None:
        """Commit changes."""
        index = open_index(self.project)
        index.apply(changes)
        index.close()


@pytest.fixture(params=["whoosh", "tantivy"])
def birds(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Birds]:
    made = Birds(tmp_path, request.param)
    made.put(*DOCUMENTS)
    yield made
    made.searching.close()
