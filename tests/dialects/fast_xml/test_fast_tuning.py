"""FAST options that tune what does not exist here: told once with the reason, and the crawl is the same."""

from __future__ import annotations

from typing import Any

import pytest
from support.fast import fast_xml
from support.in_process import InProcessWorkspace
from support.project import Workspace
from support.site import Site

from ultracrawl.dialects.fast_xml.options import OPTIONS

GROUPS: dict[str, dict[str, Any]] = {
    "fast_109": {"pp/use_dupservers": True},
    "fast_111": {"pp/stripe": 4},
    "fast_117_to_120": {
        "ppdup/format": "hashlog",
        "ppdup/cachesize": 8,
        "ppdup/stripes": 3,
        "ppdup/compact": False,
    },
    "fast_125_to_134": {
        "cachesize/duplicates": 10,
        "cachesize/screened": 10,
        "cachesize/smcomm": 10,
        "cachesize/mucomm": 10,
        "cachesize/wqcache": 10,
        "cachesize/crosslinks": None,
        "cachesize/routetab": 100,
        "cachesize/pp": 100,
        "cachesize/pp_pending": 100,
        "cachesize/aliases": 100,
    },
}


@pytest.fixture
def pages(site: Site) -> Site:
    for path in ("/a", "/copies/a", "/more/copies/a"):
        site.page(path, title="A", text="an aardvark and its copies", links=["/b"])
    site.page("/b", title="B", text="a badger")
    site.respond("/failing", status=500)
    site.page(
        "/", title="Home", links=["/a", "/copies/a", "/more/copies/a", "/failing", "/b"], text="beginning"
    )
    return site


def result(workspace: Workspace, url: str, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return what became of every URL of a crawl, and what `lint` says of its file."""
    start = {"start_uris": (f"{url}/",), "delay": 0.0, "max_pending": 1, "use_sitemaps": False}
    (workspace.directory / "collection.xml").write_text(fast_xml({**start, **options}))
    assert workspace.command("crawl", "--json", "-c", "collection.xml").code == 0
    rows = workspace.command("urls", "--json", "-c", "collection.xml").lines
    told = workspace.command("lint", "collection.xml").out.splitlines()
    kept = {row["access_url"]: (row["outcome"], row["status_code"], row["indexed"]) for row in rows}
    return kept, told


@pytest.mark.parametrize("group", GROUPS)
def test_sizes_and_servers_change_nothing_and_say_why(
    pages: Site, url: str, workspace: Workspace, tmp_path_factory: pytest.TempPathFactory, group: str
) -> None:
    plain, _ = result(InProcessWorkspace(tmp_path_factory.mktemp("plain")), url, {})
    tuned, told = result(workspace, url, GROUPS[group])
    assert tuned == plain
    for path in GROUPS[group]:
        section, _, name = path.partition("/")
        spec = OPTIONS.find(section, name)
        assert spec
        assert spec.no_effect
        lines = [line for line in told if f"handbook/{path} - " in line and "has no effect here" in line]
        assert len(lines) == 1, told
        assert spec.no_effect in lines[0]


@pytest.mark.parametrize(("most", "listed"), [(1, 1), (10, 2)], ids=["fast_110-1", "fast_110-10"])
def test_duplicates_beyond_the_bound_are_not_recorded(
    pages: Site, url: str, workspace: Workspace, most: int, listed: int
) -> None:
    result(workspace, url, {"pp/max_dupes": most})
    rows = workspace.command("urls", "--outcome", "DUPLICATE", "--json", "-c", "collection.xml").lines
    assert len(rows) == 2
    assert sum(bool(row["duplicate_of"]) for row in rows) == listed
