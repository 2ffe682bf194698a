"""What the manual prints, as it prints it: with each sample its text holds, and without it it does not.

Names are the lines of the specification. Every sample stands in a file of one collection, whose other options are the
same with and without it; both files are crawled, and what was seen is as said.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import pytest
from support import in_process
from support.certificates import Authority
from support.clock import wall_time
from support.fast import fast_xml
from support.fast_printed import (
    DAY,
    FILE,
    HOME,
    HOUR,
    START,
    Played,
    Printed,
    lines,
    play,
    printed,
    write,
)
from support.files import pdf
from support.ftp import FtpSite, Moody
from support.hosts import HTML
from support.in_process import InProcessWorkspace
from support.network import NetworkClient
from support.project import Workspace
from support.requirement import require
from support.resource import Html, Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.control import limits
from ultracrawl.sources.sections.recrawl.refresh import SitemapWeightsSection, WeightsSection
from ultracrawl.stores.documents.clustered import clusters_of

pytestmark = pytest.mark.servers  # much time


def gaps(times: list[float]) -> list[float]:
    return [b - a for a, b in pairwise(times)]


def smallest(times: list[float]) -> float:
    """Return the smallest gap between requests, to half a second."""
    return round(2 * min(gaps(times))) / 2


# ---- options of collections


def starting(play: Played) -> object:
    play.hosts.links(
        "handbook.example.com/", "http://handbook.example.com/clear", "https://other.example.net/"
    )
    play.crawl()
    (row,) = [
        row
        for row in play.workspace.command("admin", "list", "--json", "-c", FILE).lines
        if row["name"] == "handbook"
    ]
    return sorted(set(play.hosts.asked())), row["info"]


OUTSIDE = (
    'SAMPLE</DomainSpecification><DomainSpecification name="outside_links">'
    '<attrib name="start_uris" type="list-string"><member>https://archive.example.com/</member></attrib>'
    '<attrib name="delay" type="real">0</attrib>'
)
REWRITTEN = tuple(
    sorted(
        (
            *("a.png", "b.zip", "c.tar", "d.GZ", "e.html", "p;sid=0af", "s?b=2&a=1", "w/w/w", "w/w/w/w"),
            *("https://old.example.com/q", "https://mirror.example.com/m"),
        )
    )
)


def rewritten(play: Played) -> tuple[str, ...]:
    play.fan(*REWRITTEN)
    play.crawl()
    return tuple(sorted(url(place) for place in play.asked()))


def url(place: str) -> str:
    """Return the URL of a place, and of the start page's host the path."""
    return place.removeprefix(HOME) if place.startswith(HOME) else f"https://{place}"


def paced(play: Played) -> object:
    """Return whether 2.5 s are between requests to an address, how often a dead host is asked, and how far apart."""
    for number in range(30):
        play.hosts.put(f"dead.example.com/{number}", Reply(raw=True))
    play.fan("/1", "https://docs.example.com/2", "/3", *(f"https://dead.example.com/{n}" for n in range(30)))
    play.crawl()
    pages = play.hosts.pages()
    alive = [one.time for one in pages if one.header("Host") != "dead.example.com"]
    dead = [one.time for one in pages if one.header("Host") == "dead.example.com"]
    return smallest(alive) >= 2.5, len(dead), round(max(gaps(dead)))


def transported(play: Played) -> object:
    """Return how requests are sent, through which proxies and how many redirects are followed."""
    Authority(play.folder).issue("client")
    tls = play.folder / "tls"
    tls.mkdir()
    for ending in ("pem", "key"):
        (play.folder / f"client.{ending}").rename(tls / f"client.{ending}")
    for number in range(9):
        to = Reply(301, (("Location", f"/moved-{number + 1}"),))
        play.hosts.put(f"www.example.com/moved-{number}", to)
    play.fan("/moved-0", "/1", "/2")
    with proxies() as through:
        play.crawl()
    sent = play.hosts.pages()[0]
    moved = sum("/moved-" in place for place in play.asked())
    return sent.header("User-Agent"), sent.header("Accept-Language"), sorted(set(through)), moved


@contextmanager
def proxies() -> Iterator[list[str]]:
    """Go to the hosts where a proxy is to be used, and list the proxies."""
    through: list[str] = []

    class Client(NetworkClient):
        async def fetch(self, request: Any) -> Any:
            through.append(request.meta.pop("proxy", ""))
            return await super().fetch(request)

    with mock.patch.object(in_process, "NetworkClient", Client):
        yield through


def robots(play: Played) -> object:
    """Return what is asked for beside rules, a closed robots.txt and one that never comes, and how far apart."""
    rules = b"User-agent: *\nDisallow: /private\nCrawl-delay: 7\n"
    play.hosts.file("www.example.com/robots.txt", rules, "text/plain")
    play.hosts.put("closed.example.com/robots.txt", Reply(403))
    play.hosts.put("slow.example.com/robots.txt", Reply(200, delay=40.0))
    play.hosts.links("www.example.com/quiet", "/behind", robots="nofollow")
    urls = "<url><loc>https://www.example.com/mapped</loc></url>"
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()
    play.hosts.file("www.example.com/sitemap.xml", body, "application/xml")
    play.fan("/private", "/quiet", "https://closed.example.com/", "https://slow.example.com/")
    play.crawl()
    own = [one.time for one in play.hosts.pages() if one.header("Host") == "www.example.com"]
    gap = smallest(own)
    found = sorted(play.asked())
    play.crawl(later=13 * HOUR)
    return found, gap, play.hosts.count("/robots.txt") > 0


