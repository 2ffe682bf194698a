"""The `robots` section in real crawls: every option off and on, and the pace that a site sees."""

from __future__ import annotations

import json
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from support.later import later
from support.network import NetworkSite
from support.pace import gaps, kept
from support.project import DAY, Workspace
from support.resource import Reply
from support.server import Request
from support.site import Site


def times(site: Site) -> list[float]:
    return [request.time for request in site.requests]


# ---- politeness around robots.txt


def plain(case: str) -> Site:
    """Return a site of some pages that answers robots.txt, or a page, in the way of the case."""
    site = NetworkSite()
    site.page("/", title="Home", text="words", links=["/a", "/b", "/c"])
    for name in "abc":
        site.page(f"/{name}", title=name, text=name)
    site.robots("User-agent: *\nDisallow: /private\n")
    if case == "redirected robots.txt":
        site.redirect("/robots.txt", "/rules.txt")
        site.file("/rules.txt", b"User-agent: *\nDisallow: /private\n", "text/plain")
    elif case == "redirects":
        site.redirect("/a", "/b")
        site.redirect("/c", "/d")
        site.page("/d", title="d")
    elif case == "retries":
        site.respond("/a", status=503)
        site.respond("/b", status=429)
    elif case == "no robots.txt":
        site.remove("/robots.txt")
    return site


@pytest.mark.parametrize("concurrency", [1, 2, 8, 16])
def test_two_requests_are_never_closer_than_the_delay(workspace: Workspace, concurrency: int) -> None:
    """The cases are sites of one crawl: the delay is that of each site."""
    cases = ["plain", "redirected robots.txt", "redirects", "retries", "no robots.txt"]
    sites = [plain(case) for case in cases]
    with ExitStack() as stack:
        urls = [
            stack.enter_context(site.serve(f"127.0.0.{number}"))
            for number, site in enumerate(sites, start=41)
        ]
        starts = [f"{url}{path}" for path in ("/", "/a", "/b", "/c") for url in urls]
        workspace.define(start_urls=starts, politeness={"delay": 0.3, "concurrency": concurrency})
        workspace.crawl(code=None)
    for case, site in zip(cases, sites, strict=True):
        assert len(site.requests) >= 5, case
        assert kept(times(site), 0.3), (case, gaps(times(site)))


