"""Samples of the manual of FAST collections as printed, played on the hosts that they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from support.clock import AHEAD
from support.fast import fast_xml
from support.hosts import PUBLIC, Hosts
from support.in_process import InProcessWorkspace
from support.project import Ended
from ultracrawl.sources import DataSource, require
from ultracrawl.sources.dialects import read_definitions

_FILE = Path(__file__).parents[1] / "dialects/fast_xml/printed.xml"
HOUR, DAY = 3600.0, 86_400.0
FILE = "collection.xml"
START = "https://www.example.com/"
HOME = "www.example.com/"
BASE: dict[str, Any] = {
    "start_uris": (START,),
    "allowed_schemes": ("http", "https"),
    "delay": 0.0,
    "max_pending": 1,
    "use_sitemaps": False,
    "enforce_delay_per_ip": False,
}
NAMES = dict.fromkeys(
    (
        *(
            f"{one}.example.com"
            for one in ("handbook", "www", "old", "mirror", "docs", "dead", "news", "closed")
        ),
        *(
            f"{one}.example.com"
            for one in ("archive", "members", "forum", "shop", "checkout", "slow", "login")
        ),
        *("other.example.net", "images.example.net", "xn--bcher-kva.example.com", "a.press.example.com"),
    ),
    PUBLIC,
)


def printed(line: int) -> str:
    """Return the sample of a line."""
    found = re.search(
        rf'<sample line="{line}">\n(.*?)</sample>', _FILE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert found, line
    return found[1]


def lines() -> list[int]:
    """Return the lines of all samples."""
    return [int(one) for one in re.findall(r'<sample line="(\d+)">', _FILE.read_text(encoding="utf-8"))]


@dataclass
class Played:
    """A collection that is crawled, and its hosts."""

    workspace: InProcessWorkspace
    hosts: Hosts
    env: Mapping[str, str] = field(default_factory=dict)
    ahead: float = 0.0

    @property
    def folder(self) -> Path:
        return self.workspace.directory

    def crawl(self, times: int = 1, *, later: float = 0.0) -> Ended:
        """Crawl, each time so many seconds later than before; the requests seen are those of the last crawl."""
        for _ in range(times):
            self.ahead += later
            self.hosts.reset()
            ended = self.workspace.crawl("-c", FILE, code=None, **{AHEAD: str(self.ahead), **self.env})
            assert ended.code in (0, 1), ended.err
        return ended

    def fan(self, *links: str, count: int = 0) -> None:
        """Put the start page on its host, with links and so many more to pages of the same host."""
        self.hosts.links(HOME, *links, *(f"/{number}" for number in range(count)))

    def asked(self, *paths: str) -> list[str]:
        """Return the places asked for in order without the start page; if paths are given, only those."""
        found = [place for place in self.hosts.asked() if place != HOME]
        return [place for place in found if not paths or place[place.index("/") :] in paths]

    def count(self, place: str) -> int:
        return self.hosts.asked().count(place)

    def found(self, *words: str) -> list[str]:
        """Return the places of the documents that are found."""
        hits = self.hits(*words or ("needle",))
        return sorted("".join(urlsplit(hit["url"])[1:3]) for hit in hits)

    def hits(self, *words: str) -> list[dict[str, Any]]:
        ended = self.workspace.command("search", "--json", "--as-typed", "-c", FILE, "--limit", "200", *words)
        return list(ended.json["hits"]) if ended.code == 0 else []

    def source(self, name: str = "handbook") -> DataSource:
        """Return what the file says, as it is read."""
        return require(read_definitions(self.folder / FILE)).sources[name]


Story = Callable[[Played], object]


class Printed(NamedTuple):
    """A story, and what is seen without the sample and with it; `beside` and `inside` are there both times."""

    story: Story
    without: object
    with_it: object
    beside: Mapping[str, Any] = {}
    inside: str = "SAMPLE"
    """Raw XML of the collection; the sample takes the place of the word."""
    files: Mapping[str, str] = {}
    names: Mapping[str, str] = {}
    env: Mapping[str, str] = {}


def play(folder: Path, case: Printed, sample: str) -> object:
    """Play the story of a case with a sample, or with none."""
    write(folder, case, sample)
    hosts = Hosts({**NAMES, **case.names})
    with hosts.up():
        return case.story(Played(InProcessWorkspace(folder), hosts, case.env))


def write(folder: Path, case: Printed, sample: str) -> None:
    """Write the collection of a case, and the files that it names."""
    for name, text in {"networks.txt": "127.0.0.0/8\n", **case.files}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    own = set(re.findall(r'^<attrib name="(\w+)"', sample, re.MULTILINE))
    options = {name: value for name, value in {**BASE, **case.beside}.items() if name not in own}
    (folder / FILE).write_text(
        fast_xml(options, inside=case.inside.replace("SAMPLE", sample)), encoding="utf-8"
    )
