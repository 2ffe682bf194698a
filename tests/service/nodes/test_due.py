"""When a node takes a source, in its own process: what it once saw is looked at again."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import pytest
import yaml
from stores.conftest import a_schema
from support.clock import wall_time
from support.until import until_on_loop

from ultracrawl.errors import StateError
from ultracrawl.service.nodes.node import open_node
from ultracrawl.service.schedules import plans
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.stores.port.schedule_store import own_key
from ultracrawl.stores.project_stores import open_nodes, open_state

pytestmark = pytest.mark.servers
PATIENCE = 40.0


class Workplace:
    """A supervisor that runs nothing; each change of its plans fails the first time, as on a lost connection."""

    free_slots = 1
    crawled = frozenset({"bees"})

    def __init__(self) -> None:
        self.changes = 0

    def replace_plans(self) -> str:
        self.changes += 1
        if self.changes % 2:
            raise StateError("away")
        return ""

    def is_idle(self, key: str) -> bool:
        return self.changes > 3

    def end_source(self, source: str) -> None:
        """Do nothing."""


def a_project(folder: Path, options: dict[str, str]) -> Project:
    """Return a project with a source that is crawled every hour."""
    state = {"engine": "postgresql", "url": options["url"], "schema_name": options["schema"]}
    source = {"start_urls": ["http://birds.example/"], "refresh": {"interval": "1 h"}}
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({"state": state, "sources": {"birds": source}}))
    return require(read_definitions(file))


def test_a_lost_connection_ends_no_node_and_leaves_no_plan_with_it(tmp_path: Path, database: str) -> None:
    with a_schema(database) as options:
        project = a_project(tmp_path, options)
        with open_node(lambda: project, dict, "a") as node, closing(open_nodes(project)) as store:

            def plans_of_it() -> list[tuple[str, ...]]:
                return [one.plans for one in store.nodes()]

            async def work() -> None:
                workplace, ended = Workplace(), Mock()
                async with node.running(workplace, ended):
                    await until_on_loop(lambda: workplace.changes == 2)
                    await until_on_loop(lambda: plans_of_it() == [(own_key("birds"),)])
                    node._take = Mock()  # type: ignore[method-assign]  # nothing more
                    workplace.changes = 4
                    await until_on_loop(lambda: plans_of_it() == [()])
                    assert workplace.changes == 6
                    ended.assert_not_called()

            asyncio.run(work())


def test_what_is_being_crawled_here_is_not_delivered_meanwhile(tmp_path: Path, database: str) -> None:
    with a_schema(database) as options:
        project = a_project(tmp_path, options)
        with open_node(lambda: project, dict, "a") as node:

            async def work() -> None:
                node._deliveries = Mock(end_deliveries=AsyncMock())
                async with node.running(Workplace(), Mock()):
                    await until_on_loop(lambda: node._deliveries.begin_due.called)

            asyncio.run(work())
            assert "bees" in node._deliveries.begin_due.call_args.args[0], "its crawl may just be ending"


@pytest.mark.parametrize("finished", [True, False])
def test_a_source_whose_state_could_not_be_read_once_is_taken_when_it_is_due_and_not_before(
    tmp_path: Path,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    finished: bool,
) -> None:
    with a_schema(database) as options:
        project = a_project(tmp_path, options)
        with closing(open_state(project, "birds")) as store:
            run, _ = store.begin_run(wall_time(), "")
            store.end_run(replace(run, finished=wall_time() if finished else 0.0))
        with open_node(lambda: project, dict, "a") as node:
            with monkeypatch.context() as patched:
                patched.setattr(plans, "state_to_read", Mock(side_effect=StateError("away")))
                for _ in range(2):
                    assert not node._look([], 1).taken, "nobody knows whether it is due"
                    node._seen.clear()  # as a minute later
                (told,) = [one for one in caplog.records if "birds" in one.getMessage()]
                assert "away" in told.getMessage()
            assert node._look([], 1).taken.keys() == (set() if finished else {own_key("birds")})