def types(play: Played) -> object:
    """Return which of several types, sizes and redirects of pages are found."""
    page = Html("t", text="needle").render()
    long = Html("long", text="needle " + "word " * 400_001).render()
    play.hosts.file("www.example.com/table", b"needle,b", "text/csv")
    play.hosts.file("www.example.com/picture", Html("picture", text="needle").render(), "image/png")
    play.hosts.file("www.example.com/page", page, "text/html")
    play.hosts.file("www.example.com/long", long, "text/html")
    for seconds in (4, 5, 6):
        head = f'<meta http-equiv="refresh" content="{seconds}; url=/after-{seconds}">'
        play.hosts.links(f"www.example.com/wait-{seconds}", head=head)
    play.fan("/table", "/picture", "/page", "/long", "/wait-5", "/wait-6")
    play.crawl()
    return [place.removeprefix(HOME) for place in play.found() if place != HOME]


def extracted(play: Played) -> object:
    """Return which links of a WML deck, of a page and of its duplicate are followed."""
    deck = b'<?xml version="1.0"?><wml><card><p>needle<a href="/of-wml">x</a></p></card></wml>'
    play.hosts.file("www.example.com/deck", deck, "text/vnd.wap.wml")
    page = Html("same", ("/of-html",), "needle same").render()
    for name in ("one", "two"):
        own = page.replace(b"</head>", f'<link rel=help href="/of-{name}"></head>'.encode())
        play.hosts.file(f"www.example.com/{name}", own, "text/html")
    play.fan("/deck", "/one", "/two")
    play.crawl()
    return sorted(place.removeprefix(HOME) for place in play.asked() if "/of-" in place)


TEXT = "the same long text about beavers, otters and badgers that live near the water of the river " * 8


def copies(play: Played) -> object:
    """Return how many of two pages are found that differ in a word, in META and behind 65,536 bytes."""
    parts = {
        "word": ({"text": TEXT + "one"}, {"text": TEXT + "two"}),
        "meta": ({"head": '<meta name="team" content="a">'}, {"head": '<meta name="team" content="b">'}),
    }
    for name, pair in parts.items():
        for number, own in enumerate(pair):
            page = Html("t", **{"text": f"needle {name}", **own})  # type: ignore[arg-type]
            play.hosts.file(f"www.example.com/{name}-{number}", page.render(), "text/html")
    for number in range(2):
        body = b"needle far " + b"x " * 33_000 + f"{number}".encode()
        play.hosts.file(f"www.example.com/far-{number}", body, "text/plain")
    play.fan(*(f"/{name}-{number}" for name in ("word", "meta", "far") for number in range(2)))
    play.crawl()
    found = play.found("") + play.found("needle", "OR", "beavers")
    return {name: len({one for one in found if f"/{name}-" in one}) for name in ("word", "meta", "far")}


def session(play: Played) -> object:
    """Return with which requests a cookie comes that the start page sets, and whether a slow login lets us in."""
    page = Html("home", (*(f"/{number}" for number in range(4)), "https://members.example.com/"))
    play.hosts.put(HOME, Reply(200, (HTML, ("Set-Cookie", "door=open; Path=/")), page.render()))
    play.hosts.put(
        "login.example.com/enter", Reply(200, (HTML, ("Set-Cookie", "s=1; Path=/")), b"in", delay=60.0)
    )
    play.crawl()
    own = [one for one in play.hosts.pages() if one.header("Host") == "www.example.com"]
    return [one.header("Cookie") for one in own], play.count("members.example.com/") > 0


CLUB = (
    'SAMPLE<Login name="club"><attrib name="scheme" type="string">https</attrib>'
    '<attrib name="site" type="string">login.example.com</attrib>'
    '<attrib name="form" type="string">/enter</attrib>'
    '<attrib name="sites" type="list-string"><member>members.example.com</member></attrib></Login>'
)


def aged(play: Played) -> object:
    """Return in which cycle a page is asked for that nothing links to any more, and when the next cycle is due."""
    play.fan("/lost", count=30)
    play.crawl(2)
    play.fan(count=30)
    play.hosts.put("www.example.com/lost", Reply(404))
    cycles = []
    for number in range(1, 8):
        play.crawl(later=DAY)
        cycles += [number] * play.count("www.example.com/lost")
    refresh = play.source().refresh
    return cycles, play.found("lost"), refresh.interval, refresh.mode


def filters(play: Played) -> object:
    """Return what is asked for, and which options are said to tune nothing here."""
    play.fan("/1", "/2", "/1", count=3)
    play.crawl()
    told = play.workspace.command("lint", FILE).out
    return sorted(play.asked()), [code for code in ("N-TUNING", "N-CLUSTER") if code in told]


# ---- rules


