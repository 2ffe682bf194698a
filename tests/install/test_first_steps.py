"""The commands of the first steps in their order, with one source, by an installation of the plain wheel."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from documentation.pages import blocks, commands
from support.project import ROOT
from support.site import Site

from .installed import Installed, installed

pytestmark = [pytest.mark.servers, pytest.mark.timeout(600)]  # everything is really started

PAGE = ROOT / "docs" / "first-steps.md"
PAGES = ("/guide/", "/guide/index", "/guide/archive/2019", "/archive/2019", "/claims", "/old")
EXCLUDED = ["/archive/2019"]
NOT_HERE = {
    "pause handbook": 2,  # it is not being crawled
    "reindex handbook": 2,  # no response is stored
    "crawl -c collection.xml": 2,  # there is no such file
}
"""The exit codes of commands that need more than one source which was crawled."""


@pytest.fixture
def site() -> Site:
    site = Site()
    site.page("/", title="Handbook", text="needle create index", links=PAGES)
    for path in PAGES:
        site.page(path, title=f"Page {path}", text=f"needle heron of {path}")
    site.page(
        "/claims",
        title="Expense claim",
        text="needle expense claim",
        head='<meta name="author" content="Miller">',
    )
    return site


class Walk:
    """What a reader does: copy the commands, with another address."""

    def __init__(self, work: Installed, url: str) -> None:
        self.work, self.url = work, url

    def at_site(self, text: str) -> str:
        """Return a text with the address of the site in place of those of the page."""
        for host in ("docs.example.com", "handbook.example.com"):
            text = text.replace(f"https://{host}", self.url).replace(host, "127.0.0.1")
        return text

    def commands_with(self, beginning: str) -> Iterator[list[str]]:
        """Yield the commands of the block with a command."""
        (block,) = (block for block in blocks(PAGE, "console") if f"$ ultracrawl {beginning}" in block)
        for words in commands(block):
            yield [self.at_site(word) for word in words]

    def define(self, name: str = "handbook") -> None:
        """Write the definition file of the page; it needs no politeness here."""
        text = next(block for block in blocks(PAGE, "yaml") if "handbook:" in block)
        text = self.at_site(text).replace("handbook:", f"{name}:").replace("delay: 0.5", "delay: 0")
        (self.work.directory / "ultracrawl.yaml").write_text(text)

    def run(self, *words: str) -> None:
        written = shlex.join(words)
        if words[0] == "crawl" and self.url in written:
            words = (*words, "--delay", "0")
        words = (*words, "--yes") if words[0] in ("rename", "remove") else words
        ended = self.work.command(*words, timeout=90)
        assert ended.code == NOT_HERE.get(written, 0), (words, ended)
        assert "Traceback" not in ended.err

    def found(self) -> list[str]:
        """Return the paths of all hits; one that is found twice stands twice."""
        return sorted(self.work.search("needle"))


@pytest.mark.parametrize("python", [0, -1], ids=["oldest", "newest"])
def test_commands_in_their_order_leave_nothing_twice_nothing_excluded_and_nothing_stale(
    site: Site, url: str, tmp_path: Path, python: int
) -> None:
    walk = Walk(Installed(tmp_path, installed(python)), url)
    first, search, part = walk.commands_with("crawl https://docs.example.com/\n")
    walk.run(*first)
    walk.run(*search)
    assert walk.found() == sorted(["/", *PAGES])
    walk.run(*part)
    assert walk.found() == ["/guide/", "/guide/index"]
    walk.define()
    included = sorted({"/", *PAGES}.difference(EXCLUDED))
    for words in walk.commands_with("lint"):
        if words[0] == "rename":
            walk.define("staff")
        walk.run(*words)
        if words[0] == "crawl":
            assert walk.found() == included
        if words[0] == "remove":
            assert walk.found() == []
            walk.define()
            walk.run("crawl")


@pytest.mark.parametrize("python", [0, -1], ids=["oldest", "newest"])
def test_five_runs_follow_the_site_and_the_last_three_change_nothing(
    site: Site, url: str, tmp_path: Path, python: int
) -> None:
    work = Installed(tmp_path, installed(python))
    walk = Walk(work, url)
    site.page("/guide/index", title="Index", text="needle bittern")
    walk.run("crawl", f"{url}/")
    walk.define()
    runs = [work.done("crawl", "--json").run]
    assert (runs[0]["outcomes"], runs[0]["deleted"]) == ({"REINDEXED": 6}, 1), "made anew, with an author"
    site.remove("/old")
    site.page("/guide/index", title="Index", text="needle crane")
    site.page("/", title="Handbook", text="needle create index", links=[*PAGES, "/new", "/archive/new"])
    for path in ("/new", "/archive/new"):
        site.page(path, title="New", text=f"needle {path}")
    expected = ["/", "/claims", "/guide/", "/guide/archive/2019", "/guide/index", "/new"]
    for _ in range(4):
        runs.append(work.done("crawl", "--json").run)
        assert walk.found() == expected
        assert (work.search("crane"), work.search("bittern")) == (["/guide/index"], [])
    assert (runs[1]["outcomes"]["NEW"], runs[1]["outcomes"]["MODIFIED"], runs[1]["deleted"]) == (1, 2, 1)
    for run in runs[2:]:
        assert run["outcomes"] == {"GONE": 1, "NOT_MODIFIED": 6}
        assert (run["indexed"], run["deleted"], run["problems"]) == (0, 0, [])
    assert not any(site.count(path) for path in ("/archive/new",))
    assert work.done("index", "check").out == "Sound.\n"
