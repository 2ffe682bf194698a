"""Which URL is next, and how politely: every option seen at the server's side, in real crawls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from support.clock import monotonic_time, wall_time
from support.crowd import Crowd
from support.named import named
from support.network import NetworkSite
from support.pace import gaps, kept
from support.project import Workspace, kill_group
from support.resource import Reply
from support.sentences import sentence
from support.site import Site
from support.until import until

from ultracrawl.stores import SiteClock, SqliteSiteStore


def times(site: Site) -> list[float]:
    return [request.time for request in site.requests]


def tree(site: Site, pages: int) -> None:
    site.page("/", title="Home", links=[f"/p{number}" for number in range(pages)])
    for number in range(pages):
        site.page(f"/p{number}", title=f"Page {number}", text="words")


@pytest.fixture
def several() -> Iterator[list[tuple[Site, str]]]:
    """Three sites on addresses of their own."""
    sites = [NetworkSite() for _ in range(3)]
    with ExitStack() as stack:
        yield [
            (site, stack.enter_context(site.serve(f"127.0.0.{number + 11}")))
            for number, site in enumerate(sites)
        ]


@pytest.mark.parametrize("concurrency", [1, 2, 8, 64])
def test_fast_12_portal_robot_130_the_delay_holds_at_the_server(
    site: Site, url: str, workspace: Workspace, concurrency: int
) -> None:
    """From request to request: robots.txt, sitemaps, pages, a redirect, and an attempt that is made again."""
    site.page("/", title="Home", links=["/a", "/b", "/moved", "/busy"])
    for path in ("/a", "/b", "/c"):
        site.page(path, title=path)
    site.redirect("/moved", "/c")
    site.respond("/busy", status=503)
    workspace.define(
        f"{url}/", politeness={"delay": 5, "concurrency": concurrency, "backoff": {"longest": 0}}
    )
    workspace.crawl()
    assert {"/robots.txt", "/", "/a", "/b", "/c", "/moved", "/busy"} <= set(site.paths())
    assert site.count("/busy") == 2
    assert kept(times(site), 5)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_fast_13_portal_robot_129_requests_at_once(
    site: Site, url: str, workspace: Workspace, concurrency: int
) -> None:
    crowd = Crowd(concurrency)
    site.page("/", links=crowd.at(site, [f"/p{number}" for number in range(2 * concurrency)]))
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": concurrency})
    workspace.crawl()
    assert crowd.most == concurrency


@pytest.mark.parametrize("per_address", [False, True])
def test_fast_14_two_names_of_one_address(
    site: Site, url: str, workspace: Workspace, per_address: bool
) -> None:
    tree(site, 2)
    other = url.replace("127.0.0.1", "localhost")
    workspace.define(
        start_urls=[f"{url}/", f"{other}/"],
        politeness={"delay": 0.3, "concurrency": 4, "per_address": per_address},
        sitemaps={"use": False},
    )
    run = workspace.crawl().run
    assert (run["fetched"], run["outcomes"]) == (6, {"NEW": 3, "DUPLICATE": 3})
    assert kept(times(site), 0.3) is per_address


def at_local(hour: int, minute: int, second: float) -> dict[str, str]:
    """Return an environment in which it is that time, on some day of the week."""
    now = datetime.now(UTC).replace(microsecond=0)
    wanted = now.replace(hour=hour, minute=minute, second=0) + timedelta(seconds=second)
    east = int((wanted - now).total_seconds())
    east = (east + 43_200) % 86_400 - 43_200
    hours, rest = divmod(abs(east), 3600)
    return {"TZ": f"XXX{'-' if east > 0 else '+'}{hours:02}:{rest // 60:02}:{rest % 60:02}"}


def every_day(span: str, value: object) -> dict[str, object]:
    begin, end = span.split("-")
    return {f"{day}:{begin}-{day}:{end}": value for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")}


def test_fast_180_a_suspended_crawl_goes_on_by_itself(site: Site, url: str, workspace: Workspace) -> None:
    tree(site, 2)
    spans = every_day("11.30-12", "suspend")
    workspace.define(f"{url}/", politeness={"delay": 0, "variable_delay": spans})
    noon = monotonic_time() + 4 - wall_time() % 1
    at = at_local(11, 59, 56)
    run = workspace.crawl(**at).run
    assert run["fetched"] == 3
    assert min(request.time for request in site.requests) >= noon - 0.05, "it began at noon"


@pytest.mark.parametrize(("minute", "slow"), [(30, True), (10, False)])
def test_fast_180_a_span_has_its_own_delay(
    site: Site, url: str, workspace: Workspace, minute: int, slow: bool
) -> None:
    tree(site, 2)
    spans = every_day("11.20-12", 0.3)
    workspace.define(f"{url}/", politeness={"delay": 0, "variable_delay": spans})
    workspace.crawl(**at_local(11, minute, 0))
    assert kept(times(site), 0.3) is slow


@pytest.mark.parametrize(
    ("wish", "longest", "waits"), [("1", 60, True), ("30", 0, False), ("date", 60, True)]
)
def test_retry_after_is_obeyed_by_the_whole_site(
    site: Site, url: str, workspace: Workspace, wish: str, longest: float, waits: bool
) -> None:
    """Seconds, or a date; not longer than the source allows."""
    asked: list[float] = []

    def busy(request: object) -> Reply:
        asked.append(monotonic_time())
        if len(asked) > 1:
            return Reply(200, (("Content-Type", "text/html"),), b"<title>x</title>")
        value = wish
        if wish == "date":
            value = (datetime.fromtimestamp(wall_time(), UTC) + timedelta(seconds=2)).strftime(
                "%a, %d %b %Y %H:%M:%S GMT"
            )
        return Reply(429, (("Retry-After", value),), b"")

    site.page("/", links=["/busy"])
    site.dynamic("/busy", busy)
    workspace.define(f"{url}/", politeness={"delay": 0, "longest_retry_after": longest})
    workspace.crawl()
    assert asked[1] - asked[0] >= 0.95 if waits else asked[1] - asked[0] < 25


@pytest.mark.parametrize(
    ("status", "longest", "retries", "asked", "indexed"),
    [(503, 60, 1, 2, True), (429, 60, 1, 2, True), (503, 0, 1, 1, False), (503, 60, 0, 1, False)],
    ids=["503", "429", "not_heeded", "no_retries"],
)
def test_retry_after_of_robots_txt_is_obeyed(
    site: Site,
    url: str,
    workspace: Workspace,
    status: int,
    longest: float,
    retries: int,
    asked: int,
    indexed: bool,
) -> None:
    """The site is left alone so long, and asked for its rules again; other sites go on meanwhile."""
    answers = [Reply(status, (("Retry-After", "20"),), b"")]
    site.dynamic("/robots.txt", lambda _: answers.pop() if answers else Reply(404, (), b""))
    tree(site, 2)
    other = NetworkSite()
    tree(other, 2)
    with other.serve(host="127.0.0.2") as elsewhere:
        politeness = {"delay": 0, "longest_retry_after": longest}
        starts = [f"{url}/", f"{elsewhere}/"]
        workspace.define(start_urls=starts, politeness=politeness, limits={"retries": retries})
        workspace.crawl(code=None)
    times = [request.time for request in site.requests]
    assert site.count("/robots.txt") == asked
    assert (site.count("/p0") == 1) is indexed
    assert not indexed or times[1] - times[0] >= 15
    assert other.count("/p1") == 1
    assert not indexed or max(request.time for request in other.requests) < times[1], "others are not held up"


def test_the_report_names_the_site_that_makes_a_crawl_wait(
    site: Site, url: str, workspace: Workspace
) -> None:
    tree(site, 2)
    answers = [Reply(429, (("Retry-After", wait),), b"") for wait in ("20", "20", "1")]
    site.dynamic("/", lambda _: answers.pop() if answers else Reply(200, (), b"<title>x</title>"))
    workspace.define(f"{url}/", politeness={"delay": 0}, limits={"retries": 3})
    (remark,) = workspace.crawl(code=None).run["remarks"]
    assert [word for word in named(remark) if word in ("20", "1", "politeness.longest_retry_after")] == [
        "20",
        "politeness.longest_retry_after",
    ]


@pytest.mark.parametrize(("longest", "slow"), [(600, True), (0, False)])
def test_fast_17_18_a_network_error_slows_the_site_down(
    site: Site, url: str, workspace: Workspace, longest: float, slow: bool
) -> None:
    site.page("/", links=["/broken", "/a"])
    site.raw("/broken", b"")
    site.page("/a")
    workspace.define(
        f"{url}/",
        politeness={"delay": 0, "concurrency": 1, "backoff": {"longest": longest}},
        limits={"retries": 0},
        sitemaps={"use": False},
    )
    workspace.crawl()
    assert site.paths()[-2:] == ["/broken", "/a"]
    assert (gaps(times(site))[-1] >= 1.5) is slow


def test_fast_17_a_site_with_too_many_errors_is_given_up_and_its_queue_is_kept(
    several: list[tuple[Site, str]], workspace: Workspace
) -> None:
    (bad, bad_url), (good, good_url), _ = several
    bad.page("/", links=[f"/broken{number}" for number in range(20)])
    for number in range(20):
        bad.raw(f"/broken{number}", b"")
    tree(good, 3)
    workspace.define(
        start_urls=[f"{bad_url}/", f"{good_url}/"],
        politeness={"delay": 0, "concurrency": 1, "backoff": {"longest": 0, "limit": 5}},
        limits={"retries": 0},
    )
    run = workspace.crawl().run
    name = urlsplit(bad_url).netloc
    assert len({path for path in bad.paths() if path.startswith("/broken")}) == 5
    assert run["outcomes"] == {"NETWORK_ERROR": 5, "NEW": 5}
    assert run["given_up"] == {name: 15}
    assert run["scheduled"] == 25
    status = workspace.command("status", name, "--json").json["sites"][0]
    assert (status["given_up"], status["queued"]) == (True, {"1": 15})
    assert status["last_error"]
    bad.reset()
    assert workspace.crawl().run["resumed"] is False
    assert [path for path in bad.paths() if path.startswith("/broken")], "it begins afresh in the next run"


def test_a_run_fails_of_which_all_sites_were_given_up_before_a_page_was_read(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", links=["/a", "/b"])
    site.page("/a")
    site.page("/b")
    backoff = {"longest": 0, "limit": 2}
    workspace.define(f"{url}/", politeness={"delay": 0, "backoff": backoff}, limits={"retries": 1})
    workspace.crawl()
    for path in ("/", "/a", "/b"):
        site.raw(path, b"")
    run = workspace.crawl(code=1).run
    assert (run["fetched"], list(run["given_up"])) == (0, [urlsplit(url).netloc])
    (problem,) = run["problems"]
    assert problem.startswith(f"no page could be read: {urlsplit(url).netloc} was given up")
    for path in ("/", "/a", "/b"):
        site.page(path)
    assert workspace.crawl().run["problems"] == []


@pytest.mark.parametrize(
    ("sites", "switches"),
    [({"max_sites": 1}, 2), ({"max_sites": 1, "max_inter_docs": 2}, 8), ({"max_sites": 3}, 8)],
    ids=["fast_15-one after the other", "fast_16-two in a row", "fast_15-all at once"],
)
def test_places(
    several: list[tuple[Site, str]], workspace: Workspace, sites: dict[str, int], switches: int
) -> None:
    """How often the crawl goes from one site to another tells how many have a place, and for how long."""
    for site, _ in several:
        for number in range(8):
            site.page(f"/p{number}", text="words")
    workspace.define(
        start_urls=[f"{url}/p{number}" for _, url in several for number in range(8)],
        politeness={"delay": 0.01, "concurrency": 1},
        sitemaps={"use": False},
        robots={"obey": False},
        sites=sites,
    )
    assert workspace.crawl().run["fetched"] == 24
    asked = sorted((request.time, url) for site, url in several for request in site.requests)
    changes = sum(a != b for (_, a), (_, b) in pairwise(asked))
    assert changes == switches if switches == 2 else changes >= switches


def level_paths(site: Site, url: str, workspace: Workspace, **priority: object) -> list[str]:
    for name in "abcx":
        for number in range(4):
            site.page(f"/{name}/{number}")
    site.page("/", links=[f"/{name}/{number}" for number in range(4) for name in "xcba"])
    workspace.define(
        f"{url}/",
        politeness={"delay": 0, "concurrency": 1},
        sitemaps={"use": False},
        robots={"obey": False},
        priority={
            "levels": 3,
            "default": 3,
            "level": {
                1: {"share": 2, "uris": [f"{url}/a/"]},
                2: {"share": 1, "uris": [f"{url}/b/"]},
            },
            **priority,
        },
    )
    workspace.crawl()
    return [path.strip("/").partition("/")[0] for path in site.paths()[1:]]


@pytest.mark.parametrize(
    ("priority", "order"),
    [
        ({"put_scheme": "include", "pop_scheme": "pri"}, "aaaabbbbxcxcxcxc"),
        ({"put_scheme": "include", "pop_scheme": "wrr"}, "abxaabcabxbcxcxc"),
        ({"put_scheme": "include", "pop_scheme": "rr"}, "bxabcabxabcaxcxc"),
        ({"put_scheme": "default", "pop_scheme": "pri"}, "xcbaxcbaxcbaxcba"),
    ],
    ids=["fast_151-pri", "fast_153-wrr", "fast_151-rr", "fast_149_152-default"],
)
def test_fast_148_levels(
    site: Site, url: str, workspace: Workspace, priority: dict[str, str], order: str
) -> None:
    """The start URL is on level 1 and counts for its share."""
    assert "".join(level_paths(site, url, workspace, **priority)) == order


SHARES = {"wrr": 18, "rr": 12, "pri": 24}
"""URLs of level 1 among 24, when it has three shares of four."""


@pytest.mark.parametrize("scheme", SHARES)
@pytest.mark.parametrize("delay", [0, 0.2])
@pytest.mark.parametrize("sites", [1, 2])
@pytest.mark.parametrize("resumed", [False, True], ids=["one run", "resumed"])
def test_fast_151_153_shares_hold_at_the_server(
    several: list[tuple[Site, str]],
    workspace: Workspace,
    resumed: bool,
    sites: int,
    delay: float,
    scheme: str,
) -> None:
    used = several[:sites]
    for site, _ in used:
        site.page("/", links=[f"/{name}/{number}" for number in range(30) for name in "lh"])
        for number in range(30):
            for name in "hl":
                site.page(f"/{name}/{number}")
    workspace.define(
        used[0][1],
        start_urls=[f"{url}/" for _, url in used],
        politeness={"delay": delay, "concurrency": 1},
        sitemaps={"use": False},
        robots={"obey": False},
        priority={
            "levels": 2,
            "default": 2,
            "pop_scheme": scheme,
            "put_scheme": "include",
            "level": {1: {"share": 3, "uris": [f"{url}/h/" for _, url in used]}},
        },
        limits={"bytes": 2300 * sites} if resumed else {},
    )
    workspace.crawl()
    if resumed:
        assert sum(len(site.requests) for site, _ in used) < 20
        for _ in range(4):
            workspace.crawl()
    asked = sorted((request.time, request.path) for site, _ in used for request in site.requests)
    paths = [path[1] for _, path in asked if path != "/"]
    assert len(paths) >= 24
    assert abs(paths[:24].count("h") - SHARES[scheme]) <= sites


@pytest.mark.parametrize(("start", "first"), [(1, "/start"), (2, "/rule")])
def test_fast_150_start_urls_have_a_level_of_their_own(
    site: Site, url: str, workspace: Workspace, start: int, first: str
) -> None:
    """A run that is resumed, or a second one, keeps the levels as well: known URLs are put on them again."""
    site.page("/rule")
    site.page("/start", links=["/rule"])
    workspace.define(
        f"{url}/start",
        politeness={"delay": 0, "concurrency": 1},
        sitemaps={"use": False},
        robots={"obey": False},
        priority={
            "levels": 2,
            "default": 2,
            "start": start,
            "pop_scheme": "pri",
            "put_scheme": "include",
            "level": {1: {"uris": [f"{url}/rule"]}},
        },
    )
    workspace.crawl()
    site.reset()
    workspace.crawl()
    assert site.paths()[0] == first


def test_fast_10_urls_of_an_alias_become_urls_of_the_main_host(
    site: Site, url: str, workspace: Workspace
) -> None:
    alias = url.replace("127.0.0.1", "localhost")
    site.page("/", links=[f"{alias}/a", "/a", f"{alias}/b"])
    site.page("/a", text="one")
    site.page("/b", text="two")
    (workspace.directory / "mirrors.txt").write_text(
        "# main host first\n127.0.0.1 localhost www2.example.com\n"
    )
    workspace.define(f"{alias}/", sites={"alias_files": ["mirrors.txt"]})
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 3}
    assert {request.header("Host") for request in site.requests} == {urlsplit(url).netloc}
    assert site.count("/a") == 1


# ---- what outlives the process


def delay_site(workspace: Workspace, clock: SiteClock) -> None:
    """Have the project remember that a site may be asked later only."""
    with closing(SqliteSiteStore(workspace.directory / "var/state/sites/sites.sqlite")) as sites:
        crawl = sites.register_crawl("another", 60.0)
        sites.lease_sites(crawl, {clock.site: [clock.site]})
        sites.release_sites(crawl, [clock])
        sites.close_crawl(crawl)


@pytest.mark.servers  # much time
def test_a_delay_survives_a_kill(site: Site, url: str, workspace: Workspace) -> None:
    tree(site, 3)
    workspace.define(f"{url}/", politeness={"delay": 4, "concurrency": 8}, robots={"obey": False})
    process = workspace.start("crawl", "--json")
    until(lambda: site.requests, process)
    kill_group(process)
    status = workspace.command("status", urlsplit(url).netloc, "--json").json["sites"][0]
    assert status["delay"] == 4
    assert status["waits"] == "4 s (definition)"
    process = workspace.start("crawl", "--json")
    until(lambda: len(site.requests) >= 2, process)
    kill_group(process)
    assert gaps(times(site))[0] >= 3.5


def test_status_of_a_site(site: Site, url: str, workspace: Workspace) -> None:
    tree(site, 1)
    site.robots("User-agent: *\nCrawl-delay: 0.1\nDisallow: /private\n")
    workspace.define(f"{url}/", robots={"obey_delay": True})
    workspace.crawl()
    name = urlsplit(url).netloc
    ended = workspace.command("status", name)
    assert ended.code == 0, ended.err
    assert f"{name} (site)" in ended.out
    row = workspace.command("status", name, "--json").json["sites"][0]
    assert (row["source"], row["site"], row["queued"], row["errors"]) == ("site", name, {}, 0)
    assert (row["delay"], row["origin"], row["robots"]) == (0.1, "robots.txt", "1 rules")
    delay_site(workspace, SiteClock(name, next_at=wall_time() + 3000, why="60 s (definition)"))
    assert sentence("queue.none_queued", name=name) in workspace.command("status", name).out
    unknown = workspace.command("status", "nowhere.example.com")
    assert unknown.code == 2
    assert "nowhere.example.com" in unknown.err


@pytest.mark.parametrize(
    ("held", "least", "most"),
    [(False, 0.0, 60.0), (True, 2.0, 60.0)],
    ids=["a delay dated by a clock that was ahead", "a site that asked to be left alone"],
)
def test_no_site_waits_longer_than_there_is_a_reason_for(
    site: Site, url: str, workspace: Workspace, held: bool, least: float, most: float
) -> None:
    tree(site, 2)
    options = {"delay": 0.1, "concurrency": 1, "longest_retry_after": 2.5}
    workspace.define(f"{url}/", politeness=options)
    workspace.crawl()
    site.reset()
    name = url.removeprefix("http://")
    delay_site(workspace, SiteClock(name, next_at=wall_time() + 3000, on_hold=held))
    began = monotonic_time()
    workspace.crawl()
    assert least <= times(site)[0] - began < most