HOST_NAMES = {
    "by-mask": "192.0.2.5", "out-of-mask": "192.0.2.200", "by-range": "198.51.100.15", "out-of-range": "198.51.100.25",
    "by-dotted": "203.0.113.9", "by-group": "2001:db8:0:1a:0:0:0:0", "out-of-group": "2001:db8:0:20:0:0:0:0",
    "by-bits": "2001:db8:7:1::1", "docs-x.example.net": "", "a.intranet.example.com": "", "shop7.example.com": "",
    "store.example.com": "", "listed.example.net": "", "example.net": "",
    "staging.example.com": "", "dev-7.example.net": "", "a.test.example.com": "", "mirror3.example.net": "",
    "by-excluded-bits": "2001:db8:ffff::1", "blocked.example.net": "", "dev.example.net": "",
}  # fmt: skip
ALL_HOSTS = {name: address or "93.184.215.14" for name, address in HOST_NAMES.items()}
OPENED = {"networks.txt": "192.0.2.0/24\n198.51.100.0/24\n203.0.113.0/24\n2001:db8::/32\n"}
EVERY_HOST = tuple(f"https://{name}/" for name in ALL_HOSTS)
EVERY_URI = tuple(
    f"https://www.example.com/{path}"
    for path in (
        *("about.html", "about.html?x=1", "manuals/1", "manuals/old.html", "manuals/draft/1", "a/index.html"),
        *("a/print.html", "b?print=1", "b?imprint=1", "listed", "blocked", "news/2024/x", "news/x"),
    )
)


def without_host(found: list[str]) -> list[str]:
    return sorted({place.removeprefix(HOME) for place in found})


def uris(play: Played) -> list[str]:
    play.fan(*EVERY_URI)
    play.crawl()
    return without_host(play.asked())


def hosts(play: Played) -> list[str]:
    play.fan(*EVERY_HOST)
    play.crawl()
    return sorted({place.removesuffix("/") for place in play.asked()})


# ---- sections


def logs(play: Played) -> object:
    """Return whether the log of post-processing is XML, and which logs there are."""
    play.fan("/1", "/1.png")
    play.crawl()
    folder = play.folder / "var/log"
    xml = (folder / "handbook.postprocess.log").read_text().startswith("<?xml")
    return xml, sorted(
        file.name.split(".")[1] for file in folder.glob("handbook.*") if ".run-" not in file.name
    )


def stored(play: Played) -> object:
    """Return how documents are stored, and how many lines the list of links has."""
    play.fan(count=8)
    play.hosts.file("www.example.com/0", b"needle 0", "image/jpeg")
    play.crawl()
    links = [line for one in (play.folder / "var/uris").glob("*") for line in one.read_text().splitlines()]
    said = play.source().storage
    documents = play.folder / "var/documents/handbook"
    return clusters_of(documents), said.form, said.compact_below, said.compress_exclude, len(links)


def processed(play: Played) -> object:
    """Return what is told with a document that others are copies of, to which a redirect leads."""
    page = Html("same", ("/linked",), "needle same").render()
    for name in ("1", "2", "3", "4", "5", "6", "7", "start.html"):
        play.hosts.file(f"www.example.com/{name}", page, "text/html")
    play.hosts.put("www.example.com/moved", Reply(301, (("Location", "/1"),)))
    play.fan("/1", "/2", "/3", "/4", "/5", "/6", "/7", "/start.html", "/moved")
    play.crawl(2)
    hit = next(hit for hit in play.hits("needle") if hit["title"] == "same")
    told = {name: hit["attributes"].get(name, []) for name in ("Duplicates", "Redirects", "Links")}
    return hit["url"], {
        name: without_host([one.removeprefix("https://") for one in told[name]]) for name in told
    }


def fed(play: Played) -> object:
    play.crawl()
    names = ("web_pages", "archive")
    return [len(play.hits("--index", name, "needle")) for name in names], len(play.found())


def http_errors(play: Played) -> object:
    """Return after how many failing cycles each page leaves the index, and how often it is asked for in the first."""
    bad = {
        "404": Reply(404), "410": Reply(410), "429": Reply(429), "503": Reply(503), "cut": Reply(raw=True),
        "late": Reply(200, delay=1000.0),
    }  # fmt: skip
    play.fan(*(f"/{name}" for name in bad), count=80)
    play.crawl()
    for name, reply in bad.items():
        play.hosts.put(f"www.example.com/{name}", reply)
    left: dict[str, tuple[int, int]] = {}
    counts: dict[str, int] = {}
    for cycle in range(1, 9):
        play.crawl(later=DAY)
        counts = counts or {name: play.count(f"www.example.com/{name}") for name in bad}
        found = play.found()
        for name in bad:
            if f"www.example.com/{name}" not in found:
                left.setdefault(name, (cycle, counts[name]))
    return {name: left.get(name, (0, counts[name])) for name in bad}


def gone(play: Played) -> bool:
    play.crawl(later=HOUR)
    return not play.hits("")


