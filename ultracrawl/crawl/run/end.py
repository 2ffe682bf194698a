"""How a crawl ends: what is to leave leaves, the last documents reach the index, the report is written."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.removal.deletions import Deletions
from ultracrawl.crawl.removal.scope import with_links_left
from ultracrawl.crawl.run.limits import RunLimits
from ultracrawl.crawl.run.start_chain import judge_run
from ultracrawl.crawl.writing.finishing import INDEX_TIMEOUT, finish_writing
from ultracrawl.model.dates import as_text
from ultracrawl.rules.candidates.rules import REFRESH_ONLY
from ultracrawl.rules.recrawl.deletion import DeletionGuard

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.model import UrlRecord

logger = logging.getLogger(__name__)

LEFT = "left"
"""The key of a stored report that says whether the run goes on; reports of versions that lost URLs have none."""
LEAST_INDEX_TIMEOUT = 60.0
"""Seconds that it may take although the time of the run is over."""


class RunEnd:
    """Ends a run: what is to leave leaves, the last documents reach the index, the report is written.

    `recount` is told of documents whose end turns out to be another one, `restarts` says whether the cycle begins
    anew after this run, and `asked` are URLs that a command line names.
    """

    def __init__(
        self,
        context: CrawlContext,
        limits: RunLimits,
        recount: Callable[[UrlRecord, UrlRecord], None],
        restarts: Callable[[], bool],
        asked: Iterable[str],
    ) -> None:
        self._context = context
        self._limits = limits
        self._recount = recount
        self._restarts = restarts
        self._asked = tuple(asked)

    async def finish_indexing(self) -> None:
        """Carry out deletions and wait for the last commit. Raises `WorkError`."""
        context = self._context
        context.flush()  # before it the store still counts as waiting what has just ended
        complete = self._is_complete()
        for ending in context.hooks.run_ending:
            ending(complete=complete)
        self._delete()
        if not context.counters.interrupted:
            context.flush()
            for done in context.hooks.deletions_done:
                await done()
        patience = self._limits.allowance(INDEX_TIMEOUT, LEAST_INDEX_TIMEOUT)
        problem = await finish_writing(context.documents.writer, context.flush, patience)
        if problem:
            context.run.note_problem(problem)

    def write_report(self, started: float) -> None:
        """Write the report; a run with URLs left in its queue stays open, so that the next start resumes it.

        `started` is in monotonic seconds. Raises `WorkError`.
        """
        context, counters = self._context, self._context.counters
        now = context.clock()
        counters.close(as_text(now), time.monotonic() - started)
        if not counters.interrupted:
            judge_run(context, self._asked)
        for written in context.hooks.report_written:
            written()
        if context.run.replay:
            return
        run = context.mark
        if self._limits.refresh_only or counters.rejected_by[REFRESH_ONLY]:
            run = replace(run, scope=with_links_left(run.scope))
        finished = 0.0 if self._is_unfinished() and not self._restarts() else now
        run = replace(
            run, finished=finished, report=json.dumps({**context.report.as_json(), LEFT: not finished})
        )
        context.run.mark = run
        context.store.end_run(run)

    def _delete(self) -> None:
        """Let documents leave the index that are to, unless they are suspiciously many."""
        context = self._context
        section = context.source.deletion
        guard = DeletionGuard(section.percent, section.always)
        deletions = Deletions(context.store, context.documents.writer, self._recount)
        run = context.mark
        problem = deletions.apply(
            guard,
            started=context.clock() if context.run.replay else run.started,
            by_definition=context.run.remade,
            complete=self._is_complete(),
            before=0 if context.run.replay else run.deleted,
        )
        if deletions.counted and not context.run.replay:
            context.flush()
            context.run.mark = replace(run, deleted=run.deleted + deletions.counted)
            context.store.end_run(context.mark)
        if problem:
            context.run.add_problem(problem)
            logger.warning(problem)

    def _is_complete(self) -> bool:
        context = self._context
        return not (context.counters.interrupted or context.run.partial or self._is_unfinished())

    def _is_unfinished(self) -> bool:
        """Whether URLs wait that this run could still have asked for."""
        if self._context.run.listing:
            return True
        return self._context.store.records.count_urls().queued > self._context.counters.given_up.total()
