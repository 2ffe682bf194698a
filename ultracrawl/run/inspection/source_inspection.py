"""Opens the store of a source for the forecast and the queue view."""

from __future__ import annotations

import time
from contextlib import closing

from ultracrawl.run.control.limits import limits_over
from ultracrawl.run.filters.source_filters import filtering_of, url_judge, with_filters
from ultracrawl.run.inspection.forecast import Forecast, forecast
from ultracrawl.run.inspection.queue_view import QueueView, QueueViewer, first_urls
from ultracrawl.run.rewriters import opened_rewriter
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.run.traps.recognition import known_traps, remembered_traps
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.stores.project_stores import state_to_read


def forecast_of(project: Project, source: DataSource) -> Forecast:
    """Return the forecast of the next crawl of a source. Raises `UserError`, `StateError`."""
    filtering = filtering_of(source, None)
    with closing(HostAddresses()) as hosts, state_to_read(project, source.name) as state:
        rules = with_filters(compile_source(source, project, hosts), filtering)
        closed = state is not None and bool(limits_over(source.limits, state, project.state.path))
        with opened_rewriter(source) as rewriter, url_judge(filtering, hosts) as judge:
            result = forecast(state, rules, rewriter, source, time.time(), closed=closed, judge=judge)
            result.traps = [trap.pattern for trap in known_traps(project, source) if trap.bounded]
            return result


def queue_of(project: Project, source: DataSource, limit: int) -> QueueView:
    """Return the URLs of a source that are fetched next. Raises `UserError`, `StateError`."""
    rules = with_filters(compile_source(source, project), filtering_of(source, None))
    with state_to_read(project, source.name) as state:
        if state is None:
            return QueueView(
                source.name, source.refresh.mode, urls=first_urls(rules, limit), listed=rules.listed
            )
        closed = bool(limits_over(source.limits, state, project.state.path))
        traps = remembered_traps(project, source.name, rules)
        return QueueViewer(state, source, rules, time.time(), closed=closed, traps=traps).view(limit)
