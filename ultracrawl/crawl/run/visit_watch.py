"""Sees to it that every visit ends: what nobody works on any more has failed, and what takes for ever is given up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scrapy import signals

from ultracrawl.crawl.download_errors.kinds import Failure
from ultracrawl.crawl.hooks import TICK, Feature
from ultracrawl.crawl.visit import PATIENCE, Step, Visit, visit_of
from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from ultracrawl.crawl.context import CrawlContext

logger = logging.getLogger(__name__)

_GIVEN = Step.PROCESSING, 0.0
"""Where documents are that came without a request."""
MOST_TOLD = 5
"""Visits that the report names; the others are in the document table."""


class OverdueError(Exception):
    """Code of others takes for ever."""


class VisitWatch(Feature):
    """Looks at what is in flight, ten times a second.

    A visit is in the hands of a request that Scrapy works on, or that waits in the scheduler. Code of others may lose
    that request (a middleware that answers something else, a callback that is never called), or never give it
    back. In both cases the visit has failed, the report says so, and Scrapy no longer waits for the request.

    Time is counted in looks: while the process is held up, nothing grows old.
    """

    def __init__(
        self,
        context: CrawlContext,
        crawler: Crawler,
        late: Callable[[], bool],
        end_failed: Callable[[Visit, Failure], None],
    ) -> None:
        """`late` says whether the run has to end now, `end_failed` ends a visit or has it tried again."""
        self._context = context
        self._crawler = crawler
        self._late = late
        self._end_failed = end_failed
        source = context.source
        self.patience = PATIENCE * source.limits.timeout
        """Seconds that a step may take by itself."""
        self._longest = {
            Step.DOWNLOAD: self.patience,
            # What pipelines do to an item has a time limit of its own, and a message of its own.
            Step.PROCESSING: self.patience + source.limits.timeout,
            Step.CONVERSION: self.patience
            + max(source.conversion.timeout, source.limits.seconds_per_page or 0.0),
            Step.BROWSER: self.patience + source.javascript.timeout,
        }
        self._out: set[Visit] = set()
        self._steps: dict[Visit, tuple[Step, float]] = {}
        """Where each visit is, and since when; kept as long as anybody works on its request."""
        self._time = 0.0
        self._latest = dict.fromkeys(Step, 0.0)
        """When a visit came out of a step in which others wait for their turn."""
        self._others: dict[Request, float] = {}
        """Requests that are no visits, and since when they are out."""
        self._items: dict[asyncio.Task[Any], float] = {}
        self._lost = 0

        crawler.signals.connect(self._idle, signals.spider_idle)

    def begin(self, visit: Visit) -> None:
        """Take note of a visit whose request goes out."""
        self._out.add(visit)
        self.enter(visit, Step.DOWNLOAD)

    def retried(self, visit: Visit) -> None:
        """Take note of a visit that waits to be tried again."""
        self._out.discard(visit)

    def enter(self, visit: Visit, step: Step) -> None:
        """Take note that a visit has got as far as a step."""
        self._steps[visit] = step, self._time

    def note_answer(self, visit: Visit) -> None:
        """Take note that the answer for a visit is there."""
        self.enter(visit, Step.PROCESSING)

    @contextmanager
    def within(self, visit: Visit, step: Step) -> Iterator[None]:
        """Inside the block a visit waits for its turn among others: it is not overdue as long as others come out."""
        self.enter(visit, step)
        try:
            yield
        finally:
            self._latest[step] = self._time
            self.enter(visit, Step.PROCESSING)

    @contextmanager
    def item(self, item: Any) -> Iterator[None]:
        """Bound what pipelines do to an item. Raises `OverdueError`."""
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

            url = ItemAdapter(item).get("access_url", "an item")
            self._tell(f"{url} was lost in the pipelines: one of them does not come back")
            raise OverdueError("the pipelines do not come back") from None
        finally:
            self._items.pop(task, None)

    def tick(self) -> None:
        """Look at all that is in flight."""
        self._time += TICK
        self._look()

    def _look(self) -> None:
        slot = self._crawler.engine._slot
        if slot is None or not (self._out or slot.inprogress or self._items):
            return
        late = self._late()
        for task, since in list(self._items.items()):
            if late or self._time - since > self.patience:
                del self._items[task]
                task.cancel()
        holders = {
            visit_of(request): request
            for request in (*self._context.queue.waiting_requests, *slot.inprogress)
        }
        for visit in [one for one in self._out if one.done or one not in holders]:
            self._ended(visit)
        for visit in [one for one in self._steps if one not in self._out and one not in holders]:
            del self._steps[visit]
        self._others = {
            one: self._others.get(one, self._time) for one in slot.inprogress if visit_of(one) is None
        }
        for request in list(slot.inprogress):
            if late or self._is_overdue(request):
                self._give_up(request)

    def _idle(self) -> None:
        """Look once more before Scrapy takes the crawl for finished."""
        self._look()

    def _ended(self, visit: Visit) -> None:
        self._out.discard(visit)
        self.fail(visit, "nothing works on it any more")
        if visit.done and self._context.visits.get(visit.entry.key) is visit:
            self._context.run.fail(f"the end of {visit.url} was noted in part only, because something raised")

    def _is_overdue(self, request: Request) -> bool:
        visit = visit_of(request)
        if visit is None:
            return self._time - self._others[request] > self.patience
        step, since = self._steps.setdefault(visit, (Step.DOWNLOAD, self._time))
        return self._time - max(since, self._latest[step]) > self._longest[step]

    def _give_up(self, request: Request) -> None:
        visit = visit_of(request)
        if visit is not None and visit in self._out:
            self._out.discard(visit)
            self.fail(visit, "it does not come back")
        elif visit is None or visit.done:
            self._tell(f"{request.url}: what works on it does not come back, and is no longer waited for")
        self._let_go(request)

    def fail(self, visit: Visit, why: str) -> None:
        """End a visit that will not end by itself; the report names its URL and where it was."""
        if visit.done:
            return
        step, _ = self._steps.get(visit, _GIVEN)
        cause = Cause(CauseCode.LOST, step, why)
        self._tell(f"{visit.url} was {cause}; code of the source or its components has to give an answer")
        failure = Failure(UrlOutcome.FAILED, StatusCode.READ_ERROR, cause)
        try:
            self._end_failed(visit, failure)
        except Exception as error:  # whatever it is, the crawl must not wait for this visit for ever
            logger.exception("%s cannot be ended", visit.url)
            self._context.run.fail(f"{visit.url} cannot be ended: {type(error).__name__}: {error}")

    def _tell(self, problem: str) -> None:
        self._lost += 1
        if self._lost <= MOST_TOLD:
            self._context.run.note_problem(WorkError(problem))
        else:
            logger.error("%s", problem)

    def _let_go(self, request: Request) -> None:
        """Stop Scrapy from waiting for the code that works on a request; what that returns later is ignored."""
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

    def look_for_the_last_time(self) -> None:
        """Look once more; the report says how many visits it does not name."""
        self._look()
        if self._lost > MOST_TOLD:
            self._context.run.note_problem(
                WorkError(f"{self._lost - MOST_TOLD:,} more URLs were lost in the same ways")
            )