def ftp_errors(play: Played) -> object:
    """Return after how many failing cycles a file leaves the index, by reply of its server; 0: not within six."""
    served = FtpSite(play.folder / "served")
    served.root.mkdir()
    served.put("a.pdf", pdf())
    left = {}
    with served.serve(handler=Moody) as address:
        text = (play.folder / FILE).read_text().replace("FTP", address)
        (play.folder / FILE).write_text(text)
        for reply in ("421 full", "450 busy", "550 no", "552 no"):
            Moody.reply = None
            play.crawl(later=HOUR)
            assert play.hits("")
            Moody.reply = reply
            try:
                left[reply[:3]] = next(
                    (number for number in range(1, 7) if not play.crawl(later=HOUR) or not play.hits("")), 0
                )
            finally:
                Moody.reply = None
    return left


def ordered(play: Played) -> str:
    """Return the order of pages of three kinds: news, manuals and others; the start page is of the first level."""
    found = [f"https://news.example.com/{number}" for number in range(12)]
    found += [f"/other/{number}" for number in range(6)]
    found += [f"/manuals/{number}" for number in range(9)]
    play.fan(*found)
    play.crawl()
    kinds = {"news.example.com": "n", "www.example.com/m": "m", "www.example.com/o": "o"}
    return "".join(
        next(kind for start, kind in kinds.items() if place.startswith(start)) for place in play.asked()
    )


def kinds(play: Played) -> list[str]:
    """Return by which elements links are followed."""
    from support.fast_site import DECK
    from support.fast_site import HEAD as IN_HEAD
    from support.fast_site import LINKS as IN_BODY

    page = f"<html><head>{''.join(IN_HEAD)}</head><body>{''.join(IN_BODY)}</body></html>"
    play.hosts.file("www.example.com/kinds", page.replace("URL", START[:-1]).encode(), "text/html")
    play.hosts.file("www.example.com/deck.wml", DECK.encode(), "text/vnd.wap.wml")
    play.fan("/kinds", "/deck.wml")
    play.crawl()
    return sorted({place.partition("/via-")[2] for place in play.asked() if "/via-" in place})


def limited(play: Played) -> object:
    """Return in which cycles new pages are asked for, by percent of free space, and the limit of documents."""
    found = ""
    for number, percent in enumerate((50, 9, 14, 16)):
        play.fan(count=number + 1)
        usage = SimpleNamespace(total=1000, used=1000 - 10 * percent, free=10 * percent)
        with mock.patch.object(limits.shutil, "disk_usage", return_value=usage):
            play.crawl(later=HOUR)
        found += "x" if f"www.example.com/{number}" in play.asked() else "-"
    said = play.source().limits
    return found, said.documents, said.documents_slack


LANGUAGES = {
    "de": "Dies ist eine Seite über die Regeln, die für alle Beschäftigten der Firma und ihre Familien gelten.",
    "fr": "Cette page explique les règles qui valent pour tous les employés de la société et leurs familles.",
    "en": "This page is about the rules that hold for all people who work for the company and their families.",
}


def focused(play: Played) -> object:
    """Return which pages are found, and which behind English ones are asked for."""
    for language, text in LANGUAGES.items():
        play.hosts.links(f"www.example.com/{language}", text=f"needle {text}", lang=language)
    english = {"text": f"needle {LANGUAGES['en']}", "lang": "en"}
    play.hosts.links(HOME, "/de", "/fr", "/en", "/none", "https://a.press.example.com/en", text="", lang="de")
    play.hosts.links("www.example.com/en", "/en-1", **english)
    play.hosts.links("www.example.com/en-1", "/en-2", **english)
    play.hosts.links("www.example.com/en-2", "/en-3", **english)
    play.hosts.links("a.press.example.com/en", **english)
    play.hosts.file("www.example.com/none", b"<title>none</title>needle 123", "text/html")
    play.crawl()
    return play.found(), sorted(one for one in play.asked() if "/en-" in one)


def passwords(play: Played) -> object:
    """Return user and way of what is sent to three areas."""
    areas = {
        "www.example.com/staff/": 'Basic realm="staff"',
        "www.example.com/staff/reports/": 'Digest realm="reports area", nonce="n", qop="auth"',
        "www.example.com/other": 'Basic realm="Example Realm"',
    }

    def answer(asks: str) -> Callable[[Request], Reply]:
        def of(request: Request) -> Reply:
            if request.header("Authorization"):
                return Reply(200, (HTML,), b"<title>in</title>needle")
            return Reply(401, (("WWW-Authenticate", asks),))

        return of

    for place, asks in areas.items():
        play.hosts.put(place, answer(asks))
    play.fan(*(f"https://{place}" for place in areas))
    play.crawl()
    sent = {
        f"{one.header('Host')}{one.path}": one.header("Authorization") or "" for one in play.hosts.pages()
    }
    return [credentials(sent[place]) for place in areas]


def credentials(header: str) -> str:
    import base64

    way, _, rest = header.partition(" ")
    if way == "Basic":
        return f"Basic {base64.b64decode(rest).decode()}"
    return f"{way} {rest.partition(',')[0]}".strip()


def accounts(play: Played) -> object:
    said = play.source().ftp.accounts.values()
    return [(one.host, one.path, one.user, one.password.get_secret_value()) for one in said]


