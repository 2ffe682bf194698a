"""Link steps left at the URLs of a site with several starting points."""

from __future__ import annotations

from ultracrawl.rules.filters.reach import LinkReach
from ultracrawl.rules.urls.canonical import url_key

GRAPH = {"a": "b", "b": "c", "c": "da", "d": "", "x": "c"}


def reach_of(*urls: str) -> LinkReach:
    reach = LinkReach(lambda url: 0 if url in GRAPH else None)
    for url in urls or GRAPH:
        reach.note_url(url)
    return reach


def links_of(key: int) -> list[int]:
    return [url_key(link) for url, links in GRAPH.items() if url_key(url) == key for link in links]


def left(reach: LinkReach) -> dict[str, int | None]:
    return {url: reach.left(url_key(url)) for url in GRAPH}


def test_the_most_that_any_way_allows_is_left() -> None:
    reach = reach_of()
    reached = reach.lead_to([(url_key("a"), 1), (url_key("x"), 2)], links_of)
    assert left(reach) == {"a": 1, "b": 0, "x": 2, "c": 1, "d": 0}
    assert set(reached) == {url_key(url) for url in "abxcd"}
    assert not reach.is_beyond("d")


def test_what_is_too_far_is_beyond_until_a_better_way_is_found() -> None:
    reach = reach_of()
    reach.lead_to([(url_key("a"), 0)], links_of)
    assert [url for url in GRAPH if reach.is_beyond(url)] == ["b", "c", "d"]
    assert set(reach.lead_to([(url_key("x"), 1)], links_of)) == {url_key("x"), url_key("c")}
    assert [url for url in GRAPH if reach.is_beyond(url)] == ["b", "d"]
    assert reach.lead_to([(url_key("x"), 1)], links_of) == [], "no better way"


def test_urls_of_other_sites_and_of_a_former_run_are_not_known() -> None:
    reach = reach_of("a", "b")
    assert reach.note_url("elsewhere") is None
    reach.lead_to([(url_key("a"), 0)], links_of)
    assert (reach.site(url_key("b")), reach.left(url_key("c"))) == (0, None)
    reach.begin_run()
    assert (reach.site(url_key("b")), reach.is_beyond("b")) == (None, False)
