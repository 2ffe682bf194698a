"""Which run a crawl is: a new one, or the one before that did not end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.extensions.leaving.scope import mark_of_next
from ultracrawl.extensions.run.adaptive import AdaptiveChooser, is_adaptive
from ultracrawl.extensions.run.limits import keeps_new_out
from ultracrawl.state import QueueStart, RunMark

if TYPE_CHECKING:
    from ultracrawl.extensions.session import CrawlSession


def begin_run(session: CrawlSession, now: float) -> tuple[RunMark, bool]:
    """Begin or resume the run of a crawl, True if it is resumed; making documents again is part of the last one."""
    if session.replay:
        return next(iter(session.state.runs(1)), RunMark(0, now)), False
    chooser = AdaptiveChooser(session.state, session.source, session.clock)
    chooser.log = session.logs.events.scores
    rule = session.source.refresh.rule
    rule = rule.for_everything if session.force else rule
    levels = session.rules.levels
    start = QueueStart(rule, chooser.choose, levels.of if levels.levels > 1 else None)
    latest = next(iter(session.state.runs(1)), None)
    closed = keeps_new_out(session.source.limits, session.state, session.project.state.path)
    mark = mark_of_next(latest, session.rules, closed=closed)
    run, resumed = session.state.begin_run(now, mark, start)
    if is_adaptive(run.mode):
        session.chooser = chooser
        if resumed:
            chooser.resume()
    return run, resumed
