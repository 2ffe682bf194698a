"""The index is optimised at times of its own."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from support.project import LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site

from ultracrawl.index.project_index import open_index
from ultracrawl.model import ScheduleStatus
from ultracrawl.service.orders import CrawlOrder, ScheduleState, WallClock
from ultracrawl.service.schedules.optimisation import OPTIMISATION, optimisation_plan
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.schedules.schedule_status import schedule_states
from ultracrawl.sources import Project, load_project
from ultracrawl.stores.project_stores import open_schedules


@pytest.fixture
def project(site: Site, url: str, workspace: Workspace) -> Project:
    """A project whose index has a document that left."""
    for number in range(9):
        site.page(f"/{number}", title=f"Page {number}", text=f"words of page {number}")
    links = ["/gone", *(f"/{number}" for number in range(9))]
    site.page("/", title="Home", links=links, text="words of the home page")
    site.page("/gone", title="Gone", text="words of a page that goes")
    source = {
        "start_urls": [f"{url}/"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "sitemaps": {"use": False},
    }
    optimise = {"cron": "0 4 * * sun", "limit": "1 h"}
    workspace.write(
        {"index": {"optimise": optimise}, "sources": {"site": {**source, "deletion": {"percent": 100}}}}
    )
    return _loaded(workspace.directory)


def _loaded(directory: Path) -> Project:
    loaded = load_project(directory / "ultracrawl.yaml")
    assert loaded.project is not None, loaded.findings
    return loaded.project


def optimised(project: Project) -> ScheduleState:
    """Let the time come; returns what came of it."""
    plan = optimisation_plan(project)
    assert plan is not None

    class Nobody:
        async def launch(self, order: CrawlOrder) -> None:  # type: ignore[override]
            raise AssertionError(order)

    async def run() -> None:
        with contextlib.closing(open_schedules(project)) as store:
            runner = ScheduleRunner([plan], Nobody(), store, WallClock())  # type: ignore[arg-type]
            runner.find_schedule(OPTIMISATION).launch_by_hand()
            await runner.run(until=lambda: not runner.busy)

    asyncio.run(run())
    (state,) = schedule_states(project)
    return state


@pytest.mark.processes
def test_the_space_of_deleted_documents_is_freed__ultra_search_21(
    project: Project, site: Site, workspace: Workspace
) -> None:
    workspace.crawl()
    site.respond("/gone", status=404)
    workspace.crawl(code=None)
    with contextlib.closing(open_index(project)) as index:
        assert (index.count(), index.facts().deleted) == (10, 1)
    state = optimised(project)
    assert (state.status, state.error) == (ScheduleStatus.SCHEDULED, "")
    assert state.next_run is not None
    with contextlib.closing(open_index(project)) as index:
        assert (index.count(), index.facts().deleted, index.facts().segments) == (10, 0, 1)


@pytest.mark.processes
def test_one_that_takes_too_long_is_ended_and_reported(project: Project, workspace: Workspace) -> None:
    workspace.crawl()
    optimise = project.index.optimise
    assert optimise is not None
    limited = optimise.model_copy(update={"limit": 0.001})
    index = project.index.model_copy(update={"optimise": limited})
    state = optimised(project.model_copy(update={"index": index}))
    assert state.status is ScheduleStatus.FAILED
    assert sentence("index.as_it_was") in state.error
    assert len(workspace.search("words")) == 11


def test_it_stands_among_the_schedules(project: Project, workspace: Workspace) -> None:
    (row,) = workspace.command("schedule", "list", "--json").json["schedules"]
    assert (row["name"], row["status"]) == (OPTIMISATION, "scheduled")
