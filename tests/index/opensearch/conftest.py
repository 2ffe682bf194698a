"""Indexes of the engine `opensearch` that are filled, scanned and replaced."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from index.conftest import ATTRIBUTES
from support.opensearch import send

from ultracrawl.index.engine import Json
from ultracrawl.rules.attributes.schema import SearchAttribute

collect_ignore_glob = (
    ["test_*.py"] if find_spec("opensearchpy") is None and os.environ.get("CI") != "true" else []
)
Options = dict[str, Json]
Open = Callable[..., Any]


@pytest.fixture
def opened(options: Options, tmp_path: Path) -> Iterator[Open]:
    """Opens the index of the test; further words are options of the engine."""
    from ultracrawl.index.opensearch import OpenSearchIndex

    made: list[OpenSearchIndex] = []

    def index(attributes: Mapping[str, SearchAttribute] = ATTRIBUTES, **further: Json) -> OpenSearchIndex:
        made.append(OpenSearchIndex(tmp_path / "index", attributes, {**options, **further}))
        return made[-1]

    yield index
    for one in made:
        one.close()


def behind(options: Options) -> list[str]:
    """Return the names of the indexes that begin with the name of this one, sorted."""
    found = send("GET", f"{options['url']}/_cat/indices/{options['name']}-*?format=json")
    assert isinstance(found, list)
    return sorted(one["index"] for one in found)
