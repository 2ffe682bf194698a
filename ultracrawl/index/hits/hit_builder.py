"""Builds the hits of a page of results from matching documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice

from ultracrawl.index.budget import SearchBudget
from ultracrawl.index.engine import Hit, IndexDocument, MatchingSection, SearchQuery, url_of_section
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.hits.sections import BestSection, SectionFinder, named_section, text_of
from ultracrawl.index.hits.snippet import snippet
from ultracrawl.index.query.completion import completing_section
from ultracrawl.index.query.tree import Node
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.words.stemming import language_of
from ultracrawl.model.page import Section
from ultracrawl.rules.urls.shown import harmless

LONG_TEXT_LIMIT = 1_000_000
"""Characters of a text that are searched for sections and snippets, if it has sections beyond the stored part."""


MOST_OUTLINED = 200
"""Sections of an outline."""


class HitBuilder:
    """Builds the hits of one query, for all engines: the best section and a snippet.

    Only documents that are shown are passed here, never all matches. Documents with hidden text have neither.
    """

    def __init__(
        self, node: Node, query: SearchQuery, matcher: Matcher, budget: SearchBudget | None = None
    ) -> None:
        """Prepare the hits; `matcher` finds the words of `node`. When `budget` is spent, hits have no snippets."""
        self._query = query
        self._budget = budget or SearchBudget()
        self._matcher = matcher
        self._finder = SectionFinder(self._matcher, node)
        self._found: dict[tuple[str, str], BestSection] = {}
        """The best sections by source and URL of the document."""

    def needs_rest(self, document: IndexDocument) -> bool:
        """Whether a hit needs the text behind the stored part: for its length, or for sections that begin there."""
        if document.secret_text or self._query.completing:
            return False
        return self._query.outline or _shown_length(document) > STORED_TEXT_LIMIT

    def best_section(self, document: IndexDocument) -> int | None:
        """Return the number of the section that matches best; None is the document as a whole, or its hidden text."""
        if document.secret_text or not self._budget.in_time():
            return None
        return self._best(document).number

    def hit(self, document: IndexDocument, score: float, copies: Iterable[str] = ()) -> Hit:
        """Return the hit of a document, as far as the engine stores it; `copies` are the URLs of its copies."""
        section: Section | None = None
        shown, matching = "", tuple[MatchingSection, ...]()
        if self._query.completing:
            section = completing_section(self._query.text, document)
        elif self._query.outline and not document.secret_text:
            matching = tuple(islice(_outline(document), MOST_OUTLINED))
        elif not document.secret_text and self._budget.in_time():
            section, shown, matching = self._shown(document)
        return Hit(
            harmless(document.url),
            document.title,
            score,
            document.source,
            shown,
            document.attributes,
            section,
            matching,
            tuple(map(harmless, copies)),
            len(document.text) if self._query.outline and not document.secret_text else 0,
        )

    def _shown(self, document: IndexDocument) -> tuple[Section | None, str, tuple[MatchingSection, ...]]:
        """Return the section to name, the snippet, and the sections that match."""
        sections, text, language = document.sections, _shown_text(document), _language(document)
        answer = self._best(document)
        section = part = None
        if answer.number is not None:
            section = named_section(document, answer.number)
            part = text_of(sections, answer.number, text)
        elif answer.is_named and sections and not text[: sections[0].offset].strip():
            part = text_of(sections, 0, text)[0], len(text)
        breaks = [place for one in sections for place in (one.offset, one.begin_of_text(text))]
        cut = partial(snippet, self._matcher, text, language, breaks=breaks)
        shown = cut(part, is_answer=part is not None and answer.is_named)
        return section, shown, tuple(self._matching(document, text, answer, cut))

    def _best(self, document: IndexDocument) -> BestSection:
        key = document.source, document.url
        if key not in self._found:
            self._found[key] = self._finder.best(document, _shown_text(document), _language(document))
        return self._found[key]

    def _matching(
        self, document: IndexDocument, text: str, answer: BestSection, cut: Callable[..., str]
    ) -> Iterator[MatchingSection]:
        """Yield the sections that match and that a link can lead to, as many as the query asks for."""
        url, seen = harmless(document.url), set[str]()
        for number, is_named in answer.matching:
            if len(seen) >= self._query.sections or not self._budget.in_time():
                return
            section = named_section(document, number)
            if section is not None and section.anchor and section.anchor not in seen:
                seen.add(section.anchor)
                shown = cut(text_of(document.sections, number, text), is_answer=is_named)
                yield MatchingSection(section, url_of_section(url, section), shown)


def _outline(document: IndexDocument) -> Iterator[MatchingSection]:
    """Yield the sections of a document that have a title, in their order."""
    url = harmless(document.url)
    return (MatchingSection(one, url_of_section(url, one), "") for one in document.sections if one.title)


def _language(document: IndexDocument) -> str:
    return language_of(str(next(iter(document.attributes.get("Language", ())), "")))


def _shown_text(document: IndexDocument) -> str:
    return document.text[: _shown_length(document)]


def _shown_length(document: IndexDocument) -> int:
    """Return the characters of the text to search; more than the stored part if a section begins behind it."""
    last = document.sections[-1].offset if document.sections else 0
    return STORED_TEXT_LIMIT if last < STORED_TEXT_LIMIT else LONG_TEXT_LIMIT