def test_a_slow_robots_txt_holds_up_its_own_site_only(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words")
    other = NetworkSite()
    other.respond("/robots.txt", delay=20.0)
    other.page("/", title="Other", text="words")
    with other.serve(host="127.0.0.2") as elsewhere:
        starts = [f"{elsewhere}/?{number}" for number in range(40)] + [f"{url}/"]
        workspace.define(start_urls=starts)
        workspace.crawl(code=None)
    first = min(request.time for request in other.requests)
    assert next(request.time for request in site.requests if request.path == "/") < first + 15


@pytest.mark.parametrize("ill", ["robots.txt hangs", "robots.txt breaks off", "pages hang"])
def test_an_ill_site_holds_up_nobody_and_is_not_asked_faster_than_its_delay(
    site: Site, url: str, workspace: Workspace, ill: str
) -> None:
    """Several requests may be out at once: the other site goes on, and one delay lies between any two of a site."""
    site.page("/", title="Home", text="words", links=[f"/p{number}" for number in range(6)])
    for number in range(6):
        site.page(f"/p{number}", title=f"Page {number}", text="words")
    other = NetworkSite()
    if ill == "robots.txt hangs":
        other.respond("/robots.txt", delay=40.0)
    elif ill == "robots.txt breaks off":
        other.raw("/robots.txt", b"")
    else:
        for number in range(4):
            other.respond(f"/{number}", delay=40.0)
    with other.serve(host="127.0.0.2") as elsewhere:
        workspace.define(
            start_urls=[*(f"{elsewhere}/{number}" for number in range(4)), f"{url}/"],
            politeness={"delay": 4, "concurrency": 4, "backoff": {"longest": 0}},
            robots={"timeout": 20},
            limits={"timeout": 20, "retries": 1},
        )
        workspace.crawl(code=None)
    assert site.count("/p5") == 1
    closest = 4 * 0.7  # what is held up on a busy machine comes closer to the next
    for one in (site, other):
        assert all(gap > closest for gap in gaps(times(one))), times(one)
    # Eight requests, 4 s apart: had they waited for a time-out of the ill site each (20 s), it would be far more.
    assert times(site)[-1] - times(site)[0] < 80
    if ill == "pages hang":
        assert len(times(other)) >= 5, "robots.txt and every page, some of them twice"


def test_urls_that_robots_txt_forbids_cost_no_time(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="words", links=[f"/private/{number}" for number in range(50)])
    site.robots("User-agent: *\nDisallow: /private\n")
    workspace.define(f"{url}/", politeness={"delay": 3})
    run = workspace.crawl().run
    assert run["outcomes"] == {"NEW": 1, "ROBOTS": 50}
    assert run["seconds"] < 100


@pytest.mark.parametrize(
    ("lines", "obey", "least", "most"),
    [
        pytest.param("Crawl-delay: 0.5", True, 0.5, 1.5, id="fast_36-crawl delay obeyed"),
        pytest.param("Crawl-delay: 0.5", False, 0.0, 0.4, id="fast_36-crawl delay ignored by default"),
        pytest.param("Request-rate: 2/1s", True, 0.5, 1.5, id="request rate obeyed"),
        pytest.param("Disallow: /x", True, 0.1, 0.4, id="fast_36-no directive: own delay"),
        pytest.param("Crawl-delay: nan", True, 0.1, 0.4, id="nonsense: own delay"),
    ],
)
def test_obey_delay(
    site: Site, url: str, workspace: Workspace, lines: str, obey: bool, least: float, most: float
) -> None:
    site.page("/", title="Home", links=["/a", "/b", "/c"])
    site.robots(f"User-agent: *\n{lines}\n")
    workspace.define(
        f"{url}/", politeness={"delay": 0.1, "concurrency": 8}, robots={"obey_delay": obey} if obey else {}
    )
    workspace.crawl()
    assert kept(times(site), least), gaps(times(site))
    assert sorted(gaps(times(site)))[1] < most


def test_a_shorter_crawl_delay_replaces_a_longer_one_of_ours(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=["/a", "/b"])
    site.robots("User-agent: *\nCrawl-delay: 0.2\n")
    workspace.define(f"{url}/", politeness={"delay": 60, "concurrency": 8}, robots={"obey_delay": True})
    assert workspace.crawl().run["seconds"] < 60
    assert kept(times(site), 0.2), gaps(times(site))


# ---- which robots.txt counts


def test_fast_32_rules_older_than_ttl_are_fetched_again(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=[f"/{number}" for number in range(8)])
    site.robots("User-agent: *\nDisallow: /x\n")
    workspace.define(f"{url}/", politeness={"delay": 0.1}, robots={"ttl": 0.3})
    assert workspace.crawl(code=None).code == 0
    assert 3 <= site.count("/robots.txt") <= 6
    assert kept(times(site), 0.1), gaps(times(site))


def test_fast_32_new_rules_hold_from_then_on(site: Site, url: str, workspace: Workspace) -> None:
    for number in range(8):
        site.page(f"/p/{number}", title="x", text="words", links=[f"/p/{number + 1}"])

    def answer(request: Request) -> Reply:
        times = site.count("/robots.txt")
        rule = "" if times < 2 else "Disallow: /p/"
        return Reply(200, (("Content-Type", "text/plain"),), f"User-agent: *\n{rule}\n".encode())

    site.dynamic("/robots.txt", answer)
    workspace.define(f"{url}/p/0", politeness={"delay": 0.1}, robots={"ttl": 0.25})
    outcomes = workspace.crawl().run["outcomes"]
    assert outcomes["ROBOTS"] == 1
    assert outcomes["NEW"] < 8


def test_rules_that_cannot_be_fetched_again_stay(site: Site, url: str, workspace: Workspace) -> None:
    """RFC 9309 2.4: an earlier copy may serve while robots.txt cannot be reached."""
    site.page("/", title="Home", links=["/a", "/b", "/private"])
    for name in "ab":
        site.page(f"/{name}", title=name)

    def answer(request: Request) -> Reply:
        fine = site.count("/robots.txt") < 2
        body = b"User-agent: *\nDisallow: /private\n" if fine else b""
        return Reply(200 if fine else 503, (("Content-Type", "text/plain"),), body)

    site.dynamic("/robots.txt", answer)
    workspace.define(f"{url}/", politeness={"delay": 0.1}, robots={"ttl": 0})
    assert workspace.crawl().run["outcomes"] == {"NEW": 3, "ROBOTS": 1}
    assert site.count("/robots.txt") >= 3


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        pytest.param({}, {"NETWORK_ERROR": 1}, id="fast_35-timed out: not crawled"),
        pytest.param({"timeout_ignore": True}, {"NEW": 1}, id="fast_35-ignored: crawled"),
    ],
)
def test_fast_33_35_timeout(
    site: Site, url: str, workspace: Workspace, options: dict[str, Any], outcomes: dict[str, int]
) -> None:
    site.page("/", title="Home", text="words")
    site.respond("/robots.txt", delay=3.0)
    workspace.define(f"{url}/", robots={"timeout": 0.5, **options})
    assert workspace.crawl(code=None).run["outcomes"] == outcomes


