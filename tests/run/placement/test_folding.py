"""One URL that two sources have is one hit; both documents stay."""

from __future__ import annotations

import pytest
from support.project import LOOPBACK, Workspace
from support.site import Site

from ultracrawl.index import Hit, SearchQuery, SearchResult
from ultracrawl.index.searching import without_duplicate_urls


def options(url: str, group: str) -> dict[str, object]:
    return {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}, "groups": [group]}


def test_a_url_of_two_sources_is_one_hit(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="heron", links=["/a"])
    site.page("/a", title="Page", text="heron heron")
    workspace.write({"sources": {"a": options(url, "one"), "b": options(url, "two")}})
    workspace.crawl()
    found = workspace.command("search", "heron", "--json").json
    assert (found["total"], len(found["hits"])) == (2, 2)
    assert sorted(hit["url"] for hit in found["hits"]) == [f"{url}/", f"{url}/a"]
    assert len(workspace.indexed()) == 4
    for words in (("--source", "a"), ("--source", "b"), ("--group", "one"), ("--group", "two")):
        assert sorted(workspace.search("heron", *words)) == ["/", "/a"]


def hits(urls: str) -> list[Hit]:
    return [Hit(one, "", 0.0, "s", "", {}) for one in urls]


@pytest.mark.parametrize(
    ("documents", "offset", "limit", "shown", "total"),
    [
        ("abc", 0, 10, "abc", 3),
        ("aabbcc", 0, 10, "abc", 3),
        ("aabbcc", 0, 2, "ab", 5),
        ("aabbcc", 1, 2, "bc", 4),
        ("abab", 2, 2, "", 2),
        ("aaaaab", 0, 1, "a", 6),
        ("aaaaab", 1, 1, "b", 2),
        ("", 0, 10, "", 0),
    ],
)
def test_pages_of_folded_hits(documents: str, offset: int, limit: int, shown: str, total: int) -> None:
    def search(query: SearchQuery) -> SearchResult:
        page = hits(documents)[query.offset : query.offset + query.limit]
        return SearchResult(len(documents), tuple(page))

    found = without_duplicate_urls(SearchQuery("", offset=offset, limit=limit), search)
    assert ("".join(hit.url for hit in found.hits), found.total) == (shown, total)
