"""A launcher that starts each crawl on this machine, or on the Scrapyd that the profile of its order names."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from ultracrawl.errors import StateError, UserError
from ultracrawl.model import RunReport
from ultracrawl.service import scrapyd
from ultracrawl.service.control import readable_status
from ultracrawl.service.orders import Clock, CompletingLauncher, CrawlHandle, CrawlOrder
from ultracrawl.sources import Project
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.stores.control_channel import CrawlStatus
from ultracrawl.stores.project_stores import state_to_read


class ProfileLauncher:
    """Passes orders without a profile to the launcher of this machine, and others to Scrapyd."""

    def __init__(self, local: CompletingLauncher, project: Callable[[], Project], clock: Clock) -> None:
        self._local = local
        self._project = project
        self._clock = clock

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        """Start a crawl. Raises `UserError`, `WorkError`."""
        if not order.profile:
            return await self._local.launch(order)
        project = self._project()
        section = project.profiles.get(order.profile)
        if section is None:
            raise UserError(f"there is no profile {order.profile!r} for crawls on another machine")
        client = scrapyd.ScrapydClient(order.profile, section, SecretReader(os.environ, project.key_file))
        return await scrapyd.crawl_by_scrapyd(
            client, order, self._clock, partial(_report_since, project, order.source)
        )

    async def complete_dead(self, order: CrawlOrder, death: str) -> CrawlHandle | None:
        """Start the completion command for a crawl that died on this machine."""
        return await self._local.complete_dead(order, death)


def _report_since(project: Project, source: str, since: float) -> RunReport | None:
    """Return the report of the last run if it ended after a time and its state is on this machine."""
    with (
        suppress(StateError),
        state_to_read(project, source) as state,
    ):
        run = next(iter(state.runs(1)), None) if state is not None else None
        if run is not None and run.finished >= since and run.report:
            return scrapyd.report_of(json.loads(run.report))
    return None


def status_of_other_crawl(project: Project, source: str) -> CrawlStatus | None:
    """Return the status of a crawl of the source on this machine that prevents another one; None if there is none.

    For a source with a profile it is always None: its Scrapyd knows whether it is being crawled.
    """
    return None if project.profile_of(source) else readable_status(project, source)
