"""Indexes of an early version: searched at once, and brought up to date meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.stored_fields import SCHEMA_VERSION
from ultracrawl.rules.attributes.schema import attribute_schema

DATA = Path(__file__).with_name("data.tar.xz")
ATTRIBUTES = tuple(attribute_schema().values())


@pytest.fixture(params=["whoosh", "tantivy"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> IndexConfig:
    engine = request.param
    with tarfile.open(DATA) as archive:
        members = [one for one in archive if one.name.startswith(f"{engine}/var/index/")]
        archive.extractall(tmp_path, members, filter="data")
    return IndexConfig(engine, tmp_path / engine / "var" / "index", ATTRIBUTES)


def answers(index: IndexEngine, documents: list[IndexDocument]) -> dict[str, set[str]]:
    """Return what phrases of titles and texts, and a few other queries, find."""
    said = {f'"{text}"' for one in documents for text in (one.title, " ".join(one.text.split()[:3])) if text}
    queries = [SearchQuery(text, limit=1000, principals=()) for text in sorted(said)]
    queries += [SearchQuery("", like=one.url, limit=1000) for one in documents[:3]]
    queries += [SearchQuery("", limit=1000, sort="-Title", facets=("Mimetype", "LastModifiedDate"))]
    return {f"{one.text} {one.like}": {hit.url for hit in index.search(one)} for one in queries}


def as_kept(index: IndexEngine) -> dict[str, IndexDocument]:
    """Return the documents, with the values of attributes that are defined here."""
    found = {}
    for one in index.documents():
        values = {
            known.name: one.attributes[known.name] for known in ATTRIBUTES if known.name in one.attributes
        }
        found[one.url] = replace(one, attributes=values)
    return found


def test_an_old_index_is_searched_at_once_and_brought_up_to_date_with_all_that_it_has(
    old: IndexConfig,
) -> None:
    index, other = open_index(old), open_index(old)
    documents = list(index.documents())
    assert len(documents) == index.count() > 0
    assert index.check() == []
    assert 0 < index.facts().schema < SCHEMA_VERSION
    before, kept = answers(index, documents), as_kept(index)
    assert all(urls for text, urls in before.items() if text.startswith('"'))
    assert answers(other, documents) == before
    assert index.search(SearchQuery("zzzzzz", principals=("staff",))).total == 0
    assert [index.bring_up_to_date(), index.bring_up_to_date(), other.bring_up_to_date()] == [
        True,
        False,
        False,
    ]
    for one in (index, other):
        assert one.facts().schema == SCHEMA_VERSION
        after = answers(one, documents)
        assert {text: urls - after[text] for text, urls in before.items() if urls - after[text]} == {}
        assert as_kept(one) == kept
        assert one.check() == []
        one.close()


def test_the_next_write_brings_it_up_to_date_as_well(old: IndexConfig) -> None:
    index = open_index(old)
    number = index.count()
    index.apply([IndexDocument("new", "http://h/new", "Kingfisher", "dives")])
    assert (index.count(), index.facts().schema) == (number + 1, SCHEMA_VERSION)
    assert index.search(SearchQuery("kingfisher")).total == 1
    index.close()


READER = """
import json, sys, threading
from pathlib import Path
from ultracrawl.index import SearchQuery
from ultracrawl.index.engines import IndexConfig, open_index

index = open_index(IndexConfig.from_json(sys.argv[1]))
totals, ended = [index.search(SearchQuery("")).total], threading.Event()
print("ready", flush=True)
threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
while not ended.is_set():
    totals.append(index.search(SearchQuery("", facets=("Mimetype",))).total)
totals.append(index.search(SearchQuery("")).total)
print(json.dumps([sorted(set(totals)), index.facts().schema]))
"""


def test_a_searcher_in_another_process_has_an_answer_all_the_time(old: IndexConfig) -> None:
    index = open_index(old)
    number = index.count()
    command = [sys.executable, "-c", READER, old.to_json()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
        assert index.bring_up_to_date()
        for _ in range(3):
            index.rebuild()
        told, _ = reader.communicate(timeout=60)
    assert json.loads(told) == [[number], SCHEMA_VERSION]
    index.close()
