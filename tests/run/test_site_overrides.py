"""`sites.overrides`: each option changes what a crawl does at its site, and nothing at the neighbour that is alike.

A case is looked at in two runs; without the override both sites are as the
neighbour is with it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from support.network import NetworkSite
from support.project import Workspace
from support.server import Reply, Request
from support.site import Site

ONE, OTHER = "127.0.0.1", "127.0.0.2"
PAGES = [f"/p{number}" for number in range(5)]
WEEK = {f"{day}:00-{day}:24": 9 for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")}


class Seen(NamedTuple):
    """What a crawl showed of one site."""

    requests: list[Request]
    words: set[str]
    """The words of `WORDS` that find a document of the site."""
    titles: set[str]
    """The titles of the sections that were found with the word `needle`."""

    @property
    def pages(self) -> list[Request]:
        return [one for one in self.requests if one.path not in ("/robots.txt", "/sitemap.xml", "/")]

    @property
    def gap(self) -> float:
        times = [one.time for one in self.pages]
        return max((late - early for early, late in pairwise(times)), default=0.0)

    def asked(self, *paths: str) -> list[bool]:
        return [any(one.path == path for one in self.requests) for path in paths]


WORDS = ("alpha", "beta", "gamma", "menu")
Build = Callable[[Site], None]
Look = Callable[[Seen], object]


def plain(site: Site) -> None:
    site.page("/", title="Home", links=PAGES)
    for page in PAGES:
        site.page(page, title=page, text="words")


def slow(site: Site) -> None:
    site.page("/", title="Home", links=PAGES)
    for page in PAGES:
        site.slow(page, 2.0, title=page)


def broken(site: Site) -> None:
    site.page("/", title="Home", links=PAGES)
    for page in PAGES:
        site.raw(page, b"")


def busy(site: Site) -> None:
    plain(site)
    site.respond("/p0", status=429, headers={"Retry-After": "30"})


def failing(site: Site) -> None:
    site.page("/", title="Home", links=["/p0"])
    site.respond("/p0", status=503)


def behind(**page: Any) -> Build:
    def build(site: Site) -> None:
        site.page("/", title="Home", links=["/gate"])
        site.page("/gate", title="Gate", links=["/behind"], **page)
        site.page("/behind", title="Behind", text="words")

    return build


def late(site: Site) -> None:
    behind()(site)
    site.slow("/gate", 20.0, links=["/behind"])


def chain(site: Site) -> None:
    site.page("/", title="Home", links=["/r0"])
    for number in range(3):
        site.redirect(f"/r{number}", f"/r{number + 1}")
    site.page("/r3", title="End")


def queries(site: Site) -> None:
    site.page("/", title="Home", links=[f"/list?n={number}" for number in range(6)])
    for number in range(6):
        site.page(f"/list?n={number}", title=f"{number}")


def locked(site: Site) -> None:
    def answer(request: Request) -> Reply:
        if request.header("authorization"):
            return Reply(200, (("Content-Type", "text/html"),), b"<title>In</title><p>words</p>")
        return Reply(401, (("WWW-Authenticate", 'Basic realm="staff"'),), b"")

    site.page("/", title="Home", links=["/in"])
    site.dynamic("/in", answer)


def text(site: Site) -> None:
    body = (
        b"<title>Text</title><footer>menu</footer><div id=a class=here><h2>;One;</h2><p>alpha needle</div>"
        b"<div id=b><h2>Two</h2><p class=term id=t>Term</p><p>beta needle</div><p>gamma words of a page"
    )
    site.page("/", title="Home", links=["/text"])
    site.file("/text", body, "text/html")


def count(seen: Seen) -> int:
    return len({one.path for one in seen.pages if one.status in (200, 304)})


def passwords(seen: Seen) -> set[str]:
    return {one.header("authorization") or "" for one in seen.requests} - {""}


def in_first_second(seen: Seen) -> int:
    return sum(one.time < seen.pages[0].time + 1 for one in seen.pages)


class Case(NamedTuple):
    """One option: how sites are built, what is looked at, and what it is with and without the option."""

    override: dict[str, Any]
    build: Build
    look: Look
    there: object
    elsewhere: object


def politeness(build: Build, look: Look, there: object, elsewhere: object, **options: Any) -> Case:
    return Case({"politeness": options}, build, look, there, elsewhere)


def limits(build: Build, look: Look, there: object, elsewhere: object, **options: Any) -> Case:
    return Case({"limits": options}, build, look, there, elsewhere)


def content(look: Look, there: object, elsewhere: object, **options: Any) -> Case:
    return Case({"content": options}, text, look, there, elsewhere)


def reached(seen: Seen) -> list[bool]:
    return seen.asked("/gate", "/behind")


_LARGE = "<meta name=a content=b>" * 60_000
CASES = {
    "politeness.delay": politeness(plain, lambda seen: seen.gap >= 5, True, False, delay=7),
    "politeness.concurrency": politeness(slow, in_first_second, 1, 5, concurrency=1),
    "politeness.variable_delay": politeness(
        plain, lambda seen: seen.gap >= 6, True, False, variable_delay=WEEK
    ),
    "politeness.backoff.longest": politeness(
        broken, lambda seen: seen.gap >= 2, True, False, backoff={"longest": 60}
    ),
    "politeness.backoff.limit": politeness(
        broken, lambda seen: len(seen.pages) < 10, True, False, backoff={"limit": 2}, concurrency=1
    ),
    "politeness.longest_retry_after": politeness(
        busy, lambda seen: seen.gap >= 25, False, True, longest_retry_after=1
    ),
    "politeness.throttle": politeness(
        slow, lambda seen: seen.gap >= 10, True, False, throttle=0.1, backoff={"longest": 60}, concurrency=1
    ),
    "limits.max_size": limits(behind(text="x" * 5000), reached, [True, False], [True, True], max_size=3000),
    "limits.timeout": limits(late, reached, [True, False], [True, True], timeout=10, retries=0),
    "limits.redirects": limits(
        chain, lambda seen: seen.asked("/r1", "/r3"), [True, False], [True, True], redirects=1
    ),
    "limits.pages_per_site": limits(plain, count, 2, 5, pages_per_site=3),
    "limits.nodes_per_page": limits(
        behind(head="<meta name=a content=b>" * 50), reached, [True, False], [True, True], nodes_per_page=20
    ),
    "limits.links_per_page": limits(plain, count, 2, 5, links_per_page=2),
    "limits.seconds_per_page": limits(
        behind(head=_LARGE), reached, [True, False], [True, True], seconds_per_page=0.000001, retries=0
    ),
    "limits.urls_per_site": limits(plain, count, 3, 5, urls_per_site=3),
    "limits.query_variations": limits(queries, count, 2, 6, query_variations=2),
    "limits.retries": limits(failing, lambda seen: len(seen.pages), 5, 2, retries=4),
    "limits.retry_delay": limits(failing, lambda seen: seen.gap >= 20, True, False, retry_delay=20),
    "authentication": Case(
        {"authentication": {"staff": {"user": "crawler", "password": "secret", "realm": "staff"}}},
        locked,
        passwords,
        {f"Basic {b64encode(b'crawler:secret').decode()}"},
        set(),
    ),
    "content.include": content(lambda seen: seen.words, {"alpha"}, {"alpha", "beta", "gamma"}, include="#a"),
    "content.exclude": content(
        lambda seen: seen.words, {"alpha", "gamma"}, {"alpha", "beta", "gamma"}, exclude="#b"
    ),
    "content.main": content(
        lambda seen: seen.words, {"alpha", "beta", "gamma", "menu"}, {"alpha", "beta", "gamma"}, main="off"
    ),
    "content.required": content(
        lambda seen: seen.words, set(), {"alpha", "beta", "gamma"}, required=".not-there"
    ),
    "content.pages": content(
        lambda seen: seen.words,
        {"beta"},
        {"alpha", "beta", "gamma"},
        pages=[{"urls": [{"regexp": ".*/text"}], "include": "#b"}],
    ),
    "content.strip": content(lambda seen: "One" in seen.titles, True, False, strip=";"),
    "content.levels": content(lambda seen: "Term" in seen.titles, True, False, levels=["h2", ".term"]),
}


@pytest.fixture
def pair(workspace: Workspace) -> Iterator[tuple[dict[str, NetworkSite], list[str]]]:
    """Two sites, by host, and the URLs of their home pages."""
    sites = {host: NetworkSite() for host in (ONE, OTHER)}
    with sites[ONE].serve(ONE) as one, sites[OTHER].serve(OTHER) as other:
        yield sites, [f"{one}/", f"{other}/"]


def define(workspace: Workspace, urls: list[str], override: dict[str, Any] | None, **options: Any) -> None:
    overrides = {"sites": {"overrides": {ONE: override}}} if override is not None else {}
    workspace.define(
        start_urls=urls,
        duplicates={"detect": False},
        errors={"http": {"5xx": "KEEP"}},
        **overrides,
        **options,
    )


def crawl(workspace: Workspace, sites: dict[str, NetworkSite]) -> dict[str, Seen]:
    for site in sites.values():
        site.reset()
    ended = workspace.crawl(code=None)
    assert ended.code in (0, 1), ended.err
    found: dict[str, tuple[set[str], set[str]]] = {host: (set(), set()) for host in sites}
    for word in (*WORDS, "needle"):
        for hit in workspace.command("search", "--json", "--as-typed", "--sections", "3", word).json["hits"]:
            words, titles = found[hit["url"].split("/")[2].partition(":")[0]]
            words.add(word)
            titles |= {section["title"] for section in hit.get("sections", ())}
    return {
        host: Seen(site.requests, found[host][0] - {"needle"}, found[host][1]) for host, site in sites.items()
    }


def looked(case: Case, seen: dict[str, Seen]) -> list[object]:
    return [case.look(seen[ONE]), case.look(seen[OTHER])]


@pytest.mark.parametrize("name", CASES)
def test_an_option_holds_at_its_site_only(
    pair: tuple[dict[str, NetworkSite], list[str]], workspace: Workspace, name: str
) -> None:
    sites, urls = pair
    case = CASES[name]
    for site in sites.values():
        case.build(site)
    define(workspace, urls, case.override)
    assert looked(case, crawl(workspace, sites)) == [case.there, case.elsewhere]
    assert looked(case, crawl(workspace, sites)) == [case.there, case.elsewhere], "in a second run"


@pytest.mark.parametrize("name", CASES)
def test_without_the_option_both_sites_are_alike(
    pair: tuple[dict[str, NetworkSite], list[str]], workspace: Workspace, name: str
) -> None:
    sites, urls = pair
    case = CASES[name]
    for site in sites.values():
        case.build(site)
    define(workspace, urls, None)
    assert looked(case, crawl(workspace, sites)) == [case.elsewhere, case.elsewhere]
