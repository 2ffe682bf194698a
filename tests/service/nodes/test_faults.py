"""Three nodes of which one dies, one stands still and one is cut off: all is crawled once, and none too fast."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from stores.conftest import a_schema
from support.fleet import Blows, Fleet, Sources
from support.postgresql import postgresql_server
from support.project import Workspace
from support.same_index import index_differences
from support.until import until

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(500)]
DELAY = 0.25
FETCHED = ("NEW", "MODIFIED", "UNMODIFIED", "NOT_MODIFIED")


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    with postgresql_server() as url, a_schema(url) as options, ExitStack() as stack:
        parts = urlsplit(url)
        monkeypatch.setenv("PGHOST", str(parts.hostname))
        monkeypatch.setenv("PGPORT", str(parts.port))
        yield Fleet(tmp_path, options, stack)


def test_whatever_happens_to_three_nodes_all_is_crawled_and_the_index_is_that_of_one(
    fleet: Fleet, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        sources = Sources(stack, number=9, pages=100, shared=3)
        fleet.definition["sources"] = sources.definition(DELAY)
        blows = Blows(fleet, sources)
        for share, blow in ((0.2, blows.kill), (0.4, blows.stop), (0.6, blows.cut_off)):
            blows.await_share(share)
            blow()
        until(lambda: fleet.finished() == set(sources.names), patience=240)
        until(lambda: not fleet.holders())
        for name, process in blows.nodes.items():
            fleet.end(name, process)
        found = Counter(
            (row["source"], row["outcome"] in FETCHED) for row in fleet.command("urls", "--json").lines
        )
        again, fast = blows.fetched_again(), sources.too_fast(DELAY)
        assert sources.too_fast(3 * DELAY), "it would be seen"
        alone = Workspace(tmp_path / "alone")
        alone.directory.mkdir()
        alone.write({"sources": sources.definition(0.0)})
        alone.crawl("--jobs", "2", timeout=120)
        assert found == dict.fromkeys(((name, True) for name in sources.names), sources.pages)
        assert again == [], "only what was not in the index is fetched twice"
        assert fast == []
        assert index_differences(alone, fleet.workspace("desk")) == []
