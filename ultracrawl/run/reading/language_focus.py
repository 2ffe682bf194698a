"""Focused crawling: decides by the language of a page whether it is kept (FAST 5.18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.content.languages import language_code
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Page
from ultracrawl.rules.boundary.focus import FocusPolicy
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.reading.language_detection import DocumentLanguages, open_detector

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.run.visit import Visit
    from ultracrawl.sources import DataSource
    from ultracrawl.stores import Store


class LanguageFocus:
    """Judges the pages of a source by their language."""

    def __init__(self, policy: FocusPolicy, languages: DocumentLanguages) -> None:
        self.policy = policy
        self._languages = languages

    def refusal(self, visit: Visit, page: Page, response: Response, state: Store) -> Cause:
        """Return why a page is not kept, or `NO_CAUSE`; sets the off-focus hops of its links in the visit."""
        if self.policy.exempts(host_of(visit.url)):
            return NO_CAUSE
        language = language_code(self._languages.of(page, response))
        if self.policy.keeps(language):
            return NO_CAUSE
        key = visit.entry.key
        hops = self.policy.hops_of_links(state.queue.hops_to([key]).get(key, 0))
        visit.page = visit.page._replace(link_hops=hops)
        return Cause(CauseCode.LANGUAGE, language or "unknown")


def focus_of(
    source: DataSource, policy: FocusPolicy | None, languages: DocumentLanguages
) -> LanguageFocus | None:
    """Return the language focus of a source, None if it keeps all pages. Raises `MissingExtraError`.

    `languages` determines the languages of its documents; used if the source says which declaration to trust.
    """
    if policy is None:
        return None
    if source.languages.trust is not None:
        return LanguageFocus(policy, languages)
    if not source.focused.detect:
        return LanguageFocus(policy, DocumentLanguages("declared", None))
    detect = open_detector("`focused`; `detect: false` does without")
    return LanguageFocus(policy, DocumentLanguages("detected", detect))
