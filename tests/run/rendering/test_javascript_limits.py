"""What pages ask for in the browser counts and is limited like every other request of a crawl."""

from __future__ import annotations

import shutil

import pytest
from support.pace import kept
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS
from ultracrawl.run.rendering.page_parts import MAX_CONCURRENT_PARTS

pytestmark = pytest.mark.servers

ASK = """<title>%s</title><p id=p>%s as sent</p><script>
const ask = number => fetch(`%s?${number}`).then(answer => answer.text());
Promise.all([...Array(%d).keys()].map(ask)).then(texts => { p.innerHTML += ` read${texts.length}`; });
</script>"""


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


def asking(site: Site, path: str, parts: int, size: int = 10, data: str = "/data") -> None:
    """Put a page on a site whose script asks for `parts` of `size` bytes each."""
    site.file(path, (ASK % (path, path.strip("/") or "home", data, parts)).encode(), "text/html")
    site.dynamic(f"{data}*", lambda _: Reply(200, (("Content-Type", "text/plain"),), b"x" * size))


def asked(site: Site, prefix: str = "/data") -> int:
    return sum(path.startswith(prefix) for path in site.paths())


def test_bytes_and_requests_of_the_report_are_those_of_the_server(
    site: Site, url: str, workspace: Workspace
) -> None:
    asking(site, "/", 20, 300_000)
    asking(site, "/other", 20, 300_000)
    site.redirect("/moved", "/data?moved")
    scripts = "fetch('/moved'); fetch('/missing')"
    links = f"<a href=/other>x</a><script src=/shared.js></script><script>{scripts}</script>"
    site.file("/", (ASK % ("/", "home", "/data", 20) + links).encode(), "text/html")
    site.file("/shared.js", b"/* " + b"x" * 100_000 + b" */", "text/javascript")
    workspace.define(f"{url}/", javascript={"use": True, "keep_html": True, "max_wait": 30, "timeout": 120})
    report = workspace.crawl().run
    assert sorted(workspace.search("read20")) == ["/", "/other"]
    sent = sum(request.sent for request in site.requests)
    assert sent > 12_000_000
    assert report["bytes"] == pytest.approx(sent, rel=0.01)
    parts = [path for path in site.page_paths() if path not in ("/", "/other")]
    assert report["javascript"]["parts"] == sum(site.count(path) for path in parts)


def test_limits_bytes_ends_the_run_at_the_parts_of_a_page_and_the_next_ones_go_on(
    site: Site, url: str, workspace: Workspace
) -> None:
    size, limit = 20_000, 1_000_000
    for number in range(3):
        asking(site, f"/p{number}", 40, size)
    site.page("/", links=["/p0", "/p1", "/p2"])
    workspace.define(
        f"{url}/",
        javascript={"use": True, "keep_html": True, "max_wait": 30, "timeout": 120, "pages": 1},
        limits={"bytes": limit},
    )
    for pages in (1, 2, 3):
        site.reset()
        report = workspace.crawl(code=None).run
        assert len(workspace.search("read40")) == pages
        assert bool(report["ended_by"]) == (pages < 3)
        assert report["bytes"] < limit + MAX_CONCURRENT_PARTS * size
        assert sum(request.sent for request in site.requests) == pytest.approx(report["bytes"], rel=0.01)
    assert report["rejected_by"] == {}


def test_a_page_that_is_larger_than_limits_bytes_does_not_hold_up_the_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    asking(site, "/", 40, 100_000)
    site.page("/after")
    site.change("/", body=(ASK % ("/", "home", "/data", 40) + "<a href=/after>x</a>").encode())
    workspace.define(f"{url}/", javascript=True, limits={"bytes": 500_000})
    for _ in range(2):
        report = workspace.crawl(code=None).run
        assert report["bytes"] < 500_000 + MAX_CONCURRENT_PARTS * 100_000
    assert workspace.indexed() == ["/", "/after"]


@pytest.mark.parametrize(
    ("option", "most", "parts"),
    [("parts", 5, 5), ("parts", 100, 20), ("bytes", "1 MB", 11), ("bytes", "64 MB", 20)],
)
def test_a_page_gets_no_more_than_the_options_say_and_the_report_names_the_option(
    site: Site, url: str, workspace: Workspace, option: str, most: int | str, parts: int
) -> None:
    asking(site, "/", 20, 100_000)
    workspace.define(
        f"{url}/", javascript={"use": True, "keep_html": True, option: most, "max_wait": 30, "timeout": 120}
    )
    report = workspace.crawl().run
    # Until the first part has come, nothing is known about their size.
    assert parts <= asked(site) <= max(parts, MAX_CONCURRENT_PARTS)
    assert sum(request.sent for request in site.requests) == pytest.approx(report["bytes"], rel=0.01)
    assert workspace.search("home") == ["/"]
    assert any(f"javascript.{option}" in reason for reason in report["cut"]) == (parts < 20)


