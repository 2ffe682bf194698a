"""Every engine behind one fixture, and documents to put into it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.opensearch import Open, Options, own_index

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.engine import Json
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, attribute_schema
from ultracrawl.system.compiled_core import SWITCH, usable_core
from ultracrawl.system.plugins import ENGINES

ATTRIBUTES = attribute_schema([SearchAttribute("Size", AttributeType.NUMBER), SearchAttribute("Doc-Type")])


collect_ignore = (
    ["test_opensearch.py"] if find_spec("opensearchpy") is None and os.environ.get("CI") != "true" else []
)
DISK_ENGINES = [name for name in ENGINES.names if name != "opensearch"]
WITHOUT_CORE = "whoosh_without_core"
"""The engine whoosh as it is where the compiled core is missing."""
ENGINE_NAMES = [
    *DISK_ENGINES,
    pytest.param("opensearch", marks=pytest.mark.servers),
    *([WITHOUT_CORE] if usable_core() else []),
]


@pytest.fixture
def options() -> Iterator[Options]:
    """The options of an index of its own on OpenSearch."""
    with own_index() as given:
        yield given


@pytest.fixture
def opened(options: Options, tmp_path: Path) -> Iterator[Open]:
    """Opens the index of `options`."""
    from ultracrawl.index.opensearch import OpenSearchIndex

    made: list[OpenSearchIndex] = []

    def index(attributes: Mapping[str, SearchAttribute] = ATTRIBUTES, **further: Json) -> OpenSearchIndex:
        made.append(OpenSearchIndex(tmp_path / "index", attributes, {**options, **further}))
        return made[-1]

    yield index
    for one in made:
        one.close()


@contextmanager
def opened_engine(name: str, folder: Path) -> Iterator[IndexEngine]:
    """Open an empty index of an engine of `ENGINE_NAMES`."""
    config = IndexConfig(name, folder / "index", tuple(ATTRIBUTES.values()))
    with own_index() if name == "opensearch" else nullcontext({}) as options:
        opened = open_index(replace(config, options=options))
        yield opened
        opened.close()


class FilledIndexes:
    """Indexes that several tests search: each is made once, with batches of documents, for an engine."""

    def __init__(self, folders: pytest.TempPathFactory, until_end: ExitStack) -> None:
        self._folders = folders
        self._until_end = until_end
        self._made: dict[tuple[object, ...], IndexEngine] = {}

    def index(self, name: str, engine: str, batches: Sequence[list[IndexDocument]]) -> IndexEngine:
        """Return the index of an engine, under the name of a variant of it."""
        key = (name, *map(id, batches))
        if key not in self._made:
            made = self._until_end.enter_context(opened_engine(engine, self._folders.mktemp("filled")))
            for batch in batches:
                made.apply(batch)
            self._made[key] = made
        return self._made[key]


@pytest.fixture(scope="module")
def filled_indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FilledIndexes]:
    with ExitStack() as until_end:
        yield FilledIndexes(tmp_path_factory, until_end)


WRITING = ("apply", "clear", "maintain", "optimise", "rebuild", "reclaim")


@pytest.fixture(params=ENGINE_NAMES)
def engine(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    filled_indexes: FilledIndexes,
) -> Iterator[IndexEngine]:
    """An empty index; with `@pytest.mark.filled_with(documents, ...)` that of its module with them, to be read."""
    name = engine = request.param
    if name == WITHOUT_CORE:
        monkeypatch.setenv(SWITCH, "0")
        engine = "whoosh"
    if marker := request.node.get_closest_marker("filled_with"):
        filled = filled_indexes.index(name, engine, marker.args)
        for method in WRITING:
            monkeypatch.setattr(filled, method, _refuse_to_write)
        yield filled
        return
    with opened_engine(engine, tmp_path) as opened:
        yield opened


def _refuse_to_write(*_: object) -> None:
    raise AssertionError("other tests search this index: write into one without `filled_with`")


@pytest.fixture
def found(engine: IndexEngine) -> Callable[..., list[str]]:
    def search(text: str = "", **options: object) -> list[str]:
        result = engine.search(SearchQuery(text, **{"limit": 100, **options}))
        assert result.total == len(result.hits)
        return [hit.url for hit in result.hits]

    return search


def document(
    url: str, text: str = "", title: str = "", source: str = "s", **attributes: object
) -> IndexDocument:
    values = {name.replace("_", "-"): value for name, value in attributes.items()}
    return IndexDocument(source, url, title, text, values)  # type: ignore[arg-type]


LIBRARY = [
    document(
        "/heron",
        "The grey heron waits at the water. Heron and egret.",
        "Herons",
        Author=["Ann Lee"],
        Size=[3],
    ),
    document(
        "/egret", "The egret waits; the grey water moves.", "Egrets", Author=["Bob Ray", "Ann Lee"], Size=[10]
    ),
    document(
        "/crane", "A crane (machine) lifts water tanks.", "Crane", Doc_Type=["Data Sheet"], Size=[-1.5, 7]
    ),
    document("/cjk", "東京タワー は 高い", "東京", Language=["ja"]),
    document("/turk", "İSTANBUL ve ΟΔΟΣ", "Straße", Language=["tr"]),
    document("/dated", "nothing else", "Dated", LastModifiedDate=[datetime(2024, 5, 1, 23, 30, tzinfo=UTC)]),
    document("/other", "the heron elsewhere", "Other", source="t", Author=["ann lee"]),
]
