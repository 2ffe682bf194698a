"""A crawl goes on while a flush hangs, and has lost nothing when it is over or the crawl is killed meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import yaml
from support import crash
from support.project import Workspace, kill_group
from support.site import Site
from support.until import PATIENCE, until

pytestmark = [pytest.mark.servers, pytest.mark.processes]
PAGES = 120
ENOUGH = 12
"""Requests that tell that a crawl goes on: more than were under way."""
WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'ultracrawl'"
)


@contextmanager
def hanging_flush(options: dict[str, str]) -> Iterator[None]:
    """Hold a table that the next flush changes, from that flush on; everybody may read it."""
    with psycopg.connect(options["url"]) as db, psycopg.connect(options["url"], autocommit=True) as watch:
        db.execute(f"LOCK TABLE {options['schema']}.url IN EXCLUSIVE MODE".encode())
        until(lambda: watch.execute(WAITING.encode()).fetchall() == [(1,)])
        yield


@pytest.mark.parametrize("killed", [False, True])
def test_pages_are_fetched_while_a_flush_hangs(
    site: Site, url: str, options: dict[str, str], tmp_path: Path, killed: bool
) -> None:
    crash.build(site, PAGES)
    calm, shaken = Workspace(tmp_path / "calm"), Workspace(tmp_path / "shaken")
    for workspace in (calm, shaken):
        workspace.directory.mkdir()
        workspace.define(f"{url}/p0", politeness={"delay": 0.03, "concurrency": 4})
    file = shaken.directory / "ultracrawl.yaml"
    state = {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]}
    file.write_text(yaml.safe_dump({**yaml.safe_load(file.read_text()), "state": state}))
    calm.crawl()
    site.reset()
    crawl = shaken.start("crawl", "--json")
    until(lambda: site.count("/p4"), crawl)
    with hanging_flush(options):
        before = len(site.requests)
        until(lambda: len(site.requests) > before + ENOUGH, crawl)
        if killed:
            kill_group(crawl)
    _, told = crawl.communicate(timeout=PATIENCE)
    if killed:
        shaken.crawl()
    else:
        assert crawl.returncode == 0, told
        again = [path for path in site.page_paths() if site.count(path) > 1]
        assert again == []
    assert crash.compare(calm, shaken, PAGES) == []
