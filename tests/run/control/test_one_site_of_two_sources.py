"""Two sources that are crawled by processes of their own and have a site in common, as the server of it sees them."""

from __future__ import annotations

import subprocess
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.later import later
from support.named import named
from support.pace import gaps, kept
from support.project import LOOPBACK, Workspace, kill_group
from support.site import Request, Site
from support.until import until

DELAY = 0.5
PAGES = 12


def tree(site: Site) -> None:
    """Give each source a part of the site."""
    for part in ("one", "two"):
        site.page(f"/{part}/", links=[f"/{part}/{number}" for number in range(PAGES)])
        for number in range(PAGES):
            site.page(f"/{part}/{number}", text=f"{part} {number}")


def define(workspace: Workspace, sources: dict[str, list[str]], **more: Any) -> None:
    """Define sources by their start URLs; `more` are options of all of them, or those of one by its name."""
    common = {
        "type": "web",
        "politeness": {"delay": DELAY, "concurrency": 8},
        "limits": {"retries": 0},
        "sitemaps": {"use": False},
        "boundary": LOOPBACK,
        **{key: value for key, value in more.items() if key not in sources},
    }
    workspace.write(
        {
            "sources": {
                name: {**common, "start_urls": urls, **more.get(name, {})} for name, urls in sources.items()
            }
        }
    )


def ended(process: subprocess.Popen[str]) -> None:
    """Wait for the end of a crawl that goes well."""
    _, problems = process.communicate(timeout=100)
    assert process.returncode == 0, problems


def part(request: Request) -> str:
    return request.path.split("/")[1]


def sent(site: Site, *parts: str) -> list[float]:
    return [request.time for request in site.requests if not parts or part(request) in parts]


@pytest.mark.servers  # takes the time of three turns; `tests/scheduler` has it with a clock
def test_two_processes_never_break_the_delay_of_their_site(
    site: Site, url: str, workspace: Workspace
) -> None:
    """Both go on by turns, and robots.txt is asked for once."""
    tree(site)
    define(workspace, {"one": [f"{url}/one/"], "two": [f"{url}/two/"]})
    crawls = [workspace.start("crawl", name, "--json") for name in ("one", "two")]
    for crawl in crawls:
        ended(crawl)
    assert {f"/{name}/{number}" for name in ("one", "two") for number in range(PAGES)} <= set(site.paths())
    assert site.count("/robots.txt") == 1
    times = sent(site)
    assert len(times) == 1 + 2 * (PAGES + 1)
    assert kept(times, DELAY)
    assert min(gaps(times)) > 0.2 * DELAY
    parts = [part(request) for request in site.requests[1:]]
    assert max(parts.index("one"), parts.index("two")) < len(parts) - 1
    first = parts[0]
    assert first in parts[parts.index("two" if first == "one" else "one") :], "the first had another turn"


@pytest.mark.processes
def test_while_one_waits_it_asks_its_other_site_and_status_says_who_has_the_site(
    site: Site, url: str, workspace: Workspace
) -> None:
    tree(site)
    other = Site()
    other.page("/", links=[f"/{number}" for number in range(5)])
    for number in range(5):
        other.page(f"/{number}")
    free = site.hold("/one/")
    with other.serve(host="127.0.0.2") as elsewhere:
        starts = {"one": [f"{url}/one/"], "two": [f"{url}/two/", f"{elsewhere}/"]}
        define(workspace, starts, politeness={"delay": 0, "concurrency": 1}, robots={"obey": False})
        one = workspace.start("crawl", "one", "--json")
        until(lambda: site.count("/one/"), one)
        two = workspace.start("crawl", "two", "--json")
        name = urlsplit(url).netloc

        def reported() -> Any:
            ended = workspace.command("status", name, "--json")
            rows = {row["source"]: row for row in ended.json["sites"]} if ended.code == 0 else {}
            return rows.get("two", {}).get("holder") and rows["two"]["holder"]["waiting"] and rows["two"]

        until(reported, two)
        row = reported()
        assert (row["holder"]["source"], row["holder"]["waiting"]) == ("one", ["two"])
        shown = workspace.command("status", name).out
        assert row["waits"] in shown
        assert str(row["holder"]["pid"]) in named(shown)
        assert not sent(site, "two")
        until(lambda: other.count("/4"), two)
        free.set()
        ended(one)
        ended(two)
    assert len(sent(site, "two")) == PAGES + 1


@pytest.mark.servers  # waits for the end of a lease; `tests/scheduler` has it with a clock
def test_one_is_killed_and_the_other_goes_on(site: Site, url: str, workspace: Workspace) -> None:
    """The other is ahead by most of a lease, and so takes the dead one for dead that much sooner."""
    tree(site)
    starts = {"one": [f"{url}/one/"], "two": [f"{url}/two/"]}
    define(workspace, starts, politeness={"delay": 2.0, "concurrency": 8})
    one = workspace.start("crawl", "one", "--json")
    until(lambda: len(sent(site)) >= 2, one)
    two = workspace.start("crawl", "two", "--json", **later(workspace.directory, 12))
    kill_group(one)
    dead = sent(site)[-1]
    until(lambda: len(sent(site, "two")) >= 2, two)
    kill_group(two)
    assert sent(site, "two")[0] - dead >= 0.8 * 2.0
    assert site.count("/robots.txt") == 1


def test_robots_txt_is_not_shared_by_a_source_that_shows_something_of_its_own(
    site: Site, url: str, workspace: Workspace
) -> None:
    tree(site)
    starts = {"one": [f"{url}/one/"], "two": [f"{url}/two/"], "third": [f"{url}/two/"]}
    own = {"headers": {"Accept-Language": "de"}}
    define(workspace, starts, one=own, politeness={"delay": 0, "concurrency": 8})
    for name in ("one", "two", "third"):
        workspace.crawl(name)
    asked = [request.header("Accept-Language") for request in site.requests if request.path == "/robots.txt"]
    assert len(asked) == 2
    assert asked[0] == "de"
    assert asked[1] != "de"
