"""Focused crawling: which documents are kept by their language, and how far the links of others lead (FAST 5.18)."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.content.languages import UNKNOWN
from ultracrawl.rules.boundary.matcher import DomainTable
from ultracrawl.rules.boundary.rules import DomainRule

FOCUSED = "focused"
"""The rule that excludes what is not in one of the languages, and what lies too far behind it."""

NO_LINKS = -1
"""Instead of a number of hops: the links of a page lead to nothing new."""


class FocusPolicy:
    """Keeps documents in some languages; follows links `depth` hops through documents in others.

    A URL has a number of hops: how many documents in other languages lead to it since the last one that was kept, on
    the shortest way. Start URLs, entries of sitemaps and links of documents that are kept have 0. Documents of `exempt`
    hosts are kept whatever their language. `languages` are codes of ISO 639-1, and `unknown` for documents whose
    language cannot be told.
    """

    def __init__(self, languages: Iterable[str], depth: int = 0, exempt: Iterable[DomainRule] = ()) -> None:
        self.languages = frozenset(languages)
        self.depth = depth
        self._exempt = DomainTable(exempt)

    def exempts(self, host: str) -> bool:
        """Whether documents of a host are kept unseen."""
        return self._exempt.find(host) is not None

    def keeps(self, language: str) -> bool:
        """Whether documents in a language (a code, empty for an unknown one) are kept."""
        return (language or UNKNOWN) in self.languages

    def hops_behind(self, hops: int) -> int:
        """Return the hops of the links of a document that is not kept and has `hops` itself, or `NO_LINKS`.

        With a depth of 2, links of such a document get 1 hop, links of those behind it 2, and that is the end.
        """
        return hops + 1 if hops < self.depth else NO_LINKS