@pytest.mark.parametrize("javascript", [{}, {"delay": 0}, {"delay": 0.1}], ids=["default", "none", "own"])
def test_the_crawl_delay_of_a_site_holds_for_the_parts_of_its_pages(
    site: Site, url: str, workspace: Workspace, javascript: dict[str, float]
) -> None:
    site.robots("User-agent: *\nCrawl-delay: 0.6\n")
    asking(site, "/", 4)
    workspace.define(
        f"{url}/",
        javascript={"use": True, "keep_html": True, **javascript},
        robots={"obey_delay": True},
        sitemaps={"use": False},
    )
    workspace.crawl()
    assert workspace.search("read4") == ["/"]
    times = [request.time for request in site.requests if request.path != "/robots.txt"]
    assert len(times) == 5
    assert kept(times, 0.6)


def test_the_delay_of_a_site_holds_for_the_parts_of_its_pages(
    site: Site, url: str, workspace: Workspace
) -> None:
    asking(site, "/", 4)
    workspace.define(f"{url}/", javascript=True, politeness={"delay": 0.6}, sitemaps={"use": False})
    workspace.crawl()
    times = [request.time for request in site.requests if request.path != "/robots.txt"]
    assert len(times) == 5
    assert kept(times, 0.6)


def test_a_site_that_is_busy_is_held_for_parts_too(site: Site, url: str, workspace: Workspace) -> None:
    site.respond("/data?0", status=503, headers={"Retry-After": "4"})
    asking(site, "/", 1)
    site.file("/", (ASK % ("/", "home", "/data", 1) + "<a href=/after>x</a>").encode(), "text/html")
    site.page("/after")
    workspace.define(f"{url}/", javascript={"use": True})
    workspace.crawl()
    times = {request.path: request.time for request in site.requests}
    assert times["/after"] - times["/data?0"] > 1.5


def test_the_fetch_log_has_a_line_for_each_part(site: Site, url: str, workspace: Workspace) -> None:
    asking(site, "/", 2, 123)
    site.raw("/hangs-up", b"")
    more = "<script>fetch('/hangs-up').catch(() => 0)</script>"
    site.file("/", (ASK % ("/", "home", "/data", 2) + more).encode(), "text/html")
    workspace.define(f"{url}/", javascript=True, log={"fetch": True}, sitemaps={"use": False})
    workspace.crawl(code=1)  # it has few words, and a part that could not be had
    lines = (workspace.directory / "var/log/site.fetch.log").read_text().splitlines()
    parts = {tuple(line.split("\t")[n] for n in (6, 1, 2, 3, 5, 7)) for line in lines[:-1]}
    assert parts == {
        (f"{url}/data?0", "200", "text/plain", "123", "0", "part"),
        (f"{url}/data?1", "200", "text/plain", "123", "0", "part"),
        (f"{url}/hangs-up", "net", "-", "0", "0", "part"),
    }
    assert lines[-1].split("\t")[6] == f"{url}/"


@pytest.mark.parametrize(("timeout", "is_cut"), [(6, True), (60, False)])
def test_half_of_the_timeout_bounds_the_waiting_of_a_page_for_the_turn_of_its_site(
    site: Site, url: str, workspace: Workspace, timeout: int, is_cut: bool
) -> None:
    asking(site, "/", 8)
    workspace.define(f"{url}/", javascript={"use": True, "keep_html": True, "timeout": timeout, "delay": 1})
    report = workspace.crawl().run
    assert workspace.search("read8") == ([] if is_cut else ["/"])
    assert any("javascript.timeout" in reason for reason in report["cut"]) == is_cut
    assert (asked(site) < 8) == is_cut


@pytest.mark.parametrize("pages", [1, 3])
def test_no_more_pages_are_open_at_once_than_the_option_says(
    site: Site, url: str, workspace: Workspace, pages: int
) -> None:
    open_pages, most = set[str](), [0]

    def begin(request: Request) -> Reply:
        open_pages.add(request.path.rpartition("?")[2])
        most[0] = max(most[0], len(open_pages))
        if most[0] == pages:
            are_open.set()
        return Reply(200, (), b"x")

    def end(request: Request) -> Reply:
        open_pages.discard(request.path.rpartition("?")[2])
        return Reply(200, (), b"x")

    site.dynamic("/begin*", begin)
    site.dynamic("/end*", end)
    site.respond("/held")
    are_open = site.hold("/held")
    for number in range(6):
        script = f"fetch('/begin?{number}').then(() => fetch('/held')).then(() => fetch('/end?{number}'))"
        site.file(f"/p{number}", f"<p>{number}</p><script>{script}</script>".encode(), "text/html")
    site.page("/", links=[f"/p{number}" for number in range(6)])
    workspace.define(f"{url}/", javascript={"use": True, "pages": pages, "max_wait": 30, "timeout": 90})
    workspace.crawl()
    assert most[0] == pages
