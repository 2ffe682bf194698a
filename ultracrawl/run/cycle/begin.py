"""Begins or resumes the run of a crawl, and applies changes of the definition since the last run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.run.control.adaptive import AdaptiveChooser, is_adaptive
from ultracrawl.run.control.limits import limits_over
from ultracrawl.run.removal.scope import change_since, drop_outside, mark_of_next
from ultracrawl.sources.checking.access_checks import exposure_note
from ultracrawl.stores import QueueStart, RunMark

if TYPE_CHECKING:
    from ultracrawl.rules.boundary import UrlRewriter
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

_MADE_ANEW = (
    "all documents of this source are read and made anew, "
    "because its definition or the version of ultracrawl changed"
)


def begin_run(context: CrawlContext, chooser: AdaptiveChooser, *, everything: bool) -> tuple[RunMark, bool]:
    """Begin or resume the run of a crawl; returns the run and whether it is resumed. A replay belongs to the last run.

    With `everything` a new run requests every known URL, whatever the definition says.
    """
    now = context.clock()
    if context.run.replay:
        return next(iter(context.store.runs(1)), RunMark(0, now)), False
    rule = context.source.refresh.rule
    # A listed source is not refetched as a whole: its lister names what to fetch.
    rule = rule.for_everything if everything and not context.rules.listed else rule
    levels = context.rules.levels
    start = QueueStart(
        rule, chooser.choose, levels.of if levels.levels > 1 else None, listed=context.rules.listed
    )
    latest = next(iter(context.store.runs(1)), None)
    closed = bool(limits_over(context.source.limits, context.store, context.project.state.path))
    mark = mark_of_next(latest, context.rules, closed=closed)
    run, resumed = context.store.begin_run(now, mark, start)
    if is_adaptive(run.mode) and resumed:
        chooser.resume()
    return run, resumed


def follow_definition(context: CrawlContext, rewriter: UrlRewriter | None, *, refresh_only: bool) -> None:
    """Apply changes of the definition since the last run.

    A changed scope removes URLs outside it and has every page parsed for links that are inside now. A changed recipe
    makes every page into a document again, that of single sites only theirs.
    """
    before = next((run for run in context.store.runs(2) if run.number != context.mark.number), None)
    if before is None and not context.counters.resumed and (note := exposure_note(context.source)):
        context.counters.add_remark(note)
    change = change_since(before, context.rules, closed=refresh_only)
    run = context.run
    run.recipe_changed = change.recipe or change.sites is not None
    run.anew_at = change.sites.differ_at if change.sites is not None else None
    run.force = run.force or change.recipe
    run.rescan = run.force or (change.scope and not context.rules.listed and not run.narrowed)
    if change.recipe and context.rules.listed:
        context.counters.add_remark(_MADE_ANEW)
    if change.recipe and not context.counters.resumed:
        _reset_off_focus_hops(context)
    if change.scope and not context.rules.listed:
        dropped = drop_outside(
            context.store,
            context.documents.writer,
            context.rules,
            context.counters,
            rewriter,
        )
        logger.info("The scope of %s changed: %d known URLs are outside", context.source.name, dropped)


def _reset_off_focus_hops(context: CrawlContext) -> None:
    """Reset the off-focus hops of all links, because other languages may be kept now."""
    if context.rules.focus:
        context.store.queue.reset_hops(context.rules.focus.depth)
        context.store.flush()
