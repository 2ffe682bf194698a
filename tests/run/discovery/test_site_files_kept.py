"""robots.txt and sitemaps are kept with their age: no run asks for them before their time."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support.project import DAY, Workspace
from support.site import Site
from support.until import until

ROBOTS = "User-agent: *\nDisallow: /private\nSitemap: {url}/map.xml\n"
KEPT = {"ttl": 300}


@pytest.fixture
def kept(site: Site, url: str, workspace: Workspace) -> Site:
    """A site with a robots.txt that names a sitemap."""
    site.robots(ROBOTS.format(url=url))
    site.page("/", title="Home", text="words of the home page", links=["/private/1"])
    site.page("/listed", title="Listed", text="words of the page that only the sitemap names")
    entry = f"<url><loc>{url}/listed</loc><lastmod>2020-05-01T12:00:00Z</lastmod></url>"
    site.file("/map.xml", f"<urlset>{entry}</urlset>".encode(), "application/xml")
    workspace.define(f"{url}/", sitemaps=KEPT)
    return site


def test_other_processes_ask_neither_for_robots_txt_nor_for_sitemaps(
    kept: Site, workspace: Workspace
) -> None:
    assert workspace.crawl().run["outcomes"] == {"NEW": 2, "ROBOTS": 1, "LIST": 1}
    kept.reset()
    for _ in range(3):
        run = workspace.crawl().run
        assert run["outcomes"].get("ROBOTS") == 1
        assert run["sitemaps"] == 0
    assert kept.paths() == ["/"] * 3, "the page that the sitemap vouches for is not asked for either"


def test_they_are_asked_for_again_in_their_time(kept: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", robots={"ttl": 3 * DAY}, sitemaps=KEPT)
    workspace.crawl()
    workspace.age(2 * DAY)
    workspace.crawl()
    assert kept.count("/robots.txt") == 1
    assert kept.statuses("/map.xml") == [200, 304], "with the validators of the answer before"
    workspace.age(2 * DAY)
    workspace.crawl()
    assert kept.count("/robots.txt") == 2


def test_without_a_time_to_live_every_run_asks_for_sitemaps(
    kept: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/", sitemaps={"ttl": 0})
    for _ in range(2):
        workspace.crawl()
    assert kept.statuses("/map.xml") == [200, 304]


def test_force_asks_anew(kept: Site, workspace: Workspace) -> None:
    workspace.crawl()
    workspace.crawl("--force")
    assert (kept.count("/robots.txt"), kept.count("/map.xml")) == (2, 2)


def test_a_usual_place_without_a_sitemap_is_not_tried_in_every_run(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    workspace.define(f"{url}/", sitemaps=KEPT)
    for _ in range(3):
        workspace.crawl()
    assert site.count("/sitemap.xml") == 1
    workspace.age(DAY)
    workspace.crawl()
    assert site.count("/sitemap.xml") == 2


@pytest.mark.servers  # much time
def test_cycles_of_one_process_ask_once(kept: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", refresh={"when_idle": True}, sitemaps=KEPT)
    process = workspace.start("crawl", "--continuous", "--json")
    until(lambda: kept.count("/") >= 4)
    process.terminate()
    process.communicate(timeout=60)
    assert (kept.count("/robots.txt"), kept.count("/map.xml")) == (1, 1)


def test_the_text_is_kept_and_read_by_the_definition_of_the_day(
    kept: Site, url: str, workspace: Workspace
) -> None:
    kept.robots("User-agent: *\nDisallow: /private\n\nUser-agent: other\nDisallow: /\n")
    workspace.crawl()
    workspace.define(f"{url}/", robots={"name": "other"})
    assert workspace.crawl(code=None).run["outcomes"].get("ROBOTS", 0) >= 2
    assert kept.count("/robots.txt") == 1


def test_a_robots_txt_that_could_not_be_had_is_asked_for_by_the_next_crawl(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="words")
    site.respond("/robots.txt", status=500)
    workspace.define(f"{url}/", start_urls=[f"{url}/", f"{url}/a", f"{url}/b"])
    for number in (1, 2):
        assert workspace.crawl(code=None).run["outcomes"] == {"NETWORK_ERROR": 3}
        assert site.count("/robots.txt") == number, "once in a crawl"
    site.robots("User-agent: *\nDisallow: /private\n")
    assert workspace.crawl(code=None).run["outcomes"].get("NEW") == 1
    assert site.count("/robots.txt") == 3


def test_rules_that_cannot_be_had_again_stay(kept: Site, workspace: Workspace) -> None:
    workspace.crawl()
    kept.respond("/robots.txt", status=503)
    workspace.age(2 * DAY)
    for _ in range(2):
        assert workspace.crawl().run["outcomes"].get("ROBOTS") == 1
    assert kept.count("/robots.txt") == 2, "and they are not asked for again at once"
    assert not any(path.startswith("/private") for path in kept.paths())


def test_stored_rules_keep_the_delay_that_they_ask_for(kept: Site, url: str, workspace: Workspace) -> None:
    """The option is switched on after robots.txt was read."""
    kept.robots("User-agent: *\nCrawl-delay: 1.5\n")
    workspace.define(f"{url}/", politeness={"delay": 0})
    workspace.crawl()
    kept.reset()
    workspace.define(f"{url}/", politeness={"delay": 0}, robots={"obey_delay": True})
    workspace.crawl()
    assert kept.count("/robots.txt") == 0
    times = [request.time for request in kept.requests]
    assert all(later - before >= 1.4 for before, later in pairwise(times))
    assert len(times) > 1


def test_explain_reads_the_rules_that_are_stored(kept: Site, url: str, workspace: Workspace) -> None:
    workspace.crawl()
    told = workspace.command("explain", f"{url}/private/never-met").out
    assert "Disallow: /private" in told
    assert "it was read 20" in told
