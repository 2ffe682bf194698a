"""Parts of the web that belong to other sources: who owns a URL that two of them name (FAST 5.32)."""

from __future__ import annotations

import pytest

from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.matcher import AreaRules
from ultracrawl.rules.boundary.rules import DomainRule, Kind, UriRule

HOSTS = (DomainRule(Kind.SUFFIX, "docs.example"),)
URIS = (UriRule(Kind.PREFIX, "http://a.example/docs/"),)
NOT_HOSTS = (DomainRule(Kind.EXACT, "old.docs.example"),)
NOT_URIS = (UriRule(Kind.PREFIX, "http://a.example/docs/old/"),)

AREAS = {
    "everything": AreaRules("docs"),
    "hosts": AreaRules("docs", hosts=HOSTS),
    "uris": AreaRules("docs", uris=URIS),
    "hosts or uris": AreaRules("docs", HOSTS, URIS, NOT_HOSTS, NOT_URIS),
    "all but": AreaRules("docs", except_hosts=NOT_HOSTS, except_uris=NOT_URIS),
}


@pytest.mark.parametrize(
    ("url", "owned"),
    [
        ("http://www.docs.example/x", {"everything", "hosts", "hosts or uris", "all but"}),
        ("http://old.docs.example/x", {"everything", "hosts"}),
        ("http://a.example/docs/x", {"everything", "uris", "hosts or uris", "all but"}),
        ("http://a.example/docs/old/x", {"everything", "uris"}),
        ("http://a.example/x", {"everything", "all but"}),
    ],
)
def test_fast_part_5_32_what_an_area_owns(url: str, owned: set[str]) -> None:
    refused = {name for name, area in AREAS.items() if Boundary(areas=[area]).rejects(url)}
    assert refused == owned
    told = {name for name, area in AREAS.items() if not Boundary(areas=[area]).check(url).accept}
    assert told == owned, "what the decisions say is what happens"
    for name in owned:
        assert Boundary(areas=[AREAS[name]]).rejects(url) == "belongs to docs"