@pytest.mark.parametrize("status", [401, 402, 403, 407])
@pytest.mark.parametrize(
    ("options", "outcomes"),
    [({}, {"NEW": 1}), ({"auth_ignore": False}, {"NETWORK_ERROR": 1})],
    ids=["fast_34-ignored by default", "fast_34_example_37-taken as a refusal"],
)
def test_fast_34_auth_ignore(
    site: Site, url: str, workspace: Workspace, status: int, options: dict[str, Any], outcomes: dict[str, int]
) -> None:
    site.page("/", title="Home", text="words")
    site.respond("/robots.txt", status=status)
    workspace.define(f"{url}/", robots=options)
    assert workspace.crawl(code=None).run["outcomes"] == outcomes
    assert site.count("/") == outcomes.get("NEW", 0)


# ---- checklist


def test_ultra_search_77_80_81_the_sample(site: Site, url: str, workspace: Workspace) -> None:
    paths = ["/cyberworld/map/a", "/tmp/", "/foo.html", "/foo.htmlx", "/foo", "/cyberworld/"]
    site.page("/", title="Home", links=paths)
    for path in paths:
        site.page(path, title=path)
    site.robots(
        "# robots.txt for a site\nUser-agent: *\nDisallow: /cyberworld/map/ # infinite space\n\n"
        "Disallow: /tmp/\nDisallow: /foo.html\n"
    )
    workspace.define(f"{url}/")
    workspace.crawl()
    rows = workspace.urls()
    blocked = {path for path, row in rows.items() if row["outcome"] == "ROBOTS"}
    assert blocked == {"/cyberworld/map/a", "/tmp/", "/foo.html", "/foo.htmlx"}
    assert not blocked & set(site.paths())
    assert {rows[path]["status_code"] for path in blocked} == {951}
    assert all(rows[path]["reason"].startswith("30031 ") for path in blocked)


# ---- links marked nofollow


@pytest.mark.parametrize(("options", "followed"), [({}, False), ({"follow_nofollow_links": True}, True)])
def test_follow_nofollow_links(
    site: Site, url: str, workspace: Workspace, options: dict[str, Any], followed: bool
) -> None:
    site.page("/", title="Home", head='<a href="/marked" rel="nofollow">x</a>', links=["/plain"])
    workspace.define(f"{url}/", robots=options)
    workspace.crawl()
    assert (site.count("/marked") == 1) is followed
    assert site.count("/plain") == 1


# ---- reservations


RESERVED: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "noai in META": ({"robots": "noai"}, "", "ai", "noai"),
    "noai in a header": ({"headers": {"X-Robots-Tag": "noai"}}, "", "ai", "noai"),
    "noml": ({"robots": "NOML"}, "", "ai", "noml"),
    "noimageai": ({"robots": "noimageai"}, "", "ai-images", "noimageai"),
    "TDMRep header": ({"headers": {"TDM-Reservation": "1"}}, "", "tdm", "tdm-reservation"),
    "TDMRep META": ({"head": '<meta name="tdm-reservation" content="1">'}, "", "tdm", "tdm-reservation"),
    "Content-Signal search": ({}, "search=no, ai-train=yes", "search", "search=no"),
    "Content-Signal ai-train": ({}, "search=yes, ai-train=no", "ai", "ai-train=no"),
    "Content-Signal ai-input": ({}, "ai-input=no", "ai", "ai-input=no"),
    "Content-Signal ai-input alone": ({}, "ai-train=yes, AI_Input = No", "ai-input", "ai-input=no"),
    "Content-Signal ai-train alone": ({}, "ai-input=yes,ai-train=no", "ai-train", "ai-train=no"),
}


@pytest.mark.parametrize("case", RESERVED)
def test_reservations_are_kept_and_obeyed_by_setting(
    site: Site, url: str, workspace: Workspace, case: str
) -> None:
    """Not obeyed, the word is a document attribute; obeyed, the page is followed and not indexed."""
    page, signal, use, word = RESERVED[case]
    site.page("/", title="Home", text="words", links=["/child"], **page)
    if signal:
        site.robots(f"User-agent: *\nContent-Signal: {signal}\nAllow: /\n")
    definition: dict[str, Any] = {"attributes": {"reservations": "Subject"}}
    workspace.define(f"{url}/", robots={"obey_reservations": []}, **definition)
    workspace.crawl()
    assert workspace.search(f'Subject:"{word}"') == ["/"]
    workspace.define(f"{url}/", robots={"obey_reservations": [use]}, **definition)
    workspace.crawl(code=1)
    assert workspace.search("words") == []
    assert workspace.urls()["/"]["reason"] == f"the page is reserved: {word}"
    assert site.count("/child") >= 1


