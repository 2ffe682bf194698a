"""Which run a crawl is: a new one, or the one before that did not end; and what a changed definition means for it."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.removal.scope import change_since, drop_outside, mark_of_next
from ultracrawl.crawl.run.adaptive import AdaptiveChooser, is_adaptive
from ultracrawl.crawl.run.end import LEFT
from ultracrawl.crawl.run.limits import limits_over
from ultracrawl.stores import QueueStart, RunMark

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.rules.boundary import UrlRewriter

logger = logging.getLogger(__name__)


def begin_run(context: CrawlContext, chooser: AdaptiveChooser, *, everything: bool) -> tuple[RunMark, bool]:
    """Begin or resume the run of a crawl, True if it is resumed; making documents again is part of the last one.

    With `everything` a new run asks for every known URL, whatever the definition says.
    """
    now = context.clock()
    if context.run.replay:
        return next(iter(context.store.runs(1)), RunMark(0, now)), False
    rule = context.source.refresh.rule
    # What is to be asked for, a lister says.
    rule = rule.for_everything if everything and not context.rules.listed else rule
    levels = context.rules.levels
    start = QueueStart(
        rule, chooser.choose, levels.of if levels.levels > 1 else None, listed=context.rules.listed
    )
    latest = next(iter(context.store.runs(1)), None)
    if latest is not None and _lost_some(latest):
        context.store.end_run(replace(latest, finished=now))
    closed = bool(limits_over(context.source.limits, context.store, context.project.state.path))
    mark = mark_of_next(latest, context.rules, closed=closed)
    run, resumed = context.store.begin_run(now, mark, start)
    if is_adaptive(run.mode) and resumed:
        chooser.resume()
    return run, resumed


def _lost_some(run: RunMark) -> bool:
    """Return whether a run of an earlier version ended by itself, and left URLs queued whose visits never ended.

    Resumed, it would ask for those alone; the next run asks for everything, and for them as well.
    """
    if run.finished or not run.report:
        return False
    report = json.loads(run.report)
    return LEFT not in report and not (report["interrupted"] or report["ended_by"] or report["given_up"])


def follow_definition(context: CrawlContext, rewriter: UrlRewriter | None, *, refresh_only: bool) -> None:
    """Act on a definition that changed since the last run.

    Another scope: what is outside leaves, and every page is scanned for what it lets in. Another recipe:
    every page is made into a document again.
    """
    before = next((run for run in context.store.runs(2) if run.number != context.mark.number), None)
    change = change_since(before, context.rules, closed=refresh_only)
    run = context.run
    run.remade = change.recipe
    run.force = run.force or change.recipe
    run.rescan = run.force or (change.scope and not context.rules.listed)
    if change.recipe and not context.counters.resumed:
        _count_hops_anew(context)
    if change.scope and not context.rules.listed:
        dropped = drop_outside(
            context.store,
            context.documents.writer,
            context.rules,
            context.counters,
            rewriter,
        )
        logger.info("The scope of %s changed: %d known URLs are outside", context.source.name, dropped)


def _count_hops_anew(context: CrawlContext) -> None:
    """Reset the hops of all links, because other languages may be kept now than before."""
    if context.rules.focus:
        context.store.queue.reset_hops(context.rules.focus.depth)
        context.store.flush()
