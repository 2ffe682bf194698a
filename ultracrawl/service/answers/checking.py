"""Checks golden queries: which pages are no longer among the first hits, and what stands before them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Any

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.errors import UserError
from ultracrawl.index import Hit
from ultracrawl.index.searchable_project import SearchableProject
from ultracrawl.index.searching import Searcher
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY
from ultracrawl.sources import Project
from ultracrawl.sources.golden_queries import MAX_WITHIN, GoldenFile, GoldenQuery, mistake_in

SEEN = MAX_WITHIN
"""Hits among which the position of a page is looked for."""
_MOST_BEFORE = 10


@dataclass(frozen=True, slots=True)
class HitBefore:
    """A hit that stands before a page that fell."""

    position: int
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class FallenPage:
    """A page that is not among the first hits of its query."""

    line: int
    """The line of the query in its file."""
    query: str
    page: str
    within: int
    position: int | None
    """Its position now; None if it is not among the first `SEEN` hits."""
    is_indexed: bool
    """Whether the index has the page at all, as far as the principals of the query may see."""
    before: tuple[HitBefore, ...]
    """The hits before it, at most the first ten."""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of `ultracrawl check-answers --json`."""
        fields = asdict(self)
        return {"indexed" if name == "is_indexed" else name: value for name, value in fields.items()}


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The result of a check."""

    queries: int
    pages: int
    fallen: tuple[FallenPage, ...]


def check_answers(
    project: Project | SearchableProject,
    file: GoldenFile,
    *,
    index: str = "",
    is_ended: Callable[[], bool] = lambda: False,
) -> AnswerCheck:
    """Run all queries of a file; `index` is that of queries that name none. Ends early if `is_ended` says so.

    Raises `DefinitionError` with all queries that cannot be searched for, `IndexStoreError`.
    """
    fallen, mistakes, queries, pages = list[FallenPage](), list[Finding](), 0, 0
    with ExitStack() as stack:
        searchers = dict[tuple[str, tuple[str, ...]], Searcher]()
        for line, query in file.queries:
            if is_ended():
                break
            queries, pages = queries + 1, pages + len(query.pages)
            key = query.index or index, query.principals
            try:
                if key not in searchers:
                    opened = Searcher(project, key[0], principals=key[1])
                    searchers[key] = stack.enter_context(opened)
                fallen += _fallen(searchers[key], line, query)
            except UserError as error:
                mistakes.append(mistake_in(file, line, str(error)))
    if mistakes:
        raise DefinitionError(mistakes)
    return AnswerCheck(queries, pages, tuple(fallen))


def positions_of(searcher: Searcher, query: GoldenQuery) -> tuple[tuple[Hit, ...], list[int | None]]:
    """Return the hits of a query, and the position of each of its pages, from 1; None behind the hits."""
    hits = searcher.search(
        query.query, sources=query.source, groups=query.group, language=query.language or "", limit=SEEN
    ).hits
    return hits, [_position(page, hits) for page in query.pages]


def _fallen(searcher: Searcher, line: int, query: GoldenQuery) -> Iterator[FallenPage]:
    hits, positions = positions_of(searcher, query)
    for page, position in zip(query.pages, positions, strict=True):
        if position is not None and position <= query.within:
            continue
        before = hits[: min(_MOST_BEFORE, (position or query.within + 1) - 1)]
        yield FallenPage(
            line,
            query.query,
            page,
            query.within,
            position,
            position is not None or _is_indexed(searcher, page),
            tuple(HitBefore(number, hit.url, hit.title) for number, hit in enumerate(before, 1)),
        )


def _position(page: str, hits: Sequence[Hit]) -> int | None:
    wanted = _canonical(page)
    for number, hit in enumerate(hits, 1):
        if wanted in (_canonical(hit.url), _canonical(hit.section_url)):
            return number
    return None


def _is_indexed(searcher: Searcher, page: str) -> bool:
    """Return whether a source has a page."""
    sources = searcher.search(limit=0, count_sources=True).sources
    return any(_has(searcher, str(one.value), page.partition("#")[0]) for one in sources)


def _has(searcher: Searcher, source: str, url: str) -> bool:
    with suppress(UserError):  # spiders may have written to the index under names that no file defines
        return searcher.document(source, url) is not None
    return False


def _canonical(url: str) -> str:
    """Return a URL in the form in which it is compared; the fragment counts."""
    address, sign, fragment = url.partition("#")
    return f"{DEFAULT_POLICY.canonical(address) or address}{sign}{fragment}"
