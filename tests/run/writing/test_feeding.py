"""One source, several indexes: each gets every change, in order, whatever becomes of the others (FAST 5.10)."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.in_process import InProcessWorkspace
from support.named import named
from support.project import Workspace, kill_group
from support.site import Site
from support.until import until

from ultracrawl.index.project_index import open_index
from ultracrawl.sources import require
from ultracrawl.sources.dialects import read_definitions

TWO: dict[str, Any] = {"public": {"primary": True}, "copy": {"index": "archive"}}


class Fed(Workspace):
    """A workspace whose source feeds the index of the project and another one, `archive`."""

    url = ""

    def feed(self, destinations: dict[str, Any] | None = None, **options: Any) -> None:
        """Write the definition; `paused` and `backlog` go into the section."""
        section = {name: options.pop(name) for name in ("paused", "backlog") if name in options}
        source = {
            "start_urls": [f"{self.url}/"],
            "politeness": {"delay": 0, "concurrency": 8},
            "boundary": {"networks": ["127.0.0.0/8"]},
            "feeding": {"destinations": TWO if destinations is None else destinations, **section},
            **options,
        }
        indexes = {"archive": "var/archive", "third": "var/third"}
        index = {"path": "var/index", "every": 0.5}
        self.write({"index": index, "indexes": indexes, "sources": {"site": source}})

    def texts(self, index: str) -> dict[str, str]:
        """Return what an index holds: text by path."""
        engine = open_index(require(read_definitions(self.directory / "ultracrawl.yaml")), index)
        try:
            return {"/" + one.url.split("/", 3)[3]: one.text.split()[0] for one in engine.documents()}
        finally:
            engine.close()

    def waiting(self, index: str = "archive") -> list[Path]:
        return sorted((self.directory / "var/cache/site" / f"@{index}").glob("*.sealed"))

    def status(self) -> dict[str, dict[str, Any]]:
        """Return `feeding status` by index."""
        rows = self.command("feeding", "status", "--json").json["destinations"]
        return {row["index"]: row for row in rows}


class FedInProcess(Fed, InProcessWorkspace):
    """The same in this process."""


@pytest.fixture
def fed(processes: bool, tmp_path: Path, site: Site, url: str) -> Fed:
    site.page("/", title="Home", links=["/a", "/b"], text="beginning")
    site.page("/a", title="A", text="first")
    site.page("/b", title="B", text="second")
    workspace = Fed(tmp_path) if processes else FedInProcess(tmp_path)
    workspace.url = url
    return workspace


def change(site: Site) -> None:
    """Change one page, remove one, add one."""
    site.page("/", title="Home", links=["/a", "/c"], text="beginning")
    site.page("/a", title="A", text="changed")
    site.remove("/b")
    site.page("/c", title="C", text="third")


BEFORE = {"/": "beginning", "/a": "first", "/b": "second"}
AFTER = {"/": "beginning", "/a": "changed", "/c": "third"}


def test_fast_121_every_destination_gets_additions_changes_and_deletions(fed: Fed, site: Site) -> None:
    fed.feed()
    fed.crawl()
    assert fed.texts("default") == fed.texts("archive") == BEFORE
    change(site)
    run = fed.crawl().run
    assert (run["indexed"], run["deleted"], run["problems"]) == (3, 1, [])
    assert fed.texts("default") == fed.texts("archive") == AFTER
    assert fed.waiting() == fed.waiting("default") == [], "the cache keeps what everybody has no longer"
    assert fed.search("third", "--index", "archive") == ["/c"]
    assert fed.command("index", "info", "--index", "archive", "--json").json["documents"] == 3


def test_fast_123_a_paused_destination_gets_everything_later_in_order(fed: Fed, site: Site) -> None:
    fed.feed({**TWO, "copy": {"index": "archive", "paused": True}})
    fed.crawl()
    change(site)
    fed.crawl()
    assert (fed.texts("default"), fed.texts("archive")) == (AFTER, {})
    assert len(fed.waiting()) >= 2, "segments of two runs wait on disk"
    assert fed.status()["archive"]["segments"] == len(fed.waiting())
    assert re.search(r"\d batch(es wait| waits) \(", fed.command("status").out)
    fed.feed()
    site.reset()
    fed.crawl()
    assert fed.texts("archive") == AFTER, "what was deleted is not brought back by an older change"
    assert fed.waiting() == []


@pytest.mark.parametrize("destinations", [{}, TWO], ids=["one index", "two"])
def test_fast_116_feeding_can_be_held_back_as_a_whole(
    fed: Fed, site: Site, destinations: dict[str, Any]
) -> None:
    fed.feed(destinations, paused=True)
    run = fed.crawl().run
    assert (run["fetched"], run["indexed"]) == (3, 0), "crawling goes on"
    assert fed.texts("default") == {}
    assert not any(row["indexed"] for row in fed.urls().values())
    change(site)
    fed.crawl()
    site.reset()
    fed.feed(destinations)
    ended = fed.command("feeding", "resume", "site")
    assert (ended.code, site.paths()) == (0, []), ended.err
    assert fed.texts("default") == AFTER, "an idle source is fed at once, without a request"
    assert all(row["indexed"] for path, row in fed.urls().items() if path in AFTER)


def test_fast_124_the_primary_destination_says_what_is_indexed(fed: Fed) -> None:
    fed.feed({"first": {"paused": True}, "copy": {"index": "archive"}})
    assert fed.crawl().run["indexed"] == 0
    assert fed.texts("archive") == BEFORE
    assert not any(row["indexed"] for row in fed.urls().values()), "the first one is primary"
    fed.feed({"first": {"paused": True}, "copy": {"index": "archive", "primary": True}})
    fed.crawl()
    assert fed.texts("default") == {}
    fed.command("feeding", "resume", "site", "first")
    assert fed.texts("default") == BEFORE
    assert fed.status()["archive"]["primary"]


def test_documents_that_an_earlier_crawl_read_are_distinguished(fed: Fed, site: Site) -> None:
    fed.feed({}, paused=True)
    fed.crawl()
    site.page("/a", title="A", text="changed")
    fed.feed({})
    (run,) = fed.command("crawl", "--json", "--force").json["runs"]
    assert (run["scheduled"], run["indexed"], run["indexed_earlier"]) == (3, 6, 3)
    (run,) = fed.command("crawl", "--json", "--force").json["runs"]
    assert (run["indexed"], run["indexed_earlier"]) == (3, 0)


@pytest.mark.servers  # much time
def test_fast_123_nothing_held_back_is_lost_by_a_kill(fed: Fed, site: Site) -> None:
    site.page("/", title="Home", links=["/a", "/b", "/slow"], text="beginning")
    site.slow("/slow", 30, text="slow")
    fed.feed({**TWO, "copy": {"index": "archive", "paused": True}}, limits={"timeout": 60})
    process = fed.start("crawl")
    try:
        until(lambda: site.count("/slow"))
        until(lambda: len(fed.texts("default")) == 3)
    finally:
        kill_group(process)
    site.page("/slow", text="slow")
    fed.crawl()
    assert fed.texts("archive") == {}
    assert fed.command("feeding", "resume", "site", "copy").code == 0
    assert fed.texts("archive") == fed.texts("default") == {**BEFORE, "/slow": "slow"}


def test_a_failing_secondary_neither_blocks_nor_loses(fed: Fed, site: Site) -> None:
    broken = fed.directory / "var/archive"
    broken.parent.mkdir()
    broken.write_text("not a folder")
    fed.feed()
    run = fed.crawl().run
    assert (run["indexed"], run["problems"]) == (3, []), "fast_124: failures of others are only logged"
    change(site)
    fed.crawl()
    assert fed.texts("default") == AFTER
    row = fed.status()["archive"]
    assert row["segments"] >= 2
    assert row["problem"], "why it is behind"
    broken.unlink()
    site.reset()
    assert fed.command("feeding", "resume", "site").code == 0
    assert fed.texts("archive") == AFTER
    assert (site.paths(), fed.status()["archive"]["problem"]) == ([], "")


@pytest.mark.servers  # much time
def test_feeding_of_a_running_crawl_is_paused_and_resumed_from_another_terminal(fed: Fed, site: Site) -> None:
    site.page("/", title="Home", links=["/a", "/b", "/slow"], text="beginning")
    site.page("/slow", text="slow")
    answer = site.hold("/slow")
    fed.feed()
    assert "later crawls" in fed.command("feeding", "pause", "site", "copy").out
    process = fed.start("crawl")
    until(lambda: site.count("/slow"))
    until(lambda: len(fed.texts("default")) == 3)
    assert fed.texts("archive") == {}
    assert "running crawl resumes it" in fed.command("feeding", "resume", "site", "copy").out
    until(lambda: len(fed.texts("archive")) == 3)
    answer.set()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert fed.texts("archive") == fed.texts("default")


def test_the_definition_has_the_last_word_after_an_order(fed: Fed) -> None:
    fed.feed()
    fed.command("feeding", "pause", "site", "copy")
    assert fed.status()["archive"]["paused"]
    fed.feed({**TWO, "copy": {"index": "archive", "paused": True}})
    fed.feed()
    assert fed.status()["archive"]["paused"], "it says again what it said then"
    fed.command("feeding", "resume", "site", "copy")
    assert not fed.status()["archive"]["paused"]
    fed.feed({**TWO, "copy": {"index": "archive", "paused": True}})
    assert fed.status()["archive"]["paused"]


def test_mistakes_are_reported(fed: Fed) -> None:
    fed.feed()
    ended = fed.command("feeding", "pause", "site", "nowhere")
    assert (ended.code, "public, copy" in ended.err) == (2, True)
    fed.feed({"public": {"index": "archiv"}})
    assert {"archiv", "archive"} <= set(named(fed.command("lint").out))
    fed.feed({"one": {}, "two": {}})
    assert "are the same index" in fed.command("lint").out
    fed.feed({"one": {"primary": True}, "two": {"index": "archive", "primary": True}})
    assert "are both primary" in fed.command("lint").out


# ---- another list of destinations


def test_a_new_destination_is_filled_by_the_next_crawl(fed: Fed, site: Site) -> None:
    fed.feed({})
    fed.crawl()
    site.reset()
    fed.feed()
    fed.crawl()
    assert fed.texts("archive") == fed.texts("default") == BEFORE
    assert sorted(site.statuses("/a")) == [200], "asked for without validators"
    site.reset()
    run = fed.crawl().run
    assert set(run["outcomes"]) <= {"NOT_MODIFIED", "UNMODIFIED"}, "once"


def test_a_new_destination_is_filled_from_the_store_without_a_request(fed: Fed, site: Site) -> None:
    fed.feed({}, storage={"keep": True})
    fed.crawl()
    site.reset()
    fed.feed(storage={"keep": True})
    assert fed.command("reindex", "site").code == 0
    assert fed.texts("archive") == BEFORE
    assert site.paths() == []
    run = fed.crawl().run
    assert set(run["outcomes"]) <= {"NOT_MODIFIED", "UNMODIFIED"}, "it counts as filled"


def test_a_removed_destination_is_left_alone_and_made_true_when_it_comes_back(fed: Fed, site: Site) -> None:
    fed.feed()
    fed.crawl()
    fed.feed({})
    change(site)
    fed.crawl()
    assert fed.texts("archive") == BEFORE
    assert "archive" in named(fed.command("lint").out)
    assert "removed from the definition" in fed.command("status").out
    fed.feed()
    fed.crawl()
    assert fed.texts("archive") == fed.texts("default") == AFTER, "what was deleted meanwhile goes, too"
    assert "not any more" not in fed.command("lint").out


def test_what_waits_for_the_index_of_the_project_survives_a_change_of_destinations(fed: Fed) -> None:
    fed.feed(paused=True)
    fed.crawl()
    fed.feed({}, paused=True)
    fed.crawl()
    fed.feed({})
    fed.command("feeding", "resume", "site")
    assert fed.texts("default") == BEFORE


def test_a_destination_far_behind_is_given_up_and_filled_anew(fed: Fed, site: Site) -> None:
    fed.feed({**TWO, "copy": {"index": "archive", "paused": True}}, backlog="200 B")
    run = fed.crawl(code=1).run
    assert "copy" in run["problems"][0]
    assert fed.waiting() == []
    fed.feed()
    site.remove("/b")
    fed.crawl()
    assert fed.texts("archive") == fed.texts("default") == {"/": "beginning", "/a": "first"}


def test_too_much_for_the_primary_ends_the_crawl_and_loses_nothing(fed: Fed) -> None:
    fed.feed({}, paused=True, backlog="200 B")
    run = fed.crawl(code=1).run
    assert "more than `feeding.backlog`" in run["problems"][0]
    fed.feed({})
    fed.crawl()
    assert fed.texts("default") == BEFORE


def test_a_damaged_cache_folder_is_no_reason_to_lose_the_other(fed: Fed, site: Site) -> None:
    fed.feed({**TWO, "copy": {"index": "archive", "paused": True}})
    fed.crawl()
    shutil.rmtree(fed.directory / "var/cache/site/@archive")
    fed.feed()
    fed.crawl()
    assert fed.texts("archive") == BEFORE, "an index whose line was removed counts as new"
