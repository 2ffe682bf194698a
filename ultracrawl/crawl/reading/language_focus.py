"""Focused crawling in a crawl: tells the language of a page, and whether the page is kept (FAST 5.18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.content.languages import language_code
from ultracrawl.crawl.reading.language_detection import SAMPLE, Detector, open_detector
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.model import NO_CAUSE, Cause, CauseCode
from ultracrawl.rules.boundary.focus import FocusPolicy
from ultracrawl.rules.urls.canonical import host_of

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.visit import Visit
    from ultracrawl.model import Page
    from ultracrawl.sources import DataSource
    from ultracrawl.stores import Store


class LanguageFocus:
    """Judges the pages of a source by their language."""

    def __init__(self, policy: FocusPolicy, detect: Detector | None) -> None:
        self.policy = policy
        self._detect = detect

    def refusal(self, visit: Visit, page: Page, response: Response, state: Store) -> Cause:
        """Return why a page is not kept, if it is not; its visit is told how many hops its links get."""
        if self.policy.exempts(host_of(visit.url)):
            return NO_CAUSE
        language = self.language_of(page, response)
        if self.policy.keeps(language):
            return NO_CAUSE
        key = visit.entry.key
        hops = self.policy.hops_behind(state.queue.hops_to([key]).get(key, 0))
        visit.page = visit.page._replace(link_hops=hops)
        return Cause(CauseCode.LANGUAGE, language or "unknown")

    def language_of(self, page: Page, response: Response) -> str:
        """Return the code of a page's language: by its text, else by what it declares, else by its header."""
        detected = self._detect(page.text[:SAMPLE]) if self._detect and page.text else ""
        header = header_of(response, "Content-Language").partition(",")[0]
        return detected or language_code(page.language) or language_code(header)


def focus_of(source: DataSource, policy: FocusPolicy | None) -> LanguageFocus | None:
    """Return what judges the pages of a source, None if it keeps all. Raises `MissingExtraError`."""
    if policy is None:
        return None
    needed = "`focused`; `detect: false` does without"
    return LanguageFocus(policy, open_detector(needed) if source.focused.detect else None)
