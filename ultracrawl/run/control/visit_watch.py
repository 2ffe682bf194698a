"""Ends visits that are lost or stuck, so that every visit has an outcome."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals

from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.download_errors.kinds import Failure
from ultracrawl.run.hooks import TICK_SECONDS, Feature
from ultracrawl.run.visit import STEP_TIMEOUT_FACTOR, Step, Visit, visit_of
from ultracrawl.system.wall_guard import wall_limit

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

_WITHOUT_REQUEST = Step.PROCESSING, 0.0
"""Step of documents that arrived without a request."""
MAX_REPORTED = 5
"""Visits that the report names; the others are in the document table."""


class OverdueError(Exception):
    """Foreign code did not finish in time."""


class VisitWatch(Feature):
    """Checks the visits in flight ten times a second.

    Each visit belongs to a request that Scrapy processes or that waits in the scheduler. Foreign code may lose that
    request (a middleware that returns something else, a callback that is never called) or never finish with it. In
    both cases the visit fails, the report says so, and Scrapy no longer waits for the request. What did not finish in
    time is first tried once more at the end of the run, alone.

    Time is counted in ticks, so that nothing expires while the process is suspended.
    """

    def __init__(
        self,
        context: CrawlContext,
        crawler: Crawler,
        is_run_overdue: Callable[[], bool],
        end_failed: Callable[[Visit, Failure], None],
    ) -> None:
        """`is_run_overdue` returns whether the run has to end now; `end_failed` ends a visit or retries it."""
        self._context = context
        self._crawler = crawler
        self._is_run_overdue = is_run_overdue
        self._end_failed = end_failed
        source = context.source
        everywhere = [source, *(overlay.source for overlay in context.rules.overlays.values.values())]
        timeout = max(one.limits.timeout for one in everywhere)
        self.step_timeout = STEP_TIMEOUT_FACTOR * timeout
        """Seconds that a step may take, without waiting for other visits."""
        self._step_timeouts = {
            Step.DOWNLOAD: self.step_timeout,
            # Item pipelines have their own time limit and message, which must come first.
            Step.PROCESSING: self.step_timeout + timeout,
            Step.CONVERSION: self.step_timeout
            + wall_limit(
                max(source.conversion.timeout, *(one.limits.seconds_per_page for one in everywhere))
            ),
            Step.BROWSER: self.step_timeout + max(one.javascript.timeout for one in everywhere),
        }
        self._in_flight: set[Visit] = set()
        self._steps: dict[Visit, tuple[Step, float]] = {}
        """Step of each visit and its begin; kept while its request is processed."""
        self._time = 0.0
        self._last_exits = dict.fromkeys(Step, 0.0)
        """Last time at which a visit left each step in which visits wait for their turn."""
        self._other_requests: dict[Request, float] = {}
        """Requests that are no visits, with the time at which they were first seen."""
        self._items: dict[asyncio.Task[Any], float] = {}
        self._lost = 0

        crawler.signals.connect(self._idle, signals.spider_idle)

    def begin_visit(self, visit: Visit) -> None:
        """Watch a visit whose request is sent."""
        self._in_flight.add(visit)
        self._steps[visit] = Step.DOWNLOAD, self._time

    def suspend_visit(self, visit: Visit) -> None:
        """Stop watching a visit that waits for a retry."""
        self._in_flight.discard(visit)

    def response_received(self, visit: Visit) -> None:
        """Set the step of a visit whose response has arrived."""
        self._steps[visit] = Step.PROCESSING, self._time

    @contextmanager
    def waiting_in(self, visit: Visit, step: Step) -> Iterator[None]:
        """Set a step in which visits wait for their turn: it is not overdue while other visits leave the step."""
        before, _ = self._steps.get(visit, (Step.PROCESSING, 0.0))
        self._steps[visit] = step, self._time
        try:
            yield
        finally:
            self._last_exits[step] = self._time
            self._steps[visit] = before, self._time

    @contextmanager
    def limit_item(self, item: Any) -> Iterator[None]:
        """Limit the time of the pipelines for an item. Raises `OverdueError`."""
        task = asyncio.current_task()
        assert task is not None
        self._items[task] = self._time
        try:
            yield
        except asyncio.CancelledError:
            if task in self._items:
                raise
            task.uncancel()
            from itemadapter import ItemAdapter  # noqa: PLC0415 - slow, and this is rare

            url, why = ItemAdapter(item).get("access_url", "an item"), "the pipelines did not return in time"
            visit = self._context.visits.get(url_key(url))
            if visit not in self._in_flight or not self._context.queue.set_aside(visit, why):
                self._report(f"{url} was lost in the pipelines: one of them did not return in time")
            raise OverdueError(why) from None
        finally:
            self._items.pop(task, None)

    def tick(self) -> None:
        """Check all visits in flight."""
        self._time += TICK_SECONDS
        self._check()

    def _check(self) -> None:
        slot = self._crawler.engine._slot
        if slot is None or not (self._in_flight or slot.inprogress or self._items):
            return
        late = self._is_run_overdue()
        for task, since in list(self._items.items()):
            if late or self._time - since > self.step_timeout:
                del self._items[task]
                task.cancel()
        holders = {
            visit_of(request): request
            for request in (*self._context.queue.waiting_requests, *slot.inprogress)
        }
        for visit in [visit for visit in self._in_flight if visit.done or visit not in holders]:
            self._end_lost(visit)
        for visit in [
            visit for visit in self._steps if visit not in self._in_flight and visit not in holders
        ]:
            del self._steps[visit]
        self._other_requests = {
            request: self._other_requests.get(request, self._time)
            for request in slot.inprogress
            if visit_of(request) is None
        }
        for request in list(slot.inprogress):
            if late or self._is_overdue(request):
                self._give_up(request, may_pass=not late)

    def _idle(self) -> None:
        """Check before Scrapy regards the crawl as finished."""
        self._check()

    def _end_lost(self, visit: Visit) -> None:
        self._in_flight.discard(visit)
        self.fail_visit(visit, "no component works on it any more")
        if visit.done and self._context.visits.get(visit.entry.key) is visit:
            self._context.run.fail(
                f"the result of {visit.url} was recorded only in part, because of an exception"
            )

    def _is_overdue(self, request: Request) -> bool:
        visit = visit_of(request)
        if visit is None:
            # robots.txt has a time-out of its own, which is often longer than that of pages.
            longest: float = STEP_TIMEOUT_FACTOR * request.meta.get("download_timeout", 0.0)
            return self._time - self._other_requests[request] > max(self.step_timeout, longest)
        step, since = self._steps.setdefault(visit, (Step.DOWNLOAD, self._time))
        return self._time - max(since, self._last_exits[step]) > self._step_timeouts[step]

    def _give_up(self, request: Request, *, may_pass: bool) -> None:
        visit, why = visit_of(request), "it did not return in time"
        if visit is not None and visit in self._in_flight:
            self._in_flight.discard(visit)
            if not (may_pass and self._context.queue.set_aside(visit, why)):
                self.fail_visit(visit, why)
        elif visit is None or visit.done:
            self._report(f"{request.url}: it did not return in time, and the crawl no longer waits for it")
        self._stop_waiting(request)

    def fail_visit(self, visit: Visit, why: str) -> None:
        """End a visit that will not end by itself; the report names its URL and step."""
        if visit.done:
            return
        step, _ = self._steps.get(visit, _WITHOUT_REQUEST)
        cause = Cause(CauseCode.LOST, step, why)
        self._report(f"{visit.url} was {cause}; check the code of the source and its components")
        failure = Failure(UrlOutcome.FAILED, StatusCode.READ_ERROR, cause)
        try:
            self._end_failed(visit, failure)
        except Exception as error:  # otherwise the crawl would wait for this visit for ever
            logger.exception("%s cannot be ended", visit.url)
            self._context.run.fail(f"{visit.url} cannot be ended: {type(error).__name__}: {error}")

    def _report(self, problem: str) -> None:
        self._lost += 1
        if self._lost <= MAX_REPORTED:
            self._context.run.note_problem(WorkError(problem))
        else:
            logger.error("%s", problem)

    def _stop_waiting(self, request: Request) -> None:
        """Make Scrapy stop waiting for a request; what foreign code returns for it later is ignored."""
        engine = self._crawler.engine
        slot, scraped = engine._slot, engine.scraper.slot
        assert slot is not None
        assert scraped is not None
        engine.downloader.active.discard(request)
        scraped.active.discard(request)
        slot.inprogress.discard(request)
        if slot.closing is None:
            slot.nextcall.schedule()
        elif not slot.closing.called:
            slot._maybe_fire_closing()
        if scraped.closing is not None and not scraped.closing.called:
            engine.scraper._check_if_closing()

    def check_last(self) -> None:
        """Check at the end of the run; the report states how many lost visits it does not name."""
        self._check()
        if self._lost > MAX_REPORTED:
            self._context.run.note_problem(
                WorkError(f"{self._lost - MAX_REPORTED:,} more URLs were lost in the same way")
            )