def refused_headers(play: Played) -> list[str]:
    for name, header in {
        "hidden": ("X-Robots-Tag", "googlebot: noindex"),
        "odd": ("Content-Language", "xx"),
        "odd-too": ("Content-Language", "zz-ZZ"),
        "fine": ("Content-Language", "en"),
    }.items():
        play.hosts.put(
            f"www.example.com/{name}", Reply(200, (HTML, header), Html(name, text="needle").render())
        )
    play.fan("/hidden", "/odd", "/odd-too", "/fine")
    play.crawl()
    return without_host(play.found())


def spans(play: Played) -> object:
    """Return the gaps on five days of the week, and at which hour the first page of a suspended span is asked for."""
    begun: list[float] = []
    home = Html("home", tuple(f"/{number}" for number in range(3))).render()

    def answer(_: Request) -> Reply:
        begun.append(wall_time())
        return Reply(200, (HTML,), home)

    play.hosts.put(HOME, answer)
    found = {}
    for day, hour in ((0, 10), (1, 3), (2, 10), (5, 12), (6, 12)):
        now = time.gmtime(wall_time())
        today = wall_time() - now.tm_hour * 3600 - now.tm_min * 60 - now.tm_sec
        begin = today + ((day - now.tm_wday) % 7 + 7) * DAY + hour * HOUR
        play.ahead = begin - wall_time()
        play.crawl()
        found[day] = smallest([one.time for one in play.hosts.pages()]), time.gmtime(begun[-1]).tm_hour
    return found


def adaptive(play: Played) -> object:
    """Return how many known and new pages a minor cycle asks for, and what the scores consist of."""
    play.fan(count=30)
    play.crawl()
    play.hosts.links(
        HOME, *(f"/{number}" for number in range(30)), *(f"/new/{number}" for number in range(30))
    )
    play.crawl(2, later=DAY)
    new = sum("/new/" in place for place in play.hosts.asked())
    said = play.source().refresh.adaptive
    return len(play.hosts.asked()) - new, new, said.refresh_count, said.weights, said.sitemap_weights


def clustered(play: Played) -> object:
    """Return which of three shops gets the cookie of the first."""
    page = Html(
        "shop", ("https://checkout.example.com/", "https://images.example.net/", "https://docs.example.com/")
    )
    cookie = ("Set-Cookie", "basket=1; Domain=example.com; Path=/")
    play.hosts.put("shop.example.com/", Reply(200, (HTML, cookie), page.render()))
    play.crawl()
    return [one.header("Host") for one in play.hosts.pages() if one.header("Cookie")]


def deep(play: Played) -> list[str]:
    play.fan("/1", "/moved", "https://other.example.net/1")
    for host in ("www.example.com", "other.example.net"):
        play.hosts.links(f"{host}/1", "/2")
        play.hosts.links(f"{host}/2", "/3")
    play.hosts.put("www.example.com/moved", Reply(301, (("Location", "https://docs.example.com/"),)))
    play.crawl()
    return sorted(play.asked())


def payloads(play: Played) -> object:
    play.fan("/search", "/catalogue/1", "/about")
    play.crawl()
    return {one.path: f"{one.method} {one.body.decode()}".strip() for one in play.hosts.pages()}


def feeds(play: Played) -> object:
    """Return which places are asked for, what is found, and what 16 days later."""

    def publish(place: str, *entries: str) -> None:
        items = "".join(f"<item><link>https://news.example.com/{name}</link></item>" for name in entries)
        body = f"<rss version='2.0'><channel><title>needle feed</title>{items}</channel></rss>"
        play.hosts.file(place, body.encode(), "application/rss+xml")

    head = '<link rel="alternate" type="application/rss+xml" href="https://news.example.com/other.xml">'
    play.hosts.links(HOME, *(f"/{number}" for number in range(30)), head=head)
    play.hosts.links("news.example.com/a", "/behind")
    publish("news.example.com/feed.xml", "a", "b")
    publish("news.example.com/listed.xml", "l")
    publish("news.example.com/other.xml", "o")
    play.crawl()
    first = sorted(
        place.removeprefix("news.example.com/") for place in play.asked() if place.startswith("news")
    )
    found = [place.removeprefix("news.example.com/") for place in play.found() if place.startswith("news")]
    publish("news.example.com/feed.xml", "b")
    play.crawl(2, later=8 * DAY)
    return first, found, [place for place in play.found() if place.startswith("news")]


# ---- logins, sub-collections, nodes


def logged_in(play: Played) -> object:
    """Return how the form is sent, and whether the page behind it lets in."""

    def enter(request: Request) -> Reply:
        return Reply(200, (HTML, ("Set-Cookie", "s=1; Path=/")), b"in")

    def inside(request: Request) -> Reply:
        known = "s=1" in (request.header("Cookie") or "")
        return Reply(200, (HTML,), b"<title>in</title>needle" if known else b"<title>closed</title>")

    play.hosts.put("login.example.com/session/new", enter)
    play.hosts.put("login.example.com/", inside)
    play.crawl()
    sent = [(one.method, one.body.decode()) for one in play.hosts.pages() if one.path == "/session/new"]
    return sent, play.found()


