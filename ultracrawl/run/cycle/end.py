"""Ends a run: carries out deletions, waits for the last index commit and writes the report."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome
from ultracrawl.model.dates import as_text
from ultracrawl.model.run import HELD_PROBLEMS
from ultracrawl.rules.candidates.rules import REFRESH_ONLY
from ultracrawl.rules.recrawl.guard import LossGuard
from ultracrawl.run.control.limits import LIMITS_OVER, RunLimits
from ultracrawl.run.discovery.start_chain import report_left_ports, report_unreadable_urls
from ultracrawl.run.hooks import Feature
from ultracrawl.run.removal.deletions import Deletions
from ultracrawl.run.removal.scope import with_documents_outside, with_links_left
from ultracrawl.run.writing.finishing import INDEX_TIMEOUT, finish_writing

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

_UNFINISHED_KEY = "left"
"""Key of a stored report: whether the run will be resumed."""
MAX_LABELS = 500
"""Titles of held-back documents that are counted for the most common one."""
MIN_INDEX_TIMEOUT = 60.0
"""Seconds that the last commit may take even if the time limit of the run is over."""


class RunFinisher:
    """Ends a run: carries out deletions, waits for the last index commit and writes the report.

    `restarts` returns whether the cycle restarts after this run, and `given_urls` are the URLs of the command line.
    """

    def __init__(
        self,
        context: CrawlContext,
        limits: RunLimits,
        restarts: Callable[[], bool],
        given_urls: Iterable[str],
    ) -> None:
        self._context = context
        self._limits = limits
        self._restarts = restarts
        self._given_urls = tuple(given_urls)
        self._held_problems: list[str] = []

    async def finish_indexing(self) -> None:
        """Carry out deletions and wait for the last commit. Raises `WorkError`."""
        context = self._context
        context.flush()  # otherwise the store still counts the last visits as queued
        complete = self._is_complete()
        while context.documents.settle(complete=complete):
            await asyncio.sleep(0)
        context.flush()
        for notify in context.hooks[Feature.run_ending]:
            notify(complete=complete)
        for remark in dict.fromkeys((*context.run.failing_remarks, *context.run.closing_remarks)):
            context.counters.add_remark(remark)
        self._delete()
        if not context.counters.interrupted:
            context.flush()
            for update in context.hooks[Feature.after_deletions]:
                await update()
        problem = await self._finish_writing()
        if complete and not problem and sum(mark() for mark in context.hooks[Feature.run_committed]):
            self._delete()
            problem = await self._finish_writing()
        if problem:
            context.run.note_problem(problem)

    async def _finish_writing(self) -> str:
        timeout = self._limits.allowance(INDEX_TIMEOUT, MIN_INDEX_TIMEOUT)
        return await finish_writing(self._context.documents.writer, self._context.flush, timeout)

    def write_report(self, started: float) -> None:
        """Store the report. A run with URLs left in its queue stays unfinished, so that the next crawl resumes it.

        `started` is a monotonic time in seconds. Raises `WorkError`.
        """
        context, counters = self._context, self._context.counters
        now = context.clock()
        context.flush()
        documents = context.store.records.count_urls().indexed
        counters.close(as_text(now), time.monotonic() - started, documents)
        if not counters.interrupted:
            report_unreadable_urls(context, self._given_urls)
            if not self._is_unfinished():
                self._report_no_document()
        if not context.run.replay:
            report_left_ports(context)
        for notify in context.hooks[Feature.run_ended]:
            notify()
        if context.run.replay:
            return
        run = context.mark
        if self._limits.refresh_only or counters.rejected_by[REFRESH_ONLY]:
            run = replace(run, scope=with_links_left(run.scope))
        finished = 0.0 if self._is_unfinished() and not self._restarts() else now
        run = replace(
            run,
            finished=finished,
            report=json.dumps(
                {
                    **context.report.as_json(),
                    _UNFINISHED_KEY: not finished,
                    HELD_PROBLEMS: self._held_problems,
                    LIMITS_OVER: {limit.name: limit.limit for limit in self._limits.over},
                }
            ),
        )
        context.run.mark = run
        context.store.end_run(run)

    def _report_no_document(self) -> None:
        """Report why the source has no document with text, unless a problem tells it already."""
        context = self._context
        if context.report.documents > len(context.source.seed_urls):
            return  # the start pages are not all that it has
        from ultracrawl.run.cycle.no_document import (  # noqa: PLC0415 - nearly all runs need none of it
            LISTS,
            has_ended_before,
            why_no_document,
        )

        cause, problem = why_no_document(context)
        if not cause:
            return
        context.counters.note_no_document(cause.code)
        if context.report.problems:
            return
        if cause.code in LISTS and has_ended_before(context):
            context.counters.add_remark(f"the source has no document: {problem}")
        else:
            context.run.add_problem(f"the source has no document with text: {problem}")

    def _delete(self) -> None:
        """Remove documents that are marked for removal, unless the deletion guard finds too many."""
        context = self._context
        section = context.source.deletion
        guard = LossGuard(section.percent, section.always)
        held = self._report_held()
        deletions = Deletions(context.store, context.documents.writer, context.documents.recount)
        run = context.mark
        problem = deletions.apply(
            guard,
            started=context.clock() if context.run.replay else run.started,
            by_definition=context.run.recipe_changed,
            complete=self._is_complete(),
            before=0 if context.run.replay else run.deleted,
            held=held,
            starts=context.rules.seeds,
            form_of=context.rules.url_policy.canonical,
        )
        if deletions.holds_outside:
            context.run.mark = run = replace(run, scope=with_documents_outside(run.scope))
        if deletions.counted and not context.run.replay:
            context.flush()
            context.run.mark = replace(run, deleted=run.deleted + deletions.counted)
            context.store.end_run(context.mark)
        if problem:
            self._add_held_problem(problem)

    def _report_held(self) -> int:
        """Report the new versions that are held back; returns of how many documents this run found one."""
        context = self._context
        if context.run.replay:
            return 0
        counts = context.store.records.count_urls()
        if not counts.held_back:
            return 0
        labels, in_index, found = Counter[str](), 0, 0
        for record in context.store.records.held_records():
            if len(labels) < MAX_LABELS and record.outcome is UrlOutcome.HELD_BACK:
                labels[record.cause.subject] += 1
            in_index += record.searchable
            found += record.is_held_since(context.mark.started)
        common = next((f" ({text!r})" for text, number in labels.most_common(1) if text and number > 1), "")
        if not in_index:  # of new URLs alone, which belong to a wall that is gone
            context.counters.add_remark(
                f"{counts.held_back:,} documents of new URLs are held back, because they look like what was held back "
                f"before{common}; `ultracrawl approve-changes {context.source.name}` lets them in"
            )
            return 0
        section = context.source.modification
        limit = LossGuard(section.percent, section.always).limit(counts.documents)
        problem = (
            f"{counts.held_back:,} changes are held back: {in_index:,} of {counts.documents:,} documents "
            f"lost nearly all of their words{common}, and the limit is {limit:,}; their former versions stay in the "
            f"index; `ultracrawl approve-changes {context.source.name}` lets the new ones in, and "
            "`modification: {percent: 100}` lets in all from now on, for a site whose pages are new each time"
        )
        self._add_held_problem(problem)
        return found

    def _add_held_problem(self, problem: str) -> None:
        self._held_problems.append(problem)
        self._context.run.add_problem(problem)
        logger.warning(problem)

    def _is_complete(self) -> bool:
        context = self._context
        return not (context.counters.interrupted or context.run.listed_partially or self._is_unfinished())

    def _is_unfinished(self) -> bool:
        """Whether URLs are queued, other than those of given-up sites, or the listing is not finished."""
        if self._context.run.is_listing:
            return True
        return self._context.store.records.count_urls().queued > self._context.counters.given_up.total()
