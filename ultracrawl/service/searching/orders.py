"""What a requester searches for, as values that can be pickled."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import WorkError
from ultracrawl.index.filters import Filter


@dataclass(frozen=True, slots=True)
class SearchOrder:
    """A search; the arguments are those of `Searcher.search`. Its answer is that of `ultracrawl search --json`."""

    text: str = ""
    sources: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    filters: tuple[str | Filter, ...] = ()
    facets: tuple[str, ...] = ()
    like: str = ""
    sort: str = ""
    language: str = ""
    index: str = ""
    limit: int = 10
    offset: int = 0
    sections: int = 0
    disjunctive_facets: bool = False
    count_sources: bool = False
    as_typed: bool = False
    typing: bool = False
    """The last word may be the beginning of a word."""


@dataclass(frozen=True, slots=True)
class SuggestOrder:
    """Completions of a query that is being typed, as of `ultracrawl search --complete --json`."""

    text: str = ""
    sources: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    index: str = ""
    limit: int = 8


@dataclass(frozen=True, slots=True)
class DocumentOrder:
    """One document by source and URL, as hits have them. Its answer is a hit with all sections and `characters`."""

    source: str
    url: str
    index: str = ""


Order = SearchOrder | SuggestOrder | DocumentOrder


class SearchEndedError(WorkError):
    """A search was ended with its process: it took too long or too much memory, or the process died."""


class SearchRefusedError(WorkError):
    """A search got no place in time."""

    def __init__(self, problem: str, retry_after: int) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