AT_THE_LOGIN = {"start_uris": ("http://login.example.com/",)}
AROUND = (
    '<Login name="members_area"><attrib name="site" type="string"> login.example.com </attrib>'
    '<attrib name="form" type="string"> /session/new </attrib>SAMPLE</Login>'
)


def news(play: Played) -> object:
    """Return the smallest gap of the news on a Wednesday and a Saturday, its interval, and whose they are."""
    play.hosts.links("www.example.com/news/", *(f"/news/{number}" for number in range(3)))
    play.fan("/news/", "/1", "/2")
    found = []
    for day in (2, 5):
        now = time.gmtime(wall_time())
        play.ahead = ((day - now.tm_wday) % 7 + 7) * DAY + (12 - now.tm_hour) * HOUR
        play.crawl()
        times = [one.time for one in play.hosts.pages() if one.path.startswith("/news/")]
        found.append(smallest(times))
    whose = {hit["source"] for hit in play.hits("needle") if "/news/" in hit["url"]}
    return found, whose, play.source(*whose).refresh.interval


def parts(play: Played) -> object:
    urls = "<url><loc>https://news.example.com/mapped</loc></url>"
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()
    play.hosts.file("news.example.com/sitemap.xml", body, "application/xml")
    play.fan("https://news.example.com/", "https://archive.example.com/", "/own")
    play.crawl(2)
    return {"".join(urlsplit(hit["url"])[1:3]): hit["source"] for hit in play.hits("needle")}


def on_a_node(play: Played) -> object:
    """Return the smallest gaps of the collection and of its part, and whether new pages come at 15 % of free space."""
    play.hosts.links("www.example.com/news/", *(f"/news/{number}" for number in range(3)))
    play.fan("/news/", "/1", "/2")
    play.crawl()
    found = []
    for part in (False, True):
        times = [one.time for one in play.hosts.pages() if one.path.startswith("/news/") is part]
        found.append(smallest(times))
    play.fan("/news/", "/1", "/2", "/3")
    usage = SimpleNamespace(total=1000, used=850, free=150)
    with mock.patch.object(limits.shutil, "disk_usage", return_value=usage):
        play.crawl(later=HOUR)
    return found, "www.example.com/3" in play.asked()


FRONT_PAGE = (
    'SAMPLE<SubDomain name="front_page"><section name="include_uris"><attrib name="prefix" type="list-string">'
    "<member>https://www.example.com/news/</member></attrib></section>"
    '<attrib name="delay" type="real">1</attrib></SubDomain>'
)
WEIGHTS = WeightsSection(
    inverse_length=1.0,
    inverse_depth=2.0,
    is_landing_page=1.5,
    is_mime_markup=0.5,
    change_history=8.0,
    sitemap=4.0,
)
WORDS = SitemapWeightsSection(
    always=1.0, hourly=0.8, daily=0.5, weekly=0.2, monthly=0.1, yearly=0.05, never=0.0, default=0.2
)
FANNED = [f"www.example.com/{number}" for number in range(3)]
ALL_URIS = sorted(one.removeprefix(START) for one in EVERY_URI)
KINDS = [
    *(
        "a",
        "action",
        "area",
        "card",
        "comment",
        "embed",
        "frame",
        "go",
        "layer",
        "link",
        "meta",
        "meta_refresh",
    ),
    *("object", "script", "script_java", "style"),
]
DEEP = [f"{host}/{number}" for host in ("other.example.net", "www.example.com") for number in (1, 2, 3)]
DEEP.append("www.example.com/moved")
PARTS = {
    "archive.example.com/": "handbook.archive",
    "news.example.com/": "handbook.front_page",
    "www.example.com/": "handbook",
    "www.example.com/own": "handbook",
}