def test_who_permits_input_to_models_and_reserves_their_training_is_indexed_for_those_who_ask_for_input(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    site.robots("User-agent: *\nContent-Signal: search=yes, ai-input=yes, ai-train=no\nAllow: /\n")
    workspace.define(f"{url}/", robots={"obey_reservations": ["search", "ai-input"]})
    workspace.crawl()
    assert workspace.search("words") == ["/"]
    workspace.define(f"{url}/", robots={"obey_reservations": ["search", "ai"]})
    assert workspace.crawl(code=1).run["cause"] == "reserved"
    assert workspace.search("words") == []


@pytest.mark.parametrize("use", ["ai", "ai-images", "tdm"])
def test_only_the_reservation_against_searching_is_obeyed_by_default(
    site: Site, url: str, workspace: Workspace, use: str
) -> None:
    site.page("/", title="Home", text="words", robots="noai, noimageai", headers={"TDM-Reservation": "1"})
    workspace.define(f"{url}/")
    workspace.crawl()
    assert workspace.search("words") == ["/"]


def test_a_signal_that_comes_and_goes_while_the_page_stays(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/")
    workspace.crawl()
    site.robots("User-agent: *\nContent-Signal: search=no\n")
    workspace.age(DAY)
    workspace.crawl(code=1)
    assert workspace.search("words") == []
    workspace.age(DAY)
    site.robots("User-agent: *\nContent-Signal: search=yes\n")
    workspace.crawl()
    assert workspace.search("words") == ["/"]


def test_a_tdm_header_that_comes_and_goes_while_the_page_stays(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/", robots={"obey_reservations": "tdm"})
    workspace.crawl()
    site.page("/", title="Home", text="words", headers={"TDM-Reservation": "1"}, etag=False, modified=False)
    workspace.crawl(code=1)
    assert workspace.search("words") == []
    site.page("/", title="Home", text="words")
    workspace.crawl()
    assert workspace.search("words") == ["/"]


TDM_FILE = "/.well-known/tdmrep.json"
OBEYS_TDM: dict[str, Any] = {"robots": {"obey_reservations": ["search", "tdm"]}}


def reserve(site: Site, *rules: tuple[str, int]) -> None:
    content = [{"location": location, "tdm-reservation": value} for location, value in rules]
    site.file(TDM_FILE, json.dumps(content).encode(), "application/json")


def shelf(site: Site) -> None:
    """Fill a site with a page that everybody may use, two reserved ones, and one that permits its use itself."""
    site.page(
        "/", title="Home", text="words", links=["/closed/a", "/closed/open/b", "/closed/own", "/closed/c"]
    )
    site.page("/closed/a", title="a", text="words")
    site.page("/closed/open/b", title="b", text="words of b")
    site.page("/closed/own", title="own", text="own words", head='<meta name="tdm-reservation" content="0">')
    site.page("/closed/c", title="c", text="other words", headers={"TDM-Reservation": "0"})


OPEN = ["/", "/closed/c", "/closed/open/b", "/closed/own"]


def test_tdmrep_json_is_obeyed_where_the_source_asks_for_it(
    site: Site, url: str, workspace: Workspace
) -> None:
    """The file is fetched once a day, its rules hold in every run, and what permits its use itself stays."""
    shelf(site)
    reserve(site, ("/closed/open/", 0), ("/closed/", 1))
    workspace.define(f"{url}/", attributes={"reservations": "Subject"})
    workspace.crawl()
    assert sorted(workspace.search("words")) == sorted([*OPEN, "/closed/a"])
    assert site.count(TDM_FILE) == 0, "who does not obey it does not ask for it"
    workspace.define(f"{url}/", **OBEYS_TDM)
    for _ in range(3):
        workspace.crawl()
        assert sorted(workspace.search("words")) == OPEN
    assert site.count(TDM_FILE) == 1
    requests = [request.path for request in site.requests]
    assert requests.count("/robots.txt") == 1, "the known robots.txt is not asked for again"
    row = workspace.urls()["/closed/a"]
    assert (row["outcome"], row["cause"]) == ("NOT_INDEXED", "reserved")
    assert "tdmrep.json" in row["reason"]


def test_tdmrep_json_that_comes_and_goes_while_the_pages_stay(
    site: Site, url: str, workspace: Workspace
) -> None:
    shelf(site)
    workspace.define(f"{url}/", **OBEYS_TDM)
    workspace.crawl()
    assert sorted(workspace.search("words")) == sorted([*OPEN, "/closed/a"])
    reserve(site, ("/closed/open/", 0), ("/closed/", 1))
    workspace.age(DAY)
    workspace.crawl()
    assert sorted(workspace.search("words")) == OPEN
    assert workspace.crawl().run["outcomes"].get("MODIFIED") is None
    site.remove(TDM_FILE)
    workspace.age(DAY)
    workspace.crawl()
    assert sorted(workspace.search("words")) == sorted([*OPEN, "/closed/a"])


def test_a_tdmrep_json_that_cannot_be_had_holds_up_nothing_and_the_one_before_stays(
    site: Site, url: str, workspace: Workspace
) -> None:
    shelf(site)
    site.respond(TDM_FILE, status=500)
    workspace.define(f"{url}/", **OBEYS_TDM)
    workspace.crawl()
    assert "/closed/a" in workspace.search("words")
    reserve(site, ("/closed/a", 1))
    workspace.crawl()
    assert "/closed/a" not in workspace.search("words"), "a failure is not kept for a day"
    site.respond(TDM_FILE, status=500)
    workspace.age(DAY)
    workspace.crawl()
    assert "/closed/a" not in workspace.search("words")


def test_tdmrep_json_is_not_fetched_where_robots_txt_forbids_it(
    site: Site, url: str, workspace: Workspace
) -> None:
    shelf(site)
    reserve(site, ("/", 1))
    site.robots("User-agent: *\nDisallow: /.well-known/\n")
    workspace.define(f"{url}/", **OBEYS_TDM)
    workspace.crawl()
    assert site.count(TDM_FILE) == 0
    assert "/closed/a" in workspace.search("words")


def test_tdmrep_json_is_obeyed_without_robots_txt(site: Site, url: str, workspace: Workspace) -> None:
    shelf(site)
    reserve(site, ("/", 1))
    options = {"robots": {"obey": False, "obey_reservations": "tdm"}, "sitemaps": {"use": False}}
    workspace.define(f"{url}/", **options)
    workspace.crawl()
    assert sorted(workspace.search("words")) == ["/closed/c", "/closed/own"]


# ---- directives with consequences of their own


@pytest.mark.parametrize("where", ["meta", "header"])
def test_unavailable_after(site: Site, url: str, workspace: Workspace, where: str) -> None:
    """The page leaves the index with the first run after that moment, although the page is as it was."""
    end = datetime.now(UTC) + timedelta(hours=1)
    value = f"unavailable_after: {format_datetime(end, usegmt=True)}"
    meta = {"robots": value} if where == "meta" else {"headers": {"X-Robots-Tag": value}}
    site.page("/", title="Home", text="words", links=["/past"], **meta)  # type: ignore[arg-type]  # one of two keys
    site.page("/past", title="x", text="words", robots="unavailable_after: 25-Jun-2010 15:00:00 GMT")
    workspace.define(f"{url}/", attributes={"robots_directives": "Subject"})
    workspace.crawl()
    assert workspace.search("words") == ["/"]
    assert workspace.crawl().run["outcomes"].get("UNMODIFIED") == 1
    assert workspace.search("words") == ["/"], "before its end it is there"
    workspace.crawl(code=1, **later(workspace.directory, 3602))
    assert workspace.search("words") == []
    assert workspace.urls()["/"]["reason"] == "unavailable_after has passed"


@pytest.mark.parametrize(
    ("value", "hidden"), [("nosnippet", True), ("max-snippet:0", True), ("noarchive", False)]
)
def test_nosnippet_is_found_and_not_shown(
    site: Site, url: str, workspace: Workspace, value: str, hidden: bool
) -> None:
    site.page("/", title="Home", text="needle in the text", robots=f"{value}, NoTranslate")
    workspace.define(f"{url}/", attributes={"robots_directives": "Subject"})
    workspace.crawl()
    (hit,) = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert (hit["snippet"] == "") is hidden
    assert hit["attributes"]["Subject"] == [value, "notranslate"]


def test_without_meta_the_wishes_of_pages_are_attributes_only(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle", robots="noindex, nosnippet, noai")
    robots = {"meta": False, "obey_reservations": ["ai"]}
    workspace.define(f"{url}/", robots=robots, attributes={"robots_directives": "Subject"})
    workspace.crawl()
    (hit,) = workspace.command("search", "--json", "--as-typed", "needle").json["hits"]
    assert hit["snippet"]
    assert hit["attributes"]["Subject"] == ["nosnippet", "noai"]
