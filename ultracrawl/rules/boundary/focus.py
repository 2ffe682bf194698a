"""Focused crawling by language (FAST 5.18)."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.content.languages import UNKNOWN
from ultracrawl.rules.boundary.matcher import DomainTable
from ultracrawl.rules.boundary.rules import DomainRule

FOCUSED = "focused"
"""The rule that excludes documents in other languages, and URLs too many hops behind them."""

NO_LINKS = -1
"""In place of a number of hops: links of the page to new URLs are not followed."""


class FocusPolicy:
    """Keeps documents in some languages; follows links `depth` hops through documents in others.

    The hops of a URL are the documents in other languages on the shortest path to it since the last document that was
    kept. Start URLs, sitemap entries and links of kept documents have 0. Documents of `exempt` hosts are kept whatever
    their language. `languages` are ISO 639-1 codes, and `unknown` for documents of undetected language.
    """

    def __init__(self, languages: Iterable[str], depth: int = 0, exempt: Iterable[DomainRule] = ()) -> None:
        self.languages = frozenset(languages)
        self.depth = depth
        self._exempt = DomainTable(exempt)

    def exempts(self, host: str) -> bool:
        """Return whether documents of a host are kept whatever their language."""
        return self._exempt.find(host) is not None

    def keeps(self, language: str) -> bool:
        """Return whether documents in a language (a code, empty for unknown) are kept."""
        return (language or UNKNOWN) in self.languages

    def hops_of_links(self, hops: int) -> int:
        """Return the hops of the links of a document with `hops` that is not kept, or `NO_LINKS`.

        With a depth of 2, links of such a document have 1 hop, links of the next ones 2, and further ones are not
        followed.
        """
        return hops + 1 if hops < self.depth else NO_LINKS
