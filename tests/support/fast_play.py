"""Stories about options of FAST collections: what crawls of a site show, with an option and without it.

A story builds a site, crawls a file, changes the site, crawls again, and says what was seen: at the server, in the
documents, in the state. It is played twice; only the option differs, and both answers are as the case says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest

from support.clock import AHEAD
from support.fast import attrib, fast_xml
from support.ftp import FtpSite, Moody
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import Workspace
from support.proxy import Proxy
from support.server import Request
from support.site import Site
from ultracrawl.dialects.fast_xml.options import OPTIONS

HOUR, DAY = 3600.0, 86_400.0
HTML = (("Content-Type", "text/html"),)


@dataclass
class Play:
    """A site that is served on every address, and a collection that is crawled."""

    workspace: Workspace
    site: Site
    url: str
    ftp: FtpSite
    proxy: Proxy
    ftp_server: ExitStack
    ahead: float = 0.0

    @property
    def port(self) -> str:
        return str(urlsplit(self.url).port)

    def pages(self, *paths: str, links: tuple[str, ...] = (), **options: Any) -> None:
        """Put pages on the site, each with a title and a text of its own."""
        for path in paths:
            self.site.page(path, title=path, text=f"needle {path}", links=links, **options)

    def fill(self, **values: str) -> None:
        """Put what the story knows in the place of its names in the file."""
        file = self.workspace.directory / "collection.xml"
        text = file.read_text()
        for name, value in values.items():
            text = text.replace(name, value)
        file.write_text(text)

    def crawl(self, times: int = 1, *, later: float = 0.0, codes: tuple[int, ...] = (0, 1)) -> None:
        """Crawl, each time so many seconds later than before; the requests seen are those of the last crawl."""
        for _ in range(times):
            self.ahead += later
            self.site.reset()
            ended = self.workspace.command(
                "crawl", "--json", "-c", "collection.xml", **{AHEAD: str(self.ahead)}
            )
            assert ended.code in codes, ended.err

    def requests(self, *hidden: str) -> list[Request]:
        """Return the requests in their order, without those for robots.txt."""
        return sorted(
            (one for one in self.site.requests if one.path not in ("/robots.txt", *hidden)),
            key=lambda one: one.time,
        )

    def paths(self, *hidden: str) -> list[str]:
        return [one.path for one in self.requests(*hidden)]

    def hosts(self) -> list[str]:
        """Return the host of each request."""
        return [(one.header("Host") or "").partition(":")[0] for one in self.requests()]

    def gaps(self) -> list[float]:
        """Return the seconds between requests."""
        return [round(b.time - a.time, 1) for a, b in pairwise(self.requests())]

    def found(self, *words: str) -> list[str]:
        """Return the paths of the documents that are found."""
        ended = self.workspace.command(
            "search", "--json", "--as-typed", "-c", "collection.xml", "--limit", "100", *words
        )
        return sorted(urlsplit(hit["url"])[2] for hit in ended.json["hits"]) if ended.code == 0 else []


Story = Callable[[Play], object]


class Case(NamedTuple):
    """A story, what is seen without the options and with them; `beside` and `inside` are there both times."""

    story: Story
    without: object
    with_it: object
    options: Mapping[str, Any]
    beside: Mapping[str, Any] = {}
    inside: str = ""
    other: str = ""
    """Raw XML in the place of `inside` with the option."""


BASE: dict[str, Any] = {
    "start_uris": ("URL/",),
    "delay": 0.0,
    "max_pending": 2,
    "use_sitemaps": False,
    "robots": False,
}


def fan(play: Play, count: int = 4, **options: Any) -> None:
    """Put a start page on the site and pages that it links to."""
    paths = [f"/{number}" for number in range(count)]
    play.pages("/", links=tuple(paths))
    play.pages(*paths, **options)


def asked(path: str) -> Callable[[Play], object]:
    """Return what says whether a path was asked for."""
    return lambda play: path in play.paths()


def login_xml(**options: Any) -> str:
    """Return a login; the names of fields begin with an underscore."""
    given = {"site": "127.0.0.1:PORT", "form": "/enter", "_user": "robot", **options}
    own = "".join(attrib(name, f"Login/{name}", one) for name, one in given.items() if name[0] != "_")
    fields = "".join(
        attrib(name[1:], f"Login/parameters/{name[1:]}", one) for name, one in given.items() if name[0] == "_"
    )
    return f'<Login name="main">{own}<section name="parameters">{fields}</section></Login>'


def text_of(case: Case, *, with_it: bool) -> str:
    """Return the file of a story, with names in the place of addresses."""
    options = {**BASE, **case.beside, **(case.options if with_it else {})}
    return fast_xml(options, inside=(case.other if with_it else "") or case.inside)


def play(folder: Path, case: Case, *, with_it: bool, real: bool) -> object:
    """Play a story, with the option or without it; `real`: beside what is no part of this process."""
    workspace = Workspace(folder) if real else InProcessWorkspace(folder)
    site, served = Site() if real else NetworkSite(), FtpSite(folder / "served")
    served.root.mkdir()
    text = text_of(case, with_it=with_it)
    with site.serve(host="0.0.0.0") as address, ExitStack() as ftp_server:
        port = str(urlsplit(address).port)
        proxy = ftp_server.enter_context(Proxy({f"127.0.0.1:{port}": int(port)}))
        text = text.replace("PROXY", proxy.url)
        url = f"http://127.0.0.1:{port}"
        if "FTP" in text:
            text = text.replace("FTP", ftp_server.enter_context(served.serve(handler=Moody)))
        (folder / "networks.txt").write_text("127.0.0.0/8\n::1/128\n")
        (folder / "collection.xml").write_text(text.replace("URL", url).replace("PORT", port))
        return case.story(Play(workspace, site, url, served, proxy, ftp_server))


Place = tuple[str, ...]


def options_in(element: ElementTree.Element, section: str = "") -> Iterator[tuple[Place, int, Place]]:
    """Yield the options below a collection or section: the place of each, its number, and its values."""
    for one in element:
        name = one.get("name", "")
        if one.tag == "attrib":
            spec = OPTIONS.find(section, name)
            assert spec is not None, f"{section}/{name}"
            yield (name,), spec.number, tuple(text.strip() for text in one.itertext() if text.strip())
            continue
        inner = OPTIONS.section(section, name if one.tag == "section" else one.tag)
        assert inner is not None, f"{section}/{name}"
        for place, number, values in options_in(one, inner):
            yield (one.tag, name, *place), number, values


def differing(one: str, other: str) -> set[int]:
    """Return the numbers of the options that are not the same in two files."""
    first, second = (
        {(made.get("name"), *found) for made in ElementTree.fromstring(text) for found in options_in(made)}
        for text in (one, other)
    )
    return {number for _, _, number, _ in first ^ second}


def play_both(number: int, case: Case, folders: pytest.TempPathFactory, *, real: bool = False) -> object:
    """Play a story without the option and with it, and return what was seen; nothing else may differ."""
    assert case.without != case.with_it
    assert differing(text_of(case, with_it=False), text_of(case, with_it=True)) == {number}
    return tuple(
        play(folders.mktemp(f"fast-{number}"), case, with_it=with_it, real=real) for with_it in (False, True)
    )