CASES: dict[int, Printed] = {
    281: Printed(starting, (["archive.example.com/", "www.example.com/"], None),
                 (["archive.example.com/", "handbook.example.com/", "handbook.example.com/clear",
                   "handbook.example.com/seeded", "other.example.net/", "xn--bcher-kva.example.com/katalog"],
                  "Handbook pages of the example organisation"),
                 {"include_domains/suffix": (".example.com",)}, OUTSIDE,
                 {"seeds/handbook.txt": "# more\nhttps://handbook.example.com/seeded\n"}),
    310: Printed(rewritten, REWRITTEN, ("e.html", "m", "p", "q", "s?a=1&b=2", "w/w/w"),
                 files={"conf/mirrors.txt": "www.example.com mirror.example.com\n"}),
    340: Printed(paced, (False, 50, 600), (True, 8, 300)),
    367: Printed(transported, ("ultracrawl/0.1.0", None, [""], 10),
                 ("ExampleBot/1.0 (+https://www.example.com/bot)", "en",
                  ["http://proxy1.example.com:3128", "http://proxy2.example.com:3128"], 6)),
    400: Printed(robots, (["closed.example.com/", "slow.example.com/", "www.example.com/quiet"], 0.0, False),
                 (["www.example.com/mapped", "www.example.com/quiet"], 7.0, True)),
    422: Printed(types, ["after-5", "after-6", "long", "page", "wait-5", "wait-6"],
                 ["after-5", "after-6", "page", "picture", "table", "wait-6"]),
    446: Printed(extracted, ["of-html", "of-one", "of-wml"], ["of-html", "of-one", "of-two"],
                 {"allowed_types": ("text/html", "text/vnd.wap.wml")}),
    468: Printed(copies, {"word": 2, "meta": 1, "far": 2}, {"word": 1, "meta": 1, "far": 1},
                 {"allowed_types": ("text/html", "text/plain")}),
    484: Printed(session, ([None] * 5, True), ([None, "door=open", None, None, None], False), {"delay": 1000.0},
                 CLUB),
    501: Printed(aged, ([5], [], 90_000.0, "scratch"), ([4], [], 43_200.0, "soft")),
    518: Printed(filters, (FANNED, []), (FANNED, ["N-TUNING", "N-CLUSTER"])),
    538: Printed(hosts, sorted(ALL_HOSTS),
                 ["a.intranet.example.com", "by-bits", "by-dotted", "by-group", "by-mask", "by-range",
                  "docs-x.example.net", "listed.example.net", "shop7.example.com"],
                 files={**OPENED, "conf/more_hosts.txt": "listed.example.net\n"}, names=ALL_HOSTS),
    596: Printed(hosts, sorted(ALL_HOSTS), sorted(ALL_HOSTS.keys() - {
                     "a.test.example.com", "blocked.example.net", "by-excluded-bits", "dev-7.example.net",
                     "mirror3.example.net", "out-of-mask", "staging.example.com"}),
                 files={**OPENED, "conf/blocked_hosts.txt": "blocked.example.net\n"}, names=ALL_HOSTS),
    633: Printed(uris, ALL_URIS, ["a/index.html", "about.html", "listed", "manuals/1", "manuals/draft/1",
                                  "manuals/old.html", "news/2024/x"],
                 {"start_uris": (START, *EVERY_URI)},
                 files={"conf/more_uris.txt": "https://www.example.com/listed\n"}),
    664: Printed(uris, ALL_URIS, ["a/index.html", "about.html", "about.html?x=1", "b?imprint=1", "listed",
                                  "manuals/1", "news/2024/x", "news/x"],
                 files={"conf/blocked_uris.txt": "https://www.example.com/blocked\n"}),
    697: Printed(logs, (False, ["dsfeed", "fetch", "postprocess", "site"]),
                 (True, ["dsfeed", "fetch", "postprocess", "screened", "site"]), {"exclude_exts": (".png",)}),
    724: Printed(stored, (8, "blocks", 85, (), 0), (4, "files", 70, ("image/jpeg", "video/*"), 8),
                 {"allowed_types": ("text/html", "image/*")}),
    755: Printed(processed, ("https://www.example.com/1", {"Duplicates": [], "Redirects": [], "Links": []}),
                 ("https://www.example.com/1", {"Duplicates": ["2", "3", "4", "5", "6", "start.html"],
                                                "Redirects": ["moved"], "Links": ["linked"]})),
    781: Printed(filters, (FANNED, []), (FANNED, ["N-CLUSTER"])),
    800: Printed(fed, ([0, 0], 1), ([1, 0], 1)),
    833: Printed(filters, (FANNED, []), (FANNED, ["N-TUNING", "N-CLUSTER"])),
    868: Printed(http_errors,
                 {"404": (1, 1), "410": (1, 1), "429": (1, 1), "503": (0, 1), "cut": (2, 2), "late": (3, 1)},
                 {"404": (2, 1), "410": (1, 1), "429": (0, 3), "503": (3, 2), "cut": (2, 3), "late": (4, 1)}),
    893: Printed(ftp_errors, {"421": 3, "450": 3, "550": 1, "552": 3}, {"421": 0, "450": 5, "550": 1, "552": 2},
                 {"start_uris": ("FTP/a.pdf",), "allowed_schemes": ("ftp",), "allowed_types": ("application/pdf",)}),
    916: Printed(ordered, "nononononononmnmnmnmnmnmmmm", "nnnnnmmmonnnnnnmmmonmmmoooo",
                 {"max_pending": 30, "robots": False}),
    977: Printed(kinds, KINDS, sorted({*KINDS} - {"action", "comment", "embed", "script_java", "style"}),
                 {"allowed_types": ("text/html", "text/vnd.wap.wml")}),
    1009: Printed(limited, ("xxxx", None, 1000), ("x--x", 50_000, 500)),
    1026: Printed(focused, (["a.press.example.com/en", *(f"www.example.com/{one}" for one in
                             ("de", "en", "en-1", "en-2", "en-3", "fr", "none"))],
                            [f"www.example.com/en-{number}" for number in (1, 2, 3)]),
                  (["a.press.example.com/en", *(f"www.example.com/{one}" for one in ("de", "fr", "none"))],
                   ["www.example.com/en-1"])),
    1049: Printed(passwords, ["", "", ""],
                  ["Basic robot:s3cret", 'Digest username="robot"', "Basic robot:other"]),
    1070: Printed(accounts, [], [("ftp.example.com", "/", "mirror", "s3cret")]),
    1083: Printed(refused_headers, ["", "fine", "hidden", "odd", "odd-too"], ["", "fine"]),
    1101: Printed(spans, {0: (2.0, 10), 1: (2.0, 3), 2: (2.0, 10), 5: (2.0, 12), 6: (2.0, 12)},
                  {0: (30.0, 10), 1: (2.0, 4), 2: (2.0, 10), 5: (0.5, 12), 6: (0.5, 12)},
                  {"delay": 2.0}, env={"TZ": "UTC"}),
    1119: Printed(adaptive, (19, 6, 4, WeightsSection(), SitemapWeightsSection()), (12, 3, 6, WEIGHTS, WORDS),
                  {"refresh_mode": "adaptive"}),
    1183: Printed(clustered, [], ["checkout.example.com"],
                  {"use_cookies": True, "start_uris": ("https://shop.example.com/",)}),
    1203: Printed(deep, DEEP, [place for place in DEEP if not place.endswith("/3")]),
    1219: Printed(payloads, {"/": "GET", "/about": "GET", "/catalogue/1": "GET", "/search": "GET"},
                  {"/": "GET", "/about": "GET", "/catalogue/1": "POST view=full", "/search": "POST q=all&page=1"}),
    1241: Printed(feeds, (["other.xml"], [], []),
                  (["a", "b", "feed.xml", "l", "listed.xml", "o", "other.xml"], ["a", "b", "l", "o"], []),
                  files={"seeds/feeds.txt": "https://news.example.com/listed.xml\n"}),
    1301: Printed(logged_in, ([], []), ([("POST", "account=robot")], ["login.example.com/"]), AT_THE_LOGIN),
    1320: Printed(logged_in, ([("POST", "")], ["login.example.com/"]),
                  ([("POST", "account=robot&secret=s3cret&return_to=%2Fstart")], ["login.example.com/"]),
                  AT_THE_LOGIN, AROUND),
    1346: Printed(news, ([0, 0], {"handbook"}, 90_000.0), ([5, 20], {"handbook.front_page"}, 1800.0),
                  env={"TZ": "UTC"}),
    1366: Printed(parts, dict.fromkeys(PARTS, "handbook"), PARTS | {"news.example.com/mapped": "handbook.front_page"},
                  {"start_uris": (START, "https://news.example.com/")}),
    1394: Printed(on_a_node, ([0, 1], True), ([12, 8], False), inside=FRONT_PAGE,
                  env={"ULTRACRAWL_NODE": "crawler_b"}),
}  # fmt: skip


