"""Chooses the pages of a source that are opened in a browser, and uses the result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ultracrawl.content.html.rendered import merge_rendered
from ultracrawl.content.reader import PageHeaders, PageReader
from ultracrawl.errors import MissingExtraError, MissingProgramError, WorkError
from ultracrawl.model import Cause, CauseCode, Page, UrlOutcome
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.matcher import UriTable
from ultracrawl.rules.boundary.rules import Action, UriRule
from ultracrawl.rules.recrawl.change import has_same_page
from ultracrawl.run import rendering
from ultracrawl.run.ending import NOT_LET_IN, Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.rendering.not_rendered import NotRendered, RenderingError
from ultracrawl.run.rendering.open_page import Rendered
from ultracrawl.run.rendering.script_detection import (
    PAGES,
    has_few_words,
    has_scripts,
    shown_checksum,
    what_lacks,
)
from ultracrawl.run.transport.headers import header_of
from ultracrawl.run.visit import Step, Visit
from ultracrawl.sources.compilation.access import logins_without_values

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.rendering.page_parts import PageParts, PartFetcher
    from ultracrawl.sources.patterns import Pattern
    from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

logger = logging.getLogger(__name__)

MAX_LACKING_RUNS = 3
"""Runs in a row after which a page that lacks parts is indexed as it is: they are gone for good."""
PAUSES = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 0.0)
"""Seconds after each attempt to open a page on which the browser died; the last one is not repeated."""
MAX_DEATHS = 12
"""Attempts in a row on which the browser died; then it is taken for broken, and no page is opened again."""
TIMEOUT = "javascript.timeout"
"""The option by half of which a page is read while its parts wait for the turn of their site."""
_NOT_AWAITED = "some pages were read without the element of `javascript.wait_for` ({}), which did not come"
_PART_REFUSED = "what its scripts asked for beyond {}"
_LEADS_ON = "where its scripts lead one time after the other"
_MORE = "what a button for more adds (nothing is pressed)"
_PAGE_HEADERS = ("Content-Type", "Content-Security-Policy", "Referrer-Policy")


ReadLargePage = Callable[["Visit", bytes, str, PageHeaders, "PageReader"], Awaitable["Page | None"]]
"""Reads a page in another process; returns None if it exceeds its limits, which ends its visit."""


class PageRenderer(Feature):
    """Runs the scripts of pages. A page itself is not requested again; its parts come from a `PartFetcher`."""

    def __init__(
        self,
        context: CrawlContext,
        parts: PartFetcher,
        read_large_page: ReadLargePage,
        within: Callable[[Visit, Step], AbstractContextManager[None]],
        allowance: Callable[[], float],
    ) -> None:
        """Initialise; `within` times a step of a visit, `allowance` returns the seconds that closing may take."""
        self._allowance = allowance
        self._context = context
        self._parts = parts
        self._read_large_page = read_large_page
        self._within = within
        self._shared = context.source.javascript
        """The options of the source; those of its browser hold for all sites."""
        self._logins = logins_without_values(context.source)
        self.on = context.source.runs_scripts
        self._pages: dict[tuple[Pattern, ...], UriTable] = {}
        """The table of each list of `javascript.urls`."""
        self._places = asyncio.Semaphore(self._shared.pages)
        self._alone = asyncio.Lock()
        self._deaths = 0
        """Attempts in a row on which the browser died."""
        self._browser: rendering.Browser | None = None
        self._missing = ""
        """Why there is no browser on this machine; empty if there is one."""
        if self.on:
            self._find_browser()

    def _find_browser(self) -> None:
        """Find the browser; without one, pages are read as sent. Raises `UserError` if the named one is no program."""
        try:
            program = rendering.browser_program(self._shared.browser)
        except (MissingExtraError, MissingProgramError) as error:
            if self._shared.browser is not None and isinstance(error, MissingProgramError):
                raise
            self._missing = str(error)
        else:
            self._browser = rendering.Browser(program, self._context.source.user_agent, self._shared)

    def takes(self, visit: Visit, body: bytes) -> bool:
        """Return whether a page may be opened in the browser: it has scripts, and a rule applies to it."""
        if not self.on or visit.fetch.media_type not in PAGES or not has_scripts(body):
            return False
        options = self._options(visit)
        return bool(options.use) and (not options.urls or self._table(options).find(visit.url) is not None)

    def _options(self, visit: Visit) -> JavascriptSection:
        """Return the options in force at the site of a page."""
        return self._context.source_at(visit.url).javascript

    def _table(self, options: JavascriptSection) -> UriTable:
        table = self._pages.get(options.urls)
        if table is None:
            rules = (UriRule(pattern.kind, pattern.text, Action.INCLUDE) for pattern in options.urls)
            table = UriTable(rules, self._context.rules.url_policy.without_rewriting)
            self._pages[options.urls] = table
        return table

    async def page(self, visit: Visit, response: Response, page: Page) -> Page:
        """Return a page after its scripts; the original page if they fail."""
        rendered = await self.rendered(visit, response, page)
        if rendered is None:
            return page
        read = await self._read(visit, rendered.url or response.url, rendered.html)
        if read is None:
            return page
        kept, targets, moved = rendered.kept, rendered.targets, rendered.url
        return merge_rendered(page, read, targets, url=response.url, rendered_url=moved, kept=kept)

    async def rendered(self, visit: Visit, response: Response, page: Page) -> Rendered | None:
        """Return a page after its scripts in the browser.

        None if `javascript.use` is `auto` and the page as sent lacks nothing. None if the browser fails or the result
        is too large, too: the next run opens it again whatever its validators say. The original page is used then,
        unless what is indexed was made of the same page (`_keep_indexed`): then the visit is ended. None if the run
        has reached a limit, or if it took too long for the first time, too: then the visit is queued again.
        """
        if self._options(visit).use == "auto":
            rules = self._context.rules
            belongs = partial(_belongs, rules.boundary)
            lacks = what_lacks(page, response.url, rules.url_policy, belongs)
            if not lacks:
                return None
            visit.page = visit.page._replace(rendered=Cause(CauseCode.RENDERED, lacks))
        try:
            rendered = await self._open_page(visit, response, page)
        except RenderingError as error:
            if self._is_set_aside(visit, error):
                return None
            self._note_unrendered(visit, error)
            self._keep_indexed(visit, page)
            return None
        return rendered and self._judged(visit, rendered, page)

    def _is_set_aside(self, visit: Visit, error: RenderingError) -> bool:
        """Have a page that took too long opened once more at the end of the run, alone; False if that is no use.

        A browser has no clock for the work of one page. One that took too long in the last runs will do so again.
        """
        may_pass = error.fault is NotRendered.TIME and visit.record.failed_runs < MAX_LACKING_RUNS
        return may_pass and self._context.queue.set_aside(visit, str(error))

    async def _open_page(self, visit: Visit, response: Response, page: Page) -> Rendered | None:
        """Open a page; again, without any other beside it, if the browser dies. Raises `RenderingError`."""
        if self._browser is None:
            raise RenderingError(NotRendered.NO_BROWSER, self._missing)
        self._context.counters.count_opened()
        for pause in PAUSES:
            try:
                with self._within(visit, Step.BROWSER):
                    async with self._place(alone=pause != PAUSES[0]):
                        rendered = await self._read_open_page(self._browser, visit, response, page)
            except RenderingError as error:
                self._deaths += error.fault.may_pass
                if not error.fault.may_pass or pause == PAUSES[-1] or self._deaths >= MAX_DEATHS:
                    raise
                logger.warning("%s: %s; it is opened again", visit.url, error)
                with self._within(visit, Step.BROWSER):
                    await asyncio.sleep(pause)
            else:
                self._deaths = 0
                return rendered
        raise AssertionError

    @asynccontextmanager
    async def _place(self, *, alone: bool) -> AsyncIterator[None]:
        """Take one of the places of open pages, or all, so that one page that ends the browser takes no other down."""
        async with self._alone if alone else nullcontext():
            taken = 0
            try:
                for _ in range(self._shared.pages if alone else 1):
                    await self._places.acquire()
                    taken += 1
                yield
            finally:
                for _ in range(taken):
                    self._places.release()

    def _judged(self, visit: Visit, rendered: Rendered, page: Page) -> Rendered | None:
        """Return a page after its scripts, None if it lacks parts, and what is indexed is kept in place of it."""
        if self._asks_to_log_in(visit, rendered) and has_few_words(page):
            self._context.endings.end_visit(visit, NOT_LET_IN)
            return None
        if rendered.lacks_parts:
            lacks = "a script or data that it asks for could not be had"
            self._note_unrendered(visit, RenderingError(NotRendered.PARTS, lacks))
            if visit.record.failed_runs < MAX_LACKING_RUNS and self._keep_indexed(visit, page):
                return None
        if visit.page.live:
            visit.note_checksum(shown_checksum(page))
        if not rendered.awaited:
            self._context.counters.add_new_remark(_NOT_AWAITED.format(self._options(visit).wait_for))
        kept = self._options(visit).keep_html
        return replace(rendered, kept=has_few_words(page) if kept is None else kept)

    def _asks_to_log_in(self, visit: Visit, rendered: Rendered) -> bool:
        """Return whether scripts leave a page for the form of its log-in, as those do that find no session."""
        return any(
            login.covers(visit.url)
            and not login.is_at_form(visit.url)
            and any(map(login.is_at_form, rendered.targets))
            for login in self._logins
        )

    def _keep_indexed(self, visit: Visit, page: Page) -> bool:
        """End a visit whose page as sent shows what it did; a fault never replaces what was rendered."""
        sent = (visit.checksum, shown_checksum(page))
        if not visit.record.retained or not any(has_same_page(visit.record, one) for one in sent):
            return False
        ending = Ending(UrlOutcome.UNMODIFIED, cause=visit.page.unrendered)
        self._context.endings.end_visit(visit, ending)
        return True

    def _note_unrendered(self, visit: Visit, error: RenderingError) -> None:
        cause = Cause(CauseCode.UNRENDERED, error.fault, str(error))
        visit.page = visit.page._replace(unrendered=cause, parts=b"")
        self._context.counters.count_unrendered(error.fault)
        if error.fault is NotRendered.NO_BROWSER:
            self._context.counters.add_new_remark(f"pages were read without their scripts: {self._missing}")
        else:
            logger.warning("%s: %s", visit.url, cause)
        self._context.counters.count_excluded_later("javascript failed")

    async def _read_open_page(
        self, browser: rendering.Browser, visit: Visit, response: Response, page: Page
    ) -> Rendered | None:
        """Return a page after its scripts; None if the run ended while it was open, so that the next one reads it."""
        headers = {name: value for name in _PAGE_HEADERS if (value := header_of(response, name))}
        parts = self._parts.for_page(visit)
        try:
            rendered = await browser.render(visit.url, response.body, headers, parts, parts.options)
            if rendered.is_waiting:
                parts.exceeded.add(TIMEOUT)
        finally:
            parts.close()
            for option in sorted(parts.exceeded):
                self._context.counters.count_truncated(_PART_REFUSED.format(option), visit.url)
        for omitted in [_LEADS_ON] * rendered.leads_on + [_MORE] * rendered.has_more:
            self._context.counters.count_truncated(omitted, visit.url)
        if parts.is_cut_by_run and self._may_wait(parts.received):
            self._context.queue.retry(visit, 0.0)
            return None
        if rendered.asks_for_data or parts.has_any:
            visit.page = visit.page._replace(live=True, parts=parts.known() if rendered.is_whole else b"")
        if parts.refused and not self._is_let_in(visit, parts, page):
            return None
        if len(rendered.html) > self._context.source_at(visit.url).limits.max_size:
            raise RenderingError(NotRendered.SIZE, "the rendered page is larger than limits.max_size")
        return rendered

    def _is_let_in(self, visit: Visit, parts: PageParts, page: Page) -> bool:
        """Return whether a page with refused data may be used; it ends as a refused page if it got no data at all.

        One that got others is read as it is if it is new. What is indexed is kept for some runs, as for missing parts.
        """
        if not parts.let_in:
            self._context.endings.end_visit(visit, NOT_LET_IN)
            return False
        self._note_unrendered(visit, RenderingError(NotRendered.LOGIN, "data that it asks for were refused"))
        return not (visit.record.failed_runs < MAX_LACKING_RUNS and self._keep_indexed(visit, page))

    def _may_wait(self, received: int) -> bool:
        """Return whether a page that the end of the run has cut is left to the next run.

        Not if it has got its share of `limits.bytes`: it would be cut again in every run.
        """
        most = self._context.source.limits.bytes
        return most is None or received < most / (2 * self._shared.pages)

    async def _read(self, visit: Visit, url: str, written: str) -> Page | None:
        html, reader = written.encode("utf-8", "replace"), self._context.rules.reader_of(visit.url)
        head = PageHeaders("text/html; charset=utf-8")
        if reader.takes_long(html, url, "text/html"):
            made = await self._read_large_page(visit, html, url, head, reader)
        else:
            made = reader.read(html, url, "text/html", head)
        if made is not None:
            self._context.counters.note_truncation(visit, made)
        return made

    async def fetching_ended(self) -> None:
        """Close the browser; one that does not close in time is reported."""
        if self._browser is None:
            return
        try:
            async with asyncio.timeout(self._allowance()):
                await self._browser.close()
        except TimeoutError:
            problem = "the browser did not close; its process may be left over"
            self._context.run.note_problem(WorkError(problem))


def _belongs(boundary: Boundary, url: str) -> bool:
    return boundary.rejects(url) is None
