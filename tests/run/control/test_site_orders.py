"""Orders about URIs and sites at work in a crawl that runs, seen at the server (FAST `crawleradmin`)."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from support.fast import fast_xml
from support.project import Workspace, kill_group
from support.site import Site
from support.until import stays, until

pytestmark = pytest.mark.processes

WAITING = 24


class Collection:
    """A collection whose crawl goes on while `/held` is not answered, or while pages wait for their delay."""

    def __init__(self, workspace: Workspace, site: Site, url: str) -> None:
        self.workspace, self.site, self.url = workspace, site, url
        self.host = urlsplit(url).netloc
        self.process: subprocess.Popen[str] | None = None
        for path in ("/a", "/b", "/new", "/held", *(f"/w/{number}" for number in range(WAITING))):
            site.page(path, title=path, text="needle")

    def write(self, *links: str, delay: float = 0.0) -> None:
        self.site.page("/", title="Home", text="needle", links=links)
        text = fast_xml(
            {
                "start_uris": (f"{self.url}/",),
                "delay": delay,
                "max_pending": 4,
                "use_sitemaps": False,
                "robots": False,
            }
        )
        (self.workspace.directory / "collection.xml").write_text(text)

    def start(self, ready: Callable[[], bool]) -> None:
        process = self.process = self.workspace.start("crawl", "--json", "-c", "collection.xml")
        until(lambda: ready() or process.poll() is not None)
        assert process.poll() is None

    def end(self) -> str:
        assert self.process is not None
        out, err = self.process.communicate(timeout=60)
        assert "Traceback" not in err
        return out

    def order(self, *words: str) -> str:
        ended = self.workspace.command("admin", *words, "-c", "collection.xml")
        assert ended.code == 0, ended.err
        return ended.out

    def crawl(self) -> None:
        ended = self.workspace.command("crawl", "-c", "collection.xml")
        assert ended.code == 0, ended.err

    def found(self) -> set[str]:
        hits = self.workspace.command(
            "search", "--json", "--as-typed", "--limit", "99", "-c", "collection.xml", "needle"
        )
        return {"/" + hit["url"].split("/", 3)[3] for hit in hits.json["hits"]}


@pytest.fixture
def collection(workspace: Workspace, site: Site, url: str) -> Iterator[Collection]:
    made = Collection(workspace, site, url)
    yield made
    if made.process is not None:
        kill_group(made.process)


def test_uris_are_added_fetched_again_and_deleted_in_a_running_crawl(
    collection: Collection, site: Site
) -> None:
    release = site.hold("/held")
    collection.write("/a", "/b", "/held")
    collection.start(lambda: site.count("/a") == site.count("/b") == 1)
    collection.order("add-uri", "handbook", f"{collection.url}/new")
    until(lambda: site.count("/new") == 1)
    collection.order("refetch", "handbook", f"{collection.url}/a")
    until(lambda: site.count("/a") == 2)
    assert site.statuses("/a") == [200, 200], "it is fetched in full"
    collection.order("delete", "handbook", f"{collection.url}/b", "--yes")
    release.set()
    collection.end()
    assert collection.found() == {"/", "/a", "/held", "/new"}
    assert (site.count("/b"), site.count("/new")) == (1, 1)
    collection.crawl()
    assert site.count("/b") == 1, "what was deleted is not fetched again"
    assert collection.found() == {"/", "/a", "/held", "/new"}
    collection.order("add-uri", "handbook", f"{collection.url}/b")
    collection.crawl()
    assert collection.found() == {"/", "/a", "/b", "/held", "/new"}


def test_what_waits_is_not_fetched_after_it_was_deleted(collection: Collection, site: Site) -> None:
    waiting = [f"/w/{number}" for number in range(WAITING)]
    collection.write("/a", *waiting, "/b", delay=0.2)
    collection.start(lambda: site.count("/w/3") == 1)
    collection.order("delete", "handbook", f"{collection.url}/w/", "--prefix", "--yes")
    before = len([path for path in site.paths() if path.startswith("/w/")])
    collection.end()
    after = len([path for path in site.paths() if path.startswith("/w/")])
    assert before <= after <= before + 1, "one may have been in flight"
    assert after < WAITING
    assert collection.found() == {"/", "/a", "/b"}
    assert site.count("/b") == 1


def test_a_site_is_fetched_again(collection: Collection, site: Site) -> None:
    release = site.hold("/held")
    collection.write("/a", "/b", "/held")
    collection.start(lambda: site.count("/a") == site.count("/b") == 1)
    collection.order("refetch", "handbook", collection.host)
    until(lambda: site.count("/a") == site.count("/b") == site.count("/") == 2)
    release.set()
    collection.end()


def test_a_site_in_quarantine_waits_and_goes_on(collection: Collection, site: Site) -> None:
    collection.write(*(f"/w/{number}" for number in range(WAITING)), delay=0.1)
    collection.start(lambda: site.count("/w/2") == 1)
    collection.order("quarantine", "handbook", collection.host, "600")
    before = len(site.paths())
    stays(lambda: len(site.paths()) <= before + 1, 1.0)  # ten times its delay
    assert len(site.paths()) <= before + 1
    collection.order("quarantine", "handbook", collection.host, "0")
    collection.end()
    assert len(collection.found()) == WAITING + 1


def test_a_blacklisted_site_is_left_out_until_it_is_allowed_again(collection: Collection, site: Site) -> None:
    collection.write(*(f"/w/{number}" for number in range(WAITING)), delay=0.1)
    collection.start(lambda: site.count("/w/2") == 1)
    collection.order("blacklist", "handbook", collection.host, "600")
    collection.end()
    before = len(site.paths())
    assert before < WAITING
    collection.workspace.command("crawl", "-c", "collection.xml")
    assert len(site.paths()) == before, "the next cycle does without it, too"
    assert len(collection.found()) >= 3, "its items stay"
    collection.order("blacklist", "handbook", collection.host, "0")
    collection.write(*(f"/w/{number}" for number in range(WAITING)))
    collection.crawl()
    assert len(collection.found()) == WAITING + 1


def test_a_site_comes_back_into_the_cycle_that_left_it_out(collection: Collection, site: Site) -> None:
    release = site.hold("/held")
    collection.write("/held", *(f"/w/{number}" for number in range(WAITING)), delay=0.1)
    collection.start(lambda: site.count("/w/2") == 1)
    collection.order("blacklist", "handbook", collection.host, "600")
    before = len(site.paths())
    stays(lambda: len(site.paths()) <= before + 1)
    assert len(site.paths()) <= before + 1, "one may have been on its way"
    collection.order("blacklist", "handbook", collection.host, "0")
    until(lambda: all(site.count(f"/w/{number}") == 1 for number in range(WAITING)))
    release.set()
    collection.end()
    assert len(collection.found()) == WAITING + 2


def test_orders_without_a_crawl_wait_for_the_next_one_and_deletions_are_done_at_once(
    collection: Collection, site: Site
) -> None:
    collection.write("/a", "/b")
    collection.order("add-uri", "handbook", f"{collection.url}/new")
    collection.crawl()
    assert collection.found() == {"/", "/a", "/b", "/new"}
    collection.order("delete", "handbook", f"{collection.url}/a", "--yes")
    assert collection.found() == {"/", "/b", "/new"}
    collection.order("refetch", "handbook", f"{collection.url}/b")
    collection.crawl()
    assert site.statuses("/b") == [200, 200]
    assert site.count("/a") == 1
