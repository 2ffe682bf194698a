"""Builds the hits of a page of results from matching documents."""

from __future__ import annotations

from ultracrawl.index.engine import Hit, IndexDocument, SearchBudget, SearchQuery
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.hits.sections import SectionFinder, named_section, text_of
from ultracrawl.index.hits.snippet import snippet
from ultracrawl.index.query.completion import completing_section
from ultracrawl.index.query.tree import Node, requested_urls
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.index.words.stemming import language_of
from ultracrawl.rules.urls.shown import harmless

LONG_TEXT_LIMIT = 1_000_000
"""Characters of a text that are searched for sections and snippets, if it has sections beyond the stored part."""


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
        self._finder = SectionFinder(self._matcher, list(requested_urls(node)))

    def hit(self, document: IndexDocument, score: float) -> Hit:
        """Return the hit of a document, as far as the engine stores it."""
        section, shown = None, ""
        if self._query.completing:
            section = completing_section(self._query.text, document)
        elif not document.secret_text and self._budget.in_time():
            sections, text = document.sections, document.text[: shown_length(document)]
            language = language_of(str(next(iter(document.attributes.get("Language", ())), "")))
            answer = self._finder.best(document, text, language)
            part = None
            if answer.number is not None:
                section = named_section(document, answer.number)
                part = text_of(sections, answer.number, text)
            elif answer.is_named and sections and not text[: sections[0].offset].strip():
                part = text_of(sections, 0, text)[0], len(text)
            breaks = [place for one in sections for place in (one.offset, one.offset + len(one.title))]
            is_answer = part is not None and answer.is_named
            shown = snippet(self._matcher, text, language, part, breaks=breaks, is_answer=is_answer)
        return Hit(
            harmless(document.url),
            document.title,
            score,
            document.source,
            shown,
            document.attributes,
            section,
        )


def shown_length(document: IndexDocument) -> int:
    """Return the characters of the text to search; more than the stored part if a section begins behind it."""
    last = document.sections[-1].offset if document.sections else 0
    return STORED_TEXT_LIMIT if last < STORED_TEXT_LIMIT else LONG_TEXT_LIMIT
