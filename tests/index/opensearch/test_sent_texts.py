"""What servers send for a page of hits: the texts that decide it; and its hits are those of another engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from index.conftest import ATTRIBUTES, document
from support.opensearch import Open

from ultracrawl.index import IndexEngine, SearchQuery
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.hits.ties import RERANK_LIMIT
from ultracrawl.index.opensearch.server import Servers

pytestmark = pytest.mark.servers

WORDS = " ".join(f"word{number}" for number in range(80))
"""Enough words for a text that is compared with others."""
BIRDS = [
    document(
        f"/{number:02}",
        f"a heron waits {number} " + "water " * (number % 4),
        f"Bird {number}",
        Size=[number % 3],
    )
    for number in range(70)
]
COPIES = [
    *(document(f"/{version:02}/heron", f"the heron {WORDS}", "The heron") for version in range(48)),
    *(
        document(f"/other/{number:02}", f"the heron {'x' * number}", f"Other {number}")
        for number in range(30)
    ),
]


class Sent:
    """What searches were sent."""

    def __init__(self) -> None:
        self.requests = 0
        self.texts = 0
        """Documents with a text."""

    def note(self, answer: Any) -> None:
        """Count what is in an answer."""
        self.requests += 1
        self.texts += sum(
            "text" in one.get("_source", {}).get("stored", ()) for one in answer["hits"]["hits"]
        )


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    counted = Sent()
    ask = Servers.ask

    def noted(servers: Servers, method: str, path: str, *rest: Any, **parameters: Any) -> Any:
        answer = ask(servers, method, path, *rest, **parameters)
        if path.endswith("_search"):
            counted.note(answer)
        return answer

    monkeypatch.setattr(Servers, "ask", noted)
    return counted


@pytest.fixture
def other(tmp_path: Path) -> Iterator[IndexEngine]:
    """An index in a folder."""
    made = open_index(IndexConfig("whoosh", tmp_path / "whoosh", tuple(ATTRIBUTES.values())))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        (SearchQuery("heron", fold_copies=True), RERANK_LIMIT),
        (SearchQuery("heron", fold_copies=True, offset=20), RERANK_LIMIT),
        (SearchQuery("heron", fold_copies=True, offset=50), 60),
        (SearchQuery("heron", sort="Size"), 10),
        (SearchQuery("heron", sort="-Title", offset=30, limit=5), 5),
        (SearchQuery("heron", sort="Doc-Type", offset=100_000), 0),
        (SearchQuery("bir", completing=True), 0),
        (SearchQuery("heron", limit=0), 0),
    ],
    ids=["words", "page 3", "page 6", "sorted", "descending", "too far", "completing", "count"],
)
def test_a_page_takes_two_requests_and_the_texts_that_decide_it(
    opened: Open, sent: Sent, query: SearchQuery, texts: int
) -> None:
    index = opened()
    index.apply(BIRDS)
    index.search(query)  # it learns the languages
    sent.requests = sent.texts = 0
    assert index.search(query).total == len(BIRDS)
    assert sent.texts == texts
    assert sent.requests <= 2


@pytest.mark.parametrize("offset", [0, 10, 45, 60])
@pytest.mark.parametrize("text", ["heron", "the heron"])
def test_pages_with_many_copies_are_those_of_another_engine(
    opened: Open, other: IndexEngine, text: str, offset: int
) -> None:
    index = opened()
    pages = []
    for one in (index, other):
        one.apply(COPIES)
        result = one.search(SearchQuery(text, fold_copies=True, offset=offset))
        pages.append((result.total, [(hit.url, sorted(hit.also_at)) for hit in result.hits]))
    assert pages[0] == pages[1]
    if not offset:
        assert len(pages[0][1]) == 10, "others come in place of copies"


@pytest.mark.parametrize("sort", ["Size", "-Size", "Title", "Doc-Type"])
def test_sorted_pages_and_their_snippets_are_those_of_another_engine(
    opened: Open, other: IndexEngine, sort: str
) -> None:
    index = opened()
    index.apply(BIRDS)
    other.apply(BIRDS)
    for offset in range(0, 50, 5):
        query = SearchQuery("heron", sort=sort, offset=offset, limit=5)
        found = [[(hit.url, hit.snippet) for hit in one.search(query).hits] for one in (index, other)]
        assert found[0] == found[1]
        assert all("heron" in snippet for _, snippet in found[0])