@pytest.mark.parametrize("line", CASES, ids=lambda line: f"fast_line_{line}")
def test_what_is_printed_does_what_its_text_says(tmp_path_factory: pytest.TempPathFactory, line: int) -> None:
    case = CASES[line]
    assert case.without != case.with_it
    for sample, seen in (("", case.without), (printed(line), case.with_it)):
        assert play(tmp_path_factory.mktemp(f"line-{line}"), case, sample) == seen, (
            "with it" if sample else "without it"
        )


def test_each_sample_has_its_story() -> None:
    """The login of line 1277 is that of `test_fast_intranet`."""
    assert {*CASES, 1277} == {*lines()}


def test_samples_are_read_without_a_mistake(tmp_path: Path) -> None:
    told = {}
    for line in lines():
        case = CASES.get(line, CASES[340])
        write(tmp_path, case._replace(beside={}), printed(line))
        found = InProcessWorkspace(tmp_path).command("lint", FILE)
        told[line] = {word for word in re.findall(r"\b[EN]-[A-Z]+", found.out) if word not in HARMLESS}
    assert told == {line: TOLD.get(line, set()) for line in lines()}


HARMLESS = ("N-CLUSTER", "N-SECRET", "N-TUNING")
TOLD = {
    281: {"N-SCHEME"},  # of the collection that takes links
    367: {"E-VALUE"},  # there are no certificates
    633: {"N-CONFLICT"},  # the start page is outside
}


def test_fast_line_446_scripts_write_links_and_text(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The three lines about scripts need a browser, and so processes of their own."""
    require(shutil.which("chromium"), "Chromium", "chromium")
    for sample, seen in (("", ([], [])), (printed(446), (["/made"], ["/"]))):
        workspace, site = Workspace(tmp_path_factory.mktemp("line-446")), Site()
        script = b"document.body.innerHTML += '<p>dynamic</p><a href=/made>x</a>'"
        site.file("/", b"<title>t</title><p>static</p><script src=/a.js></script>", "text/html")
        site.file("/a.js", script, "text/javascript")
        site.page("/made", title="made")
        with site.serve() as address:
            options = {"start_uris": (f"{address}/",), "delay": 0.0}
            (workspace.directory / "ultracrawl.xml").write_text(fast_xml(options, inside=sample))
            workspace.crawl("-c", "ultracrawl.xml", code=0 if sample else 1)  # 1: it has next to no text
        hits = workspace.command("search", "--json", "--as-typed", "-c", "ultracrawl.xml", "dynamic").json[
            "hits"
        ]
        found = [urlsplit(hit["url"])[2] for hit in hits]
        assert ([path for path in site.paths() if path == "/made"], found) == seen
