"""What options of FAST collections do over time and over several cycles: the same story with and without each.

Time leaps, so that days cost nothing. Options that one crawl shows are in `test_fast_crawled`, those of connections in
`test_fast_connected`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from support import files
from support.fast_play import DAY, HOUR, HTML, Case, Play, Story, asked, fan, login_xml, play_both
from support.ftp import Moody
from support.network import resolved
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.control import limits
from ultracrawl.stores.documents.clustered import clusters_of

pytestmark = pytest.mark.servers

# ---- pace


def smallest_gap(play: Play) -> int:
    """Return the whole seconds between the two requests that came closest: a busy machine brings some of them late."""
    fan(play)
    play.crawl()
    return round(min(play.gaps()))


def at_once(play: Play) -> int:
    """Return how many requests were open at the same time, by answers that take a second."""
    play.pages("/", links=("/0", "/1", "/2", "/3"))
    for number in range(4):
        play.site.slow(f"/{number}", 1.0)
    play.crawl()
    times = [one.time for one in play.requests("/")]
    return max(sum(start <= time < start + 0.9 for time in times) for start in times)


def two_hosts(play: Play) -> int:
    """Return how often the crawl goes from one host to the other."""
    fan(play)
    play.crawl()
    return sum(a != b for a, b in pairwise(play.hosts()))


def failing(play: Play) -> Play:
    fan(play)
    for number in range(4):
        play.site.raw(f"/{number}", b"")
    play.crawl()
    return play


TWO_HOSTS = {"start_uris": ("URL/", "http://127.0.0.2:PORT/"), "max_pending": 1, "delay": 0.1}

# ---- robots.txt


def robots(text: str, *, seconds: float = 0.0, status: int = 200) -> Story:
    """Return what crawls beside such a robots.txt, and says which pages were asked for."""

    def story(play: Play) -> object:
        fan(play, 1)
        play.site.respond(
            "/robots.txt", status=status, headers={"Content-Type": "text/plain"}, body=text, delay=seconds
        )
        play.crawl()
        return len(play.paths())

    return story


def asks_again(play: Play) -> int:
    fan(play, 1)
    play.site.robots("User-agent: *\nDisallow: /x\n")
    play.crawl()
    play.crawl(later=HOUR)
    return play.site.count("/robots.txt")


def obeyed_gap(play: Play) -> int:
    play.site.robots("User-agent: *\nCrawl-delay: 7\n")
    return smallest_gap(play)


ROBOTS = {"robots": True}

# ---- sessions and logins


def cookie_at_the_end(play: Play) -> bool:
    fan(play, 5)
    play.pages(
        "/", links=tuple(f"/{number}" for number in range(5)), headers={"Set-Cookie": "door=open; Path=/"}
    )
    play.crawl()
    return "door=open" in (play.requests()[-1].header("Cookie") or "")


class Club:
    """A site for members: `/in` wants a session, which `/enter` gives."""

    def __init__(self, play: Play, *, seconds: float = 0.0, status: int = 200) -> None:
        self.play = play
        for path in ("/enter", "/other"):
            play.site.dynamic(path, self.enter)
        form = (
            b"<form action=/enter method=post><input type=hidden name=token value=t1>"
            b"<input name=user><input type=password name=pass></form>"
        )
        for path in ("/form", "/second-form"):
            play.site.file(path, form, "text/html")
        play.pages("/hello")
        play.pages("/", links=("/in",))
        play.site.dynamic("/in", self.inside)
        self.status = status
        if seconds:
            play.site.respond("/enter", delay=seconds, headers={"Set-Cookie": "session=ok; Path=/"})

    def enter(self, _request: Request, status: int = 0) -> Reply:
        return Reply(status or self.status, (*HTML, ("Set-Cookie", "session=ok; Path=/")), b"welcome")

    def inside(self, request: Request) -> Reply:
        known = "session=ok" in (request.header("Cookie") or "")
        return Reply(200 if known else 403, HTML, b"<title>in</title>needle")


def club(asks: Callable[[Play], object], **options: Any) -> Story:
    def story(play: Play) -> object:
        Club(play, **options)
        play.crawl()
        return asks(play)

    return story


def sent(path: str) -> Callable[[Play], object]:
    """Return what says how a path was asked for: method and body."""

    def asks(play: Play) -> object:
        return next(
            (f"{one.method} {one.body.decode()}".strip() for one in play.requests() if one.path == path), ""
        )

    return asks


def of_login(asks: Callable[[Play], object], without: object, with_it: object, **options: Any) -> Case:
    return Case(club(asks), without, with_it, {}, {}, login_xml(), login_xml(**options))


def entries(play: Play) -> int:
    """Return how often the login was sent, beside a page in each hundred seconds."""
    Club(play)
    fan(play, 6)
    play.crawl()
    return play.site.count("/enter")


def second_attempt(play: Play) -> list[str]:
    """Return which of the pages for members are found after the first login was refused."""
    club = Club(play)
    answers = iter((403,))
    play.site.dynamic("/enter", lambda request: club.enter(request, next(answers, 200)))
    play.crawl()
    return play.found("needle")


def shared_cookie(play: Play) -> str:
    """Return the cookie that another host of a domain is sent."""
    cookie = {"Set-Cookie": "basket=1; Domain=shop.test; Path=/"}
    play.pages("/", links=(f"http://b.shop.test:{play.port}/x",), headers=cookie)
    play.pages("/x")
    with resolved({"a.shop.test": "127.0.0.1", "b.shop.test": "127.0.0.1"}):
        play.crawl()
    return next(one.header("Cookie") or "" for one in play.requests() if one.path == "/x")


SHOP = {"start_uris": ("http://a.shop.test:PORT/",), "use_cookies": True}


# ---- errors of several cycles


def errors(change: Callable[[Site], None], cycles: int = 1) -> Story:
    """Return what crawls a page, lets its answers fail, crawls so often again, and says whether it is found."""

    def story(play: Play) -> object:
        fan(play, 30)
        play.crawl()
        change(play.site)
        play.crawl(cycles, later=HOUR)
        return "/7" in play.found("needle")

    return story


def status(code: int) -> Callable[[Site], None]:
    return lambda site: site.respond("/7", status=code, headers={"Content-Type": "text/html"})


def attempts(change: Callable[[Site], None]) -> Story:
    def story(play: Play) -> object:
        fan(play)
        play.site.page("/", title="home", links=["/7"])
        change(play.site)
        play.crawl()
        return play.site.count("/7")

    return story


def ftp(cycles: int, change: Callable[[Play], object]) -> Story:
    """Return what crawls a file of an FTP server, lets it fail, crawls so often again, and says whether it is found."""

    def story(play: Play) -> object:
        play.ftp.put("a.pdf", files.pdf())
        play.crawl()
        assert play.found("") == ["/a.pdf"]
        change(play)
        try:
            play.crawl(cycles, later=HOUR)
        finally:
            Moody.reply = None
        return play.found("") == ["/a.pdf"]

    return story


def says(reply: str) -> Callable[[Play], object]:
    return lambda play: setattr(Moody, "reply", reply)


FTP = {
    "start_uris": ("FTP/a.pdf",),
    "allowed_schemes": ("ftp",),
    "allowed_types": ("application/pdf",),
    "fetch_timeout": 1,
}


def broken(site: Site) -> None:
    site.file("/7", b"%PDF-1.4 broken", "application/pdf")


PDF = {"allowed_types": ("text/html", "application/pdf")}

# ---- levels of the queue


def levels(play: Play) -> str:
    """Return the order of pages of two kinds, h and l."""
    play.pages("/", links=tuple(f"/{name}/{number}" for number in range(4) for name in "lh"))
    play.pages(*(f"/{name}/{number}" for number in range(4) for name in "lh"))
    play.crawl()
    return "".join(path[1] for path in play.paths("/"))


def starts(play: Play) -> list[str]:
    """Return the order of two start pages and of what the first links to."""
    play.pages("/a", links=("/h/0",))
    play.pages("/b", "/h/0")
    play.crawl()
    return play.paths()


PUT = {
    "max_pending": 1,
    "workqueue_priority/levels": 2,
    "workqueue_priority/default": 2,
    "workqueue_priority/put_scheme": "include",
    "workqueue_priority/pop_scheme": "rr",
    "workqueue_priority/1/include_uris/prefix": ("URL/h/",),
}
WRR = {**PUT, "workqueue_priority/pop_scheme": "wrr"}
PRI = {**PUT, "workqueue_priority/pop_scheme": "pri"}

# ---- limits, orphans, depth


def grows(play: Play) -> list[str]:
    """Return which of the new pages are asked for after eight of ten documents have left."""
    fan(play, 9)
    play.crawl()
    for number in range(5):
        play.site.gone(f"/{number}")
    play.crawl(later=HOUR)
    play.pages("/", links=(*(f"/{number}" for number in range(9)), "/new"))
    play.pages("/new")
    play.crawl(later=HOUR)
    return [path for path in play.paths() if path == "/new"]


def orphan(play: Play) -> tuple[int, list[str]]:
    """Return how often a page without links was asked for in five cycles, and whether it is found."""
    fan(play, 30)
    play.crawl()
    play.pages("/", links=tuple(f"/{number}" for number in range(30) if number != 7))
    count = 0
    for _ in range(4):
        play.crawl(later=HOUR)
        count += play.site.count("/7")
    return count, [path for path in play.found("needle") if path == "/7"]


def beyond(play: Play) -> bool:
    play.pages("/", links=(f"http://127.0.0.2:{play.port}/1",))
    play.pages("/1", links=("/2",))
    play.pages("/2")
    play.crawl()
    return "/2" in play.paths()


def second_statuses(play: Play) -> list[int]:
    fan(play, 1)
    play.crawl()
    play.crawl(later=HOUR)
    return play.site.statuses("/0")


def mirrored(play: Play) -> int:
    (play.workspace.directory / "mirrors.txt").write_text("127.0.0.1 127.0.0.2\n")
    play.pages("/", links=("/0", f"http://127.0.0.2:{play.port}/0"))
    play.pages("/0")
    play.crawl()
    return play.site.count("/0")


def handed_over(play: Play) -> bool:
    play.pages("/", links=("/theirs",))
    play.pages("/theirs")
    for _ in range(2):
        play.crawl()
    return "/theirs" in play.found("--source", "other", "needle")


OTHER = (
    '</DomainSpecification><DomainSpecification name="other">'
    '<attrib name="start_uris" type="list-string"><member>URL/none</member></attrib>'
    '<attrib name="delay" type="real">0</attrib>'
)

# ---- adaptive refreshing: which of two pages the next minor cycle asks for


START = "/s/t/a/r/t/p/a/g/e.html"
"""The start page: it must not be what a minor cycle chooses."""


def chosen(first: str, second: str, frequencies: Mapping[str, str], *, plain: str = "") -> Story:
    """Return what says which of two pages a minor cycle asks for; the first links to the second, `plain` is text.

    The first has just been changed, by its date.
    """

    def story(play: Play) -> str:
        play.pages(START, links=(first,) if not frequencies else (first, second))
        play.pages(first, links=(second,), modified=datetime.now(UTC))
        play.pages(second)
        if plain:
            play.site.file(plain, b"needle", "text/plain")
        entries = "".join(
            f"<url><loc>{play.url}{path}</loc>{f'<changefreq>{often}</changefreq>' if often else ''}</url>"
            for path, often in frequencies.items()
        )
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
        play.site.file("/sitemap.xml", body.encode(), "application/xml")
        play.crawl()
        play.crawl(later=DAY)
        return " ".join(path for path in play.paths() if path in (first, second))

    return story


WEIGHTS = (
    "inverse_length",
    "inverse_depth",
    "is_landing_page",
    "is_mime_markup",
    "change_history",
    "sitemap",
)
ADAPTIVE: dict[str, Any] = {
    "start_uris": (f"URL{START}",),
    "refresh_mode": "adaptive",
    "use_sitemaps": True,
    "adaptive/coverage_min": 1,
    "adaptive/coverage_max_pct": 0,
    **{f"adaptive/weights/{name}": 0.0 for name in WEIGHTS},
    "adaptive/weights/sitemap": 1.0,
}


SHORT = {
    **ADAPTIVE,
    "use_sitemaps": False,
    "adaptive/weights/inverse_length": 1.0,
    "allowed_types": ("text/html", "text/plain"),
}


def frequency(name: str, value: float, *, rival: str = "daily") -> Case:
    """Return a case about the value of a word of sitemaps, for `/a`, against that of `/b`."""
    word = "" if name == "default" else name
    wins = value > 0.5
    return Case(
        chosen("/a", "/b", {"/a": word, "/b": rival, START: "yearly" if name == "never" else "never"}),
        "/b" if wins else "/a",
        "/a" if wins else "/b",
        {f"adaptive/sitemap_weights/{name}": value},
        ADAPTIVE,
    )


def weight(name: str, first: str, second: str, value: float = 9.0) -> Case:
    """Return a case about a weight that is for the first page, while the sitemap is for the second."""
    story = chosen(first, second, {first: "yearly", second: "hourly", START: "never"})
    return Case(story, second, first, {f"adaptive/weights/{name}": value}, ADAPTIVE)


def shares(play: Play) -> tuple[int, int]:
    """Return how many known and new pages a minor cycle asks for."""
    fan(play, 30)
    play.crawl()
    known = tuple(f"/{number}" for number in range(30))
    new = tuple(f"/new/{number}" for number in range(30))
    play.pages("/", links=(*known, *new))
    play.pages(*new)
    play.crawl(later=DAY)
    play.crawl(later=DAY)
    found = play.paths()
    return sum(not path.startswith("/new") for path in found), sum(path.startswith("/new") for path in found)


MINOR = {"refresh_mode": "adaptive", "adaptive/coverage_min": 10, "adaptive/coverage_max_pct": 0}

# ---- cycles


def left_over(play: Play) -> list[str]:
    """Return what a cycle asks for after one in which the site was suspended at its third page."""
    fan(play, 6)
    play.site.raw("/2", b"")
    play.crawl()
    assert "/3" not in play.paths()
    play.pages("/2")
    play.crawl(later=2 * DAY)
    return play.paths()


def next_run(play: Play) -> int:
    """Return after how many minutes the next run is due, from the start of the last one."""
    fan(play)
    play.crawl(2)
    (row,) = play.workspace.command("status", "--json", "-c", "collection.xml").json["sources"]
    begun, due = (datetime.fromisoformat(text) for text in (row["last_run"]["started"], row["next_run"]))
    return round((due - begun).total_seconds() / 60)


# ---- feeds


def feed(play: Play) -> list[str]:
    """Return which of three items are found after the feed has one new item and a day has gone by."""

    def publish(*names: str) -> None:
        items = "".join(f"<item><link>{play.url}/{name}</link></item>" for name in names)
        body = f"<rss version='2.0'><channel><title>t</title>{items}</channel></rss>"
        play.site.file("/feed.xml", body.encode(), "application/rss+xml")

    play.pages("/", "/a", "/b", "/c", *(f"/{number}" for number in range(30)))
    play.pages("/", links=tuple(f"/{number}" for number in range(30)))
    publish("b", "a")
    play.crawl()
    publish("c", "b")
    for _ in range(2):
        play.crawl(later=HOUR)
    return [path for path in play.found("needle") if path in ("/a", "/b", "/c")]


FEED = {"rss/start_uris": ("URL/feed.xml",)}
LEFT = [f"/{number}" for number in range(6)]
EXPIRING = {**FEED, "rss/del_expired_links": True}

# ---- what is stored


def listed(play: Play) -> int:
    """Return how many duplicates a document lists, of three."""
    fan(play, 3)
    for path in ("/0", "/1", "/2"):
        play.site.page(path, title="copy", text="the same needle")
    play.crawl(2)
    ended = play.workspace.command("search", "--json", "--as-typed", "-c", "collection.xml", "same needle")
    return max(len(hit["attributes"].get("Duplicates", ())) for hit in ended.json["hits"])


def reported(name: str) -> Story:
    """Return what crawls a page with a copy and a redirect to it, and says how many URLs of a kind it tells of."""

    def story(play: Play) -> int:
        play.pages("/", links=("/old", "/0", "/1"))
        play.site.redirect("/old", "/0")
        for path in ("/0", "/1"):
            play.site.page(path, title="copy", text="the same needle", links=("/",))
        play.crawl(2)
        ended = play.workspace.command(
            "search", "--json", "--as-typed", "-c", "collection.xml", "same needle"
        )
        (hit,) = ended.json["hits"]
        return len(hit["attributes"].get(name, ()))

    return story


def recorded(play: Play) -> int:
    """Return of how many of three copies the state says what they are copies of."""
    listed(play)
    rows = play.workspace.command("urls", "--outcome", "DUPLICATE", "--json", "-c", "collection.xml").lines
    return sum(bool(row["duplicate_of"]) for row in rows)


def clusters(play: Play) -> int:
    fan(play, 30)
    play.crawl()
    return clusters_of(play.workspace.directory / "var" / "documents" / "handbook")


def shrinks(play: Play) -> bool:
    """Return whether the store is smaller after most of its documents have become short."""
    fan(play, 30)
    for number in range(30):
        play.site.page(
            f"/{number}", title=str(number), text=f"needle {random.Random(number).randbytes(20_000).hex()}"
        )
    play.crawl()
    before = stored_bytes(play)
    fan(play, 30)
    play.crawl(2, later=HOUR)
    return stored_bytes(play) < 0.7 * before


def stored_bytes(play: Play) -> int:
    files = (play.workspace.directory / "var" / "documents").rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file())


def disk(*free: float) -> Story:
    """Return what crawls a page more at each percentage of free space, and says which cycles asked for it."""

    def story(play: Play) -> str:
        found = ""
        for number, percent in enumerate(free):
            fan(play, number + 1)
            usage = SimpleNamespace(total=1000, used=1000 - 10 * percent, free=10 * percent)
            with mock.patch.object(limits.shutil, "disk_usage", return_value=usage):
                play.crawl(later=HOUR)
            found += "x" if f"/{number}" in play.paths() else "-"
        return found

    return story


# ---- destinations


def found_in(*words: str) -> Story:
    def story(play: Play) -> object:
        fan(play, 1)
        play.crawl()
        return play.found(*words, "needle")

    return story


FED = {"feeding/main/collection": "handbook"}
TWO_FED = {
    **FED,
    "feeding/main/primary": True,
    "feeding/copy/collection": "copies",
    "feeding/copy/paused": True,
}
V6 = ("URL/", "http://[::1]:PORT/")

CASES: dict[int, Case] = {
    5: Case(handed_over, False, True, {"send_links_to": "other"}, {"exclude_uris/suffix": ("/theirs",)}, OTHER, OTHER),
    10: Case(mirrored, 2, 1, {"mirror_site_files": ("mirrors.txt",)}),
    12: Case(smallest_gap, 60, 2, {"delay": 2.3}, {"delay": 60.0}),
    13: Case(at_once, 2, 1, {"max_pending": 1}),
    14: Case(smallest_gap, 1, 0, {"enforce_delay_per_ip": False},
             {"delay": 1.0, "start_uris": ("URL/", "http://localhost:PORT/")}),
    15: Case(lambda play: two_hosts(play) > 1, True, False, {"max_sites": 1}, TWO_HOSTS),
    16: Case(lambda play: two_hosts(play) > 1, False, True, {"max_inter_docs": 1}, {**TWO_HOSTS, "max_sites": 1}),
    17: Case(lambda play: len(failing(play).paths("/")) > 4, True, False, {"max_backoff_counter": 3}),
    18: Case(lambda play: max(failing(play).gaps()) > 100.0, True, False, {"max_backoff_delay": 90}, {"delay": 60.0}),
    19: Case(shared_cookie, "", "basket=1", {"domain_clustering": True}, SHOP),
    23: Case(second_statuses, [304], [200], {"if_modified_since": False}),
    32: Case(asks_again, 0, 1, {"robots_ttl": 60}, ROBOTS),
    33: Case(robots("", seconds=30.0), 2, 0, {"robots_timeout": 20}, ROBOTS),
    34: Case(robots("", status=403), 2, 0, {"robots_auth_ignore": False}, ROBOTS),
    35: Case(robots("", seconds=400.0), 0, 2, {"robots_tout_ignore": True}, ROBOTS),
    36: Case(obeyed_gap, 1, 7, {"obey_robots_delay": True}, {**ROBOTS, "delay": 1.0}),
    51: Case(reported("Referrers"), 0, 1, {"max_reflinks": 2}),
    57: Case(cookie_at_the_end, False, True, {"cookie_timeout": 900},
             {"use_cookies": True, "delay": 100.0, "max_pending": 1}),
    58: Case(club(asked("/in"), seconds=60.0), True, False, {"login_timeout": 45}, {}, login_xml(), login_xml()),
    59: Case(club(asked("/in"), status=403), False, True, {"login_failed_ignore": True}, {}, login_xml(), login_xml()),
    60: Case(next_run, 1500, 60, {"refresh": 60.0}),
    61: Case(left_over, ["/", *LEFT], LEFT[2:], {"refresh_mode": "soft"}, {"max_backoff_counter": 1, "max_pending": 1}),
    62: Case(next_run, 1500, 0, {"refresh_when_idle": True}),
    63: Case(lambda play: orphan(play)[0], 0, 1, {"dbswitch": 3}),
    64: Case(lambda play: orphan(play)[1], ["/7"], [], {"dbswitch_delete": True}, {"dbswitch": 2}),
    74: Case(lambda play: two_hosts(play) > 0, False, True, {"include_domains/ip6mask": ("::1/128",)},
             {"start_uris": V6, "include_domains/exact": ("127.0.0.1",)}),
    81: Case(lambda play: two_hosts(play) > 0, True, False, {"exclude_domains/ip6mask": ("::1/128",)},
             {"start_uris": V6}),
    106: Case(clusters, 8, 3, {"storage/clusters": 3}),
    107: Case(shrinks, True, False, {"storage/defrag_threshold": 0}),
    110: Case(recorded, 2, 1, {"pp/max_dupes": 1}),
    112: Case(reported("Redirects"), 0, 1, {"pp/ds_meta_info": ("redirects",)}),
    113: Case(listed, 2, 1, {"pp/ds_max_ecl": 1}, {"pp/ds_meta_info": ("duplicates",)}),
    115: Case(reported("Links"), 0, 1, {"pp/ds_send_links": True}),
    114: Case(listed, 1, 2, {"pp/ecl_override": ".*/[0-9]"}, {"pp/ds_meta_info": ("duplicates",), "pp/ds_max_ecl": 1}),
    121: Case(found_in("--index", "archive"), [], ["/", "/0"], {"feeding/main/collection": "archive"}, FED),
    123: Case(found_in(), ["/", "/0"], [], {"feeding/main/paused": True}, FED),
    124: Case(found_in(), ["/", "/0"], [], {"feeding/main/primary": False, "feeding/copy/primary": True}, TWO_FED),
    135: Case(errors(status(404)), False, True, {"http_errors/4xx": "KEEP"}),
    136: Case(errors(status(503), 2), True, False, {"http_errors/5xx": "DELETE:2"}),
    137: Case(errors(broken, 2), True, False, {"http_errors/int": "DELETE:2"}, PDF),
    138: Case(attempts(lambda site: site.raw("/7", b"")), 2, 5, {"http_errors/net": "KEEP, RETRY:4"}),
    139: Case(errors(lambda site: site.slow("/7", 5.0), 3), False, True, {"http_errors/ttl": "KEEP"},
              {"fetch_timeout": 1}),
    140: Case(attempts(status(408)), 1, 3, {"http_errors/408": "KEEP, RETRY:2"}),
    141: Case(ftp(3, says("450 busy")), False, True, {"ftp_errors/4xx": "KEEP"}, FTP),
    142: Case(ftp(1, says("550 no")), False, True, {"ftp_errors/550": "KEEP"}, FTP),
    143: Case(ftp(2, says("552 no")), True, False, {"ftp_errors/5xx": "DELETE:2"}, FTP),
    144: Case(ftp(2, lambda play: play.ftp.put("a.pdf", b"%PDF-1.4 broken")), True, False,
              {"ftp_errors/int": "DELETE:2"}, FTP),
    145: Case(ftp(3, lambda play: play.ftp_server.close()), False, True, {"ftp_errors/net": "KEEP"}, FTP),
    146: Case(ftp(3, says("")), False, True, {"ftp_errors/ttl": "KEEP"}, FTP),
    147: Case(ftp(3, says("450 busy")), False, True, {"ftp_errors/450": "KEEP"}, FTP),
    148: Case(levels, "lhlhlhlh", "hhhhllll", {"workqueue_priority/levels": 2},
              {**PRI, "workqueue_priority/levels": 1}),
    149: Case(levels, "lhlhlhlh", "hhhhllll", {"workqueue_priority/default": 2},
              {**PRI, "workqueue_priority/default": 1}),
    150: Case(starts, ["/a", "/b", "/h/0"], ["/a", "/h/0", "/b"], {"workqueue_priority/start_uri_pri": 2},
              {**PRI, "start_uris": ("URL/a", "URL/b")}),
    151: Case(levels, "lhlhlhlh", "hhhhllll", {"workqueue_priority/pop_scheme": "pri"}, PUT),
    152: Case(levels, "lhlhlhlh", "hhhhllll", {"workqueue_priority/put_scheme": "include"},
              {**PRI, "workqueue_priority/put_scheme": "default"}),
    153: Case(levels, "lhlhlhlh", "hhlhhlll", {"workqueue_priority/1/share": 3},
              {**WRR, "workqueue_priority/1/share": 1}),
    171: Case(disk(50, 9), "xx", "x-", {"limits/disk_free": 10}),
    172: Case(disk(50, 9, 14), "x-x", "x--", {"limits/disk_free_slack": 9}, {"limits/disk_free": 10}),
    173: Case(grows, ["/new"], [], {"limits/max_doc": 4}),
    174: Case(grows, ["/new"], [], {"limits/max_doc_slack": 5}, {"limits/max_doc": 8, "limits/max_doc_slack": 2}),
    180: Case(smallest_gap, 1, 7, {"variable_delay/Mon:00-Sun:23": "7"}, {"delay": 1.0}),
    181: Case(next_run, 375, 750, {"adaptive/refresh_count": 2}, {"refresh_mode": "adaptive"}),
    182: Case(shares, (9, 1), (5, 5), {"adaptive/refresh_quota": 50}, MINOR),
    183: Case(lambda play: sum(shares(play)), 10, 20, {"adaptive/coverage_min": 20}, MINOR),
    184: Case(lambda play: sum(shares(play)), 10, 24, {"adaptive/coverage_max_pct": 40}, MINOR),
    185: weight("inverse_length", "/a", "/x/y/z/b/c/d/e"),
    # The start page is nearer than both.
    186: Case(chosen("/x/y/z/b", "/a", {}), "/a", "", {"adaptive/weights/inverse_depth": 9.0}, SHORT),
    188: Case(chosen("/x/y/z/b", "/a", {}, plain="/a"), "/a", "/x/y/z/b", {"adaptive/weights/is_mime_markup": 9.0},
              SHORT),
    189: Case(chosen("/x/y/z/b", "/a", {}), "/a", "/x/y/z/b", {"adaptive/weights/change_history": 9.0}, SHORT),
    187: weight("is_landing_page", "/x/", "/x/b"),
    190: Case(chosen("/a", "/x/y/z/b", {"/a": "never", "/x/y/z/b": "always"}), "/a", "/x/y/z/b",
              {"adaptive/weights/sitemap": 9.0}, {**SHORT, "use_sitemaps": True, "adaptive/weights/sitemap": 0.0}),
    191: frequency("always", 0.0),
    192: frequency("hourly", 0.0),
    193: frequency("daily", 1.0, rival="hourly"),
    194: frequency("weekly", 1.0),
    195: frequency("monthly", 1.0),
    196: frequency("yearly", 1.0),
    197: frequency("never", 1.0),
    198: frequency("default", 1.0),
    199: Case(shared_cookie, "", "basket=1", {"site_clusters/shop": ("a.shop.test", "b.shop.test")}, SHOP),
    203: Case(beyond, True, False, {"crawlmode/reset_level": False}, {"crawlmode/mode": "DEPTH:1"}),
    211: Case(feed, ["/a", "/b", "/c"], ["/b", "/c"], {"rss/del_expired_links": True},
              {**FEED, "rss/max_link_count": 2}),
    212: Case(feed, ["/a", "/b", "/c"], ["/c"], {"rss/max_link_age": 90}, EXPIRING),
    213: Case(feed, ["/a", "/b", "/c"], ["/b", "/c"], {"rss/max_link_count": 2}, EXPIRING),
    214: of_login(asked("/hello"), False, True, preload="URL/hello"),
    216: Case(club(lambda play: dict(zip(play.paths(), play.hosts(), strict=True)).get("/enter")), "127.0.0.1",
              "127.0.0.2", {}, {}, login_xml(sites=("127.0.0.1",)),
              login_xml(sites=("127.0.0.1",), site="127.0.0.2:PORT")),
    217: of_login(asked("/other"), False, True, form="/other"),
    218: of_login(sent("/enter"), "POST user=robot", "", action="GET"),
    219: of_login(asked("/enter"), True, False, sites=("127.0.0.9",)),
    220: Case(entries, 1, 4, {}, {"delay": 100.0, "max_pending": 1}, login_xml(), login_xml(ttl=150)),
    221: Case(club(asked("/second-form")), False, True, {}, {}, login_xml(html_form="URL/form", autofill=True),
              login_xml(html_form="URL/second-form", autofill=True)),
    222: Case(club(sent("/enter")), "POST user=robot", "POST token=t1&user=robot", {}, {},
              login_xml(html_form="URL/form"), login_xml(html_form="URL/form", autofill=True)),
    223: Case(second_attempt, [], ["/", "/in"], {}, {"delay": 1.0}, login_xml(ttl=60),
              login_xml(ttl=60, relogin_if_failed=True)),
    224: of_login(sent("/enter"), "POST user=robot", "POST user=robot&group=staff", _group="staff"),
}  # fmt: skip


@pytest.mark.parametrize("number", CASES, ids=lambda number: f"fast_{number}")
def test_the_story_differs(tmp_path_factory: pytest.TempPathFactory, number: int) -> None:
    case = CASES[number]
    assert play_both(number, case, tmp_path_factory) == (case.without, case.with_it)
