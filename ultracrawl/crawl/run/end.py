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
from ultracrawl.model.dates import as_text
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
    session.context.flush()  # before it the store still counts as waiting what has just ended
    if not session.context.run.replay:
        if not session.context.report.interrupted and not _unfinished(session):
            session.expiry.sweep()
            session.agreement.settle()
        session.feeds.expire()
    _delete(session)
    if not session.context.report.interrupted:
        await _tell_anew(session)
    session.context.flush()
    session.context.documents.drain()
    session.context.documents.retry()
    patience = session.limits.allowance(INDEX_TIMEOUT, LEAST_INDEX_TIMEOUT)
    deadline = time.monotonic() + patience
    while session.context.documents.busy and time.monotonic() < deadline:
        session.context.documents.collect()
        await asyncio.sleep(0.02)
    session.context.documents.collect()
    session.context.flush()
    if session.context.documents.busy:
        told = f"the index process gave no answer for {patience:.0f} seconds"
        session.context.run.note_problem(
            WorkError(f"{told}; what waits for it is kept, and handed over by the next crawl")
        )


async def _tell_anew(session: CrawlSession) -> None:
    """Have documents tell of the URLs, and have the anchor texts, that they have by now."""
    session.context.flush()
    for _ in session.relations.refresh():
        session.context.documents.tick()
        await asyncio.sleep(0)
    if session.anchors is not None and not session.context.run.replay:
        session.anchors.settle()


def end_run(session: CrawlSession, started: float) -> None:
    """Write the report; a run with URLs left in its queue stays open, so that the next start resumes it.

    `started` is in monotonic seconds. Raises `WorkError`.
    """
    report = session.context.report
    report.seconds = time.monotonic() - started
    now = session.context.clock()
    report.finished = as_text(now)
    if not report.interrupted:
        judge(session)
    session.filling.end()
    if session.context.run.replay:
        return
    run = session.context.mark
    if session.limits.refresh_only or report.rejected_by[REFRESH_ONLY]:
        run = replace(run, scope=with_links_left(run.scope))
    finished = 0.0 if _unfinished(session) and not session.verdict.restarts else now
    session.context.run.mark = replace(
        run, finished=finished, report=json.dumps({**report.as_json(), LEFT: not finished})
    )
    session.context.store.end_run(session.context.mark)


def _delete(session: CrawlSession) -> None:
    """Let documents leave the index that are to, unless they are suspiciously many."""
    section = session.context.source.deletion
    guard = DeletionGuard(section.percent, section.always)
    deletions = Deletions(session.context.store, session.context.documents, session.duplicates.recount)
    complete = not session.context.report.interrupted and not _unfinished(session)
    run = session.context.mark
    problem = deletions.apply(
        guard,
        started=session.context.clock() if session.context.run.replay else run.started,
        by_definition=session.context.run.remade,
        complete=complete,
        before=0 if session.context.run.replay else run.deleted,
    )
    if deletions.counted and not session.context.run.replay:
        session.context.flush()
        session.context.run.mark = replace(run, deleted=run.deleted + deletions.counted)
        session.context.store.end_run(session.context.mark)
    if problem:
        session.context.report.problems.append(problem)
        logger.warning(problem)


def _unfinished(session: CrawlSession) -> bool:
    """Whether URLs wait that this run could still have asked for."""
    return session.context.store.counts().queued > session.context.report.given_up.total()
