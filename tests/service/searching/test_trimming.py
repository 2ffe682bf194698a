"""Each requester finds what it may see, and nothing else counts for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from service.searching.conftest import ANYBODY, Birds

from ultracrawl.errors import NotFoundError, UserError
from ultracrawl.index.searching import Searcher
from ultracrawl.service.access.requester import Requester
from ultracrawl.service.searching.orders import (
    DocumentOrder,
    Order,
    SearchOrder,
    SuggestOrder,
)

LAKE = replace(ANYBODY, sources=("lake",))
NOTHING = replace(ANYBODY, sources=())
STAFF = replace(ANYBODY, principals=("staff",))


def problem_of(birds: Birds, requester: Requester, order: Order) -> UserError:
    with pytest.raises(UserError) as raised:
        birds.ask(requester, order)
    return raised.value


@pytest.mark.parametrize(
    ("requester", "titles"),
    [
        (ANYBODY, {"Heron", "Egret", "Gull"}),
        (STAFF, {"Heron", "Egret", "Gull", "Ring"}),
        (LAKE, {"Heron", "Egret"}),
        (NOTHING, set()),
    ],
    ids=["anybody", "staff", "lake", "nothing"],
)
def test_hits_are_those_that_the_requester_may_see(
    birds: Birds, requester: Requester, titles: set[str]
) -> None:
    found = birds.ask(requester, SearchOrder("heron"))
    assert {hit["title"] for hit in found["hits"]} == titles
    assert found["total"] == len(titles)


def test_other_sources_do_not_exist_for_a_requester_with_sources(birds: Birds) -> None:
    assert birds.ask(LAKE, SearchOrder("gull"))["total"] == 0
    assert birds.ask(LAKE, SearchOrder("gulll"))["suggestion"] == ""
    assert birds.ask(ANYBODY, SearchOrder("gulll"))["suggestion"] == "gull"
    assert birds.ask(LAKE, SuggestOrder("gu"))["completions"] == []
    assert birds.ask(LAKE, SearchOrder("heron", groups=("birds",)))["total"] == 2
    hidden, unknown = (
        [
            SearchOrder("heron", sources=(source,)),
            SearchOrder("heron", groups=(group,)),
            SearchOrder(like=url),
            SuggestOrder("gu", sources=(source,)),
            DocumentOrder(source, url),
        ]
        for source, group, url in (
            ("sea", "coast", "http://sea.example/gull"),
            ("sky", "cloud", "http://sea.example/none"),
        )
    )
    for order, other in zip(hidden, unknown, strict=True):
        problems = [str(problem_of(birds, LAKE, one)) for one in (order, other)]
        named = problems[0].replace("'sea'", "'sky'").replace("'coast'", "'cloud'").replace("gull", "none")
        assert named == problems[1]


def test_a_document_is_shown_to_its_readers(birds: Birds) -> None:
    order = DocumentOrder("sea", "http://sea.example/ring")
    assert birds.ask(STAFF, order)["title"] == "Ring"
    with pytest.raises(NotFoundError):
        birds.ask(ANYBODY, order)


def test_a_searcher_within_sources_leaves_out_all_others(birds: Birds) -> None:
    with Searcher(birds.project, within=["sea"]) as searcher:
        assert [hit.title for hit in searcher.search("heron")] == ["Gull"]
        assert searcher.count() == 1
        assert searcher.document("sea", "http://sea.example/gull") is not None
