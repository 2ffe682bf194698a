"""A project of two sources whose documents are in its index."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from ultracrawl.index import Change, IndexDocument
from ultracrawl.index.opening import open_index
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
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
ANYBODY = Requester("token:any", RequesterKind.TOKEN, Role.READER, ())


class Birds:
    """The project; `put` changes its index."""

    def __init__(self, folder: Path, engine: str) -> None:
        self.folder = folder
        self.engine = engine
        self.define()
        self.project = self.read()

    def define(self, **further: object) -> None:
        """Write the definitions, with further sections."""
        groups = {"lake": ["birds"], "sea": ["birds", "coast"]}
        sources = {
            name: {"start_urls": [f"http://{name}.example/"], "groups": groups[name]} for name in groups
        }
        definition = {"index": {"engine": self.engine}, "sources": sources, **further}
        (self.folder / "ultracrawl.yaml").write_text(yaml.safe_dump(definition))

    def read(self) -> Project:
        """Return the project by its present definitions."""
        return require(read_definitions(self.folder / "ultracrawl.yaml"))

    def put(self, *changes: Change) -> None:
        """Commit changes."""
        index = open_index(self.project)
        index.apply(changes)
        index.close()


@pytest.fixture(params=["whoosh", "tantivy"])
def birds(request: pytest.FixtureRequest, tmp_path: Path) -> Birds:
    made = Birds(tmp_path, request.param)
    made.put(*DOCUMENTS)
    return made
