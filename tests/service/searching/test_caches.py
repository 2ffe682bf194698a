"""What is kept for later searches is never older than the index, and can be turned off."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest
from service.searching.conftest import ANYBODY, DOCUMENTS, Birds, is_alive
from support.until import until

from ultracrawl.index import Change, Deletion
from ultracrawl.index.hits.document_cache import DocumentCache
from ultracrawl.index.project_index import open_index
from ultracrawl.index.searching import Searcher
from ultracrawl.service.searching.messages import Answer, Basis, Request
from ultracrawl.service.searching.orders import SearchOrder
from ultracrawl.service.searching.results import ResultCache

HERON = DOCUMENTS[0]
STAFF = replace(ANYBODY, principals=("staff",))
CHANGES = {
    "deleted": (Deletion(HERON.source, HERON.url), set()),
    "changed": (replace(HERON, title="Night heron", text="a grey heron at night"), {"Night heron"}),
    "private": (replace(HERON, acl=("staff",)), set()),
    "other words": (replace(HERON, text="no more words"), set()),
}


@pytest.mark.parametrize("result_cache", [0, 1_000_000], ids=["documents", "results"])
@pytest.mark.parametrize(("change", "titles"), CHANGES.values(), ids=CHANGES)
def test_nothing_that_was_found_before_a_commit_is_found_after_it(
    birds: Birds, change: Change, titles: set[str], result_cache: int
) -> None:
    birds.serve(result_cache=result_cache)
    for _ in range(2):
        assert birds.titles("grey") == ["Heron"]
    birds.put(change)
    for _ in range(2):
        assert set(birds.titles("grey")) == titles
    birds.put(HERON)
    assert birds.titles("grey") == ["Heron"]
    index = open_index(birds.project)
    index.optimise()
    index.close()
    assert birds.titles("grey") == ["Heron"], "all documents have another place"
    assert birds.titles("white") == ["Egret"]


def test_results_are_kept_for_those_who_see_the_same(birds: Birds) -> None:
    assert birds.titles("ringed") == []
    assert birds.titles("ringed", STAFF) == ["Ring"]
    assert birds.titles("ringed") == []
    assert birds.titles("ringed", replace(STAFF, sources=("lake",))) == []


@pytest.mark.parametrize("result_cache", [0, 1_000_000])
def test_a_result_that_is_kept_needs_no_process(birds: Birds, result_cache: int) -> None:
    birds.serve(result_cache=result_cache)
    birds.titles("heron")
    (pid,) = birds.searching.pids()
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))
    assert birds.titles("heron") == ["Egret", "Gull", "Heron"]
    assert (birds.searching.pids() == [pid]) == bool(result_cache)


def test_results_are_dropped_with_the_definitions(birds: Birds) -> None:
    assert birds.titles("heron") == ["Egret", "Gull", "Heron"]
    birds.define(search={"pins": [{"query": "heron", "urls": ["http://lake.example/egret"]}]})
    birds.project = birds.read()
    assert birds.ask(ANYBODY, SearchOrder("heron"))["hits"][0]["title"] == "Egret"


def test_the_cache_of_results_keeps_to_its_size_and_age(birds: Birds) -> None:
    now = [0.0]
    cache = ResultCache(5000, lambda: now[0])
    index = open_index(birds.project)
    basis = Basis("default", index.commit_id(), {})  # type: ignore[attr-defined]  # not every engine has it
    index.close()
    requests = [Request(SearchOrder(str(number)), (), None) for number in range(10)]
    cache.find(birds.project, requests[0])
    for request in requests:
        cache.keep(birds.project, request, Answer({"hits": "x" * 500}, basis=basis))
    assert [one in cache for one in requests] == [False] * 7 + [True] * 3
    assert cache.find(birds.project, requests[-1]) == {"hits": "x" * 500}
    cache.keep(birds.project, requests[0], Answer({"hits": ""}))
    assert requests[0] not in cache, "it has no basis"
    now[0] = 700.0
    assert cache.find(birds.project, requests[-1]) is None
    cache.close()


@pytest.mark.parametrize("size", [0, 1_000_000])
def test_documents_are_decoded_once_if_they_are_kept(
    birds: Birds, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[object] = []
    searcher_module = f"ultracrawl.index.{birds.engine}.index_searcher"
    import importlib

    module = importlib.import_module(searcher_module)
    decode = module.stored_document

    def counted(*where: object) -> object:
        decoded.append(where)
        return decode(*where)

    monkeypatch.setattr(module, "stored_document", counted)
    with Searcher(birds.project, document_cache=size) as searcher:
        searcher.search("heron")
        first = len(decoded)
        searcher.search("egret")
    assert first == 3
    assert len(decoded) == (3 if size else 4)


def test_what_is_kept_changes_no_answer(birds: Birds) -> None:
    texts = (
        "heron",
        "the heron",
        "heron -egret",
        "-heron gull",
        "heron OR gull",
        '"the heron"',
        "grey heron",
        "he*",
    )
    birds.put(Deletion(HERON.source, HERON.url))
    with (
        Searcher(birds.project) as keeping,
        Searcher(birds.project, document_cache=0) as other,
    ):
        for text in (*texts, *texts[::-1]):
            boosts = {DOCUMENTS[1].url: 3.0} if text == "heron OR gull" else {}
            assert keeping.search(text, boosts=boosts) == other.search(text, boosts=boosts), text


def test_the_cache_keeps_what_was_used_last_up_to_its_size() -> None:
    cache, read = DocumentCache(10_400), []

    def document(number: int) -> str:
        def decode() -> object:
            read.append(number)
            return replace(HERON, text=f"{number} " * 500)

        return cache.document(("segment", number), decode).text  # type: ignore[arg-type]

    for number in (1, 2, 1, 3, 1, 4, 1, 5, 1):
        assert document(number).startswith(str(number))
    assert read == [1, 2, 3, 4, 5]
    document(2)
    assert read[-1] == 2
    text = "Grey HERON"
    assert cache.folded(text) == (b" grey heron", False)
    assert cache.folded(text) is cache.folded(text)
    for _ in range(2):
        scores = cache.scores("rare", lambda: {"segment": {1: 0.5}})
    assert cache.scores("rare", lambda: {}) is scores
    everywhere = {"segment": dict.fromkeys(range(1000), 0.5)}
    assert cache.scores("everywhere", lambda: everywhere) is everywhere
    assert cache.scores("everywhere", lambda: {}) == {}, "it would take the place of all others"
