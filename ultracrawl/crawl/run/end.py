"""How a crawl ends: what is to leave leaves, the last documents reach the index, the report is written."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.removal.deletions import Deletions
from ultracrawl.crawl.removal.scope import with_links_left
from ultracrawl.crawl.run.limits import REFRESH_ONLY
from ultracrawl.crawl.run.start_chain import judge
from ultracrawl.errors import WorkError
from ultracrawl.model.moment import as_text
from ultracrawl.rules.recrawl.deletion import DeletionGuard

if TYPE_CHECKING:
    from ultracrawl.crawl.session import CrawlSession

logger = logging.getLogger(__name__)

LEFT = "left"
"""The key of a stored report that says whether the run goes on; reports of versions that lost URLs have none."""
INDEX_TIMEOUT = 3600.0
"""Seconds that the index process may take for what waits at the end."""
LEAST_INDEX_TIMEOUT = 60.0
"""Seconds that it may take although the time of the run is over."""


async def finish_indexing(session: CrawlSession) -> None:
    """Carry out deletions and wait for the last commit. Raises `WorkError`."""
    session.flush()  # before it the store still counts as waiting what has just ended
    if not session.replay:
        if not session.report.interrupted and not _unfinished(session):
            session.expiry.sweep()
            session.agreement.settle()
        session.feeds.expire()
    _delete(session)
    if not session.report.interrupted:
        await _tell_anew(session)
    session.flush()
    session.feed.drain()
    session.feed.retry()
    patience = session.limits.allowance(INDEX_TIMEOUT, LEAST_INDEX_TIMEOUT)
    deadline = time.monotonic() + patience
    while session.feed.busy and time.monotonic() < deadline:
        session.feed.collect()
        await asyncio.sleep(0.02)
    session.feed.collect()
    session.flush()
    if session.feed.busy:
        told = f"the index process gave no answer for {patience:.0f} seconds"
        session.note(WorkError(f"{told}; what waits for it is kept, and handed over by the next crawl"))


async def _tell_anew(session: CrawlSession) -> None:
    """Have documents tell of the URLs, and have the anchor texts, that they have by now."""
    session.flush()
    for _ in session.relations.refresh():
        session.feed.tick()
        await asyncio.sleep(0)
    if session.anchors is not None and not session.replay:
        session.anchors.settle()


def end_run(session: CrawlSession, started: float) -> None:
    """Write the report; a run with URLs left in its queue stays open, so that the next start resumes it.

    `started` is in monotonic seconds. Raises `WorkError`.
    """
    report = session.report
    report.seconds = time.monotonic() - started
    now = session.clock()
    report.finished = as_text(now)
    if not report.interrupted:
        judge(session)
    session.filling.end()
    if session.replay:
        return
    run = session.run
    if session.limits.refresh_only or report.rejected_by[REFRESH_ONLY]:
        run = replace(run, scope=with_links_left(run.scope))
    finished = 0.0 if _unfinished(session) and not session.verdict.restarts else now
    session.run = replace(run, finished=finished, report=json.dumps({**report.as_json(), LEFT: not finished}))
    session.state.end_run(session.run)


def _delete(session: CrawlSession) -> None:
    """Let documents leave the index that are to, unless they are suspiciously many."""
    section = session.source.deletion
    guard = DeletionGuard(section.percent, section.always)
    deletions = Deletions(session.state, session.feed, session.duplicates.recount)
    complete = not session.report.interrupted and not _unfinished(session)
    run = session.run
    problem = deletions.apply(
        guard,
        started=session.clock() if session.replay else run.started,
        by_definition=session.remade,
        complete=complete,
        before=0 if session.replay else run.deleted,
    )
    if deletions.counted and not session.replay:
        session.flush()
        session.run = replace(run, deleted=run.deleted + deletions.counted)
        session.state.end_run(session.run)
    if problem:
        session.report.problems.append(problem)
        logger.warning(problem)


def _unfinished(session: CrawlSession) -> bool:
    """Whether URLs wait that this run could still have asked for."""
    return session.state.counts().queued > session.report.given_up.total()
