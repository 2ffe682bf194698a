"""FAST options with which a crawl is the same: what they tune does not exist here, and that is told with the reason."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from support.fast import fast_xml, number_of
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import Workspace

from ultracrawl.dialects.fast_xml.options import OPTIONS

SAME: dict[int, dict[str, Any]] = {
    65: {"wqfilter": False},
    66: {"smfilter": 8_000_000},
    67: {"mufilter": 8_000_000},
    68: {"umlogs": False},
    109: {"pp/use_dupservers": True},
    111: {"pp/stripe": 4},
    117: {"ppdup/format": "hashlog"},
    118: {"ppdup/cachesize": 8},
    119: {"ppdup/stripes": 3},
    120: {"ppdup/compact": False},
    125: {"cachesize/duplicates": 10},
    126: {"cachesize/screened": 10},
    127: {"cachesize/smcomm": 10},
    128: {"cachesize/mucomm": 10},
    129: {"cachesize/wqcache": 10},
    130: {"cachesize/crosslinks": None},
    131: {"cachesize/routetab": 100},
    132: {"cachesize/pp": 100},
    133: {"cachesize/pp_pending": 100},
    134: {"cachesize/aliases": 100},
}
DECLARED: dict[int, dict[str, Any]] = {122: {"feeding/site/destination": "elsewhere"}}
"""Options that have one value: every other is told, and read as it."""
FED = {"feeding/site/collection": "archive"}


class Seen:
    """A crawl that is over: what was asked for, what became of it, what is found, and what `lint` says of the file."""

    def __init__(self, workspace: Workspace, options: dict[str, Any]) -> None:
        site = NetworkSite()
        for path in ("/a", "/copies/a", "/more/copies/a"):
            site.page(path, title="A", text="an aardvark and its copies", links=["/b"])
        site.page("/b", title="B", text="a badger")
        site.respond("/failing", status=500)
        site.page("/", title="Home", links=["/a", "/copies/a", "/more/copies/a", "/failing", "/b"], text="a")
        with site.serve() as url:
            given = {"start_uris": (f"{url}/",), "delay": 0.0, "max_pending": 1, "use_sitemaps": False}
            (workspace.directory / "collection.xml").write_text(fast_xml({**given, **options}))
            assert workspace.command("crawl", "--json", "-c", "collection.xml").code == 0
        rows = workspace.command("urls", "--json", "-c", "collection.xml").lines
        hits = workspace.command("search", "--json", "--as-typed", "-c", "collection.xml", "a").json["hits"]
        self.asked = site.paths()
        self.outcomes = {
            urlsplit(row["access_url"])[2]: (row["outcome"], row["status_code"], row["indexed"])
            for row in rows
        }
        self.found = [urlsplit(hit["url"])[2] for hit in hits]
        self.told = workspace.command("lint", "collection.xml").out.splitlines()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """The crawl without any of them."""
    return Seen(InProcessWorkspace(tmp_path_factory.mktemp("plain")), FED)


@pytest.mark.parametrize("number", SAME | DECLARED, ids=lambda number: f"fast_{number}")
def test_the_crawl_is_the_same_and_the_reason_is_reported(
    plain: Seen, workspace: Workspace, number: int
) -> None:
    ((path, value),) = (SAME | DECLARED)[number].items()
    assert number_of(path) == number
    seen = Seen(workspace, {**FED, path: value})
    assert (seen.asked, seen.outcomes, seen.found) == (plain.asked, plain.outcomes, plain.found)
    assert len(seen.found) == 3
    (line,) = set(seen.told) - set(plain.told)
    assert f"handbook/{path} - " in line
    (reason,) = [spec.no_effect for spec in OPTIONS.all if spec.number == number]
    assert (reason or "N-RANGE") in line
