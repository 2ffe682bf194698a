"""Searching a project from Python: its index, its data groups, its search attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ultracrawl.errors import IndexDamagedError, UserError
from ultracrawl.index import Filter, Hit, SearchQuery, SearchResult
from ultracrawl.index.engines import open_index
from ultracrawl.index.filters import Operator, parse_filter
from ultracrawl.index.query.completion import Completion, completions
from ultracrawl.index.query.parser import search_with_relaxation
from ultracrawl.index.repair import mark_suspect
from ultracrawl.index.search_cache import find_searchable_project
from ultracrawl.index.searchable_project import SearchableProject
from ultracrawl.index.tuning import checked_boosts, read_tuning
from ultracrawl.rules.attributes.schema import (
    OTHER_FIELDS,
    AttributeType,
    ValueList,
    named,
    value_text,
    with_fields,
)

if TYPE_CHECKING:
    from ultracrawl.sources import Project

MOST_COMPLETING = 100
"""Documents among which titles are looked for that complete what was typed."""
_NOTHING = '""'
"""A query without a word, which finds what is pinned alone."""
MOST_FOLDED = 1000
"""Hits up to which one URL of several sources is folded to one."""


class Searcher:
    """Answers searches over the index of a project; may stay open while it is crawled.

    Every search looks at what was committed when it began. Not thread-safe. Use it as a context manager:

        with Searcher("ultracrawl.yaml") as searcher:
            result = searcher.search("create index", filters=["Size>=10"], facets=["Author"])
    """

    def __init__(
        self,
        where: str | Path | Project | SearchableProject | None = None,
        index: str = "",
        *,
        principals: Iterable[str] | None = (),
    ) -> None:
        """Open the index that a definition file, or a project, names, or one of several by its name.

        Without `where` the project is the one that `ultracrawl search` would take. `principals` are the users and
        groups that ask: found are documents for everybody, and those that one of them may see. None is the
        administrator, who sees all documents. Raises `UserError`.
        """
        names = (principals,) if isinstance(principals, str) else principals
        self._principals = None if names is None else tuple(names)
        self._project = project = _searched(where)
        config = project.config_of(index or project.main_index())
        self._index, self._path = open_index(config), config.path
        self._tuning = read_tuning(project.search)
        self._lists: Mapping[str, ValueList] | None = None

    @classmethod
    def open(
        cls, definitions: str | Path, index: str = "", *, principals: Iterable[str] | None = ()
    ) -> Searcher:
        """Do what the constructor does."""
        return cls(definitions, index, principals=principals)

    def search(
        self,
        text: str = "",
        *,
        sources: Iterable[str] = (),
        groups: Iterable[str] = (),
        filters: Iterable[str | Filter] = (),
        sort: str = "",
        limit: int = 10,
        offset: int = 0,
        facets: Iterable[str] = (),
        facet_limit: int = 10,
        like: str = "",
        language: str = "",
        boosts: Mapping[str, float] | None = None,
    ) -> SearchResult:
        """Return the documents that match the text and all filters, of these sources and groups only.

        Filters are `Filter`s or texts (`Author=Lee`, `Size>=10`, `Price=5..9`, `Author!=Lee`); several equal
        signs on one attribute mean any of the values. `boosts` are factors by URL, or by beginning of URLs with a
        trailing `*`, beside those of the definition. `SearchQuery` says what the other arguments mean. A URL that
        several of the sources have is one hit, the best of them. Where nothing is found, looser readings of the text
        are tried; `SearchResult.reading` says which one it was.
        Raises `UserError` for a mistake in the question, `IndexStoreError` if the index cannot be read.
        """
        query = SearchQuery(
            self.expanded(text), sort=sort, limit=limit, offset=offset, facets=tuple(facets), like=like,
            facet_limit=facet_limit, language=language,
            sources=self._sources(sources, groups), filters=tuple(_joined(filters)),
            boosts=(*self._project.boosts.items(), *checked_boosts(boosts or {})), principals=self._principals,
        )  # fmt: skip
        alone = len(query.sources or self._project.readable) < 2
        search = self._index.search
        if not alone and query.limit:
            search = partial(folded, search=search)
        attributes = self._project.schema
        result = self._answer(
            self._tuning.applied(query), lambda asked: search_with_relaxation(asked, attributes, search)
        )
        hits = tuple(
            replace(hit, attributes=with_fields(hit.attributes))
            if OTHER_FIELDS.name in hit.attributes
            else hit
            for hit in result.hits
        )
        return replace(result, hits=hits)

    def count(
        self,
        text: str = "",
        *,
        sources: Iterable[str] = (),
        groups: Iterable[str] = (),
        filters: Iterable[str | Filter] = (),
    ) -> int:
        """Return how many documents match; the arguments are those of `search`."""
        return self.search(text, sources=sources, groups=groups, filters=filters, limit=0).total

    def complete(
        self, text: str, *, limit: int = 8, sources: Iterable[str] = (), groups: Iterable[str] = ()
    ) -> list[Completion]:
        """Return what somebody who typed this may be going to ask: titles, and titles of parts, with these words.

        The last word may go on. Only documents that the asker may see count.
        """
        query = SearchQuery(
            text, sources=self._sources(sources, groups), limit=MOST_COMPLETING, completing=True,
            suggest=False, principals=self._principals,
        )  # fmt: skip
        return completions(text, self._answer(query, self._index.search).hits, limit)

    def document(self, source: str, url: str) -> Hit | None:
        """Return the document of a source with this URL, without a snippet; None if the asker may not see one.

        Raises `UserError` for an unknown source, `IndexStoreError` if the index cannot be read.
        """
        query = SearchQuery(
            _NOTHING, pinned=(url,), sources=self._sources([source], ()), limit=1, suggest=False,
            principals=self._principals,
        )  # fmt: skip
        found = self._answer(query, self._index.search).hits
        return next((replace(hit, attributes=with_fields(hit.attributes)) for hit in found), None)

    def expanded(self, text: str) -> str:
        """Return the query that stands for what a user typed: `text` itself, unless a subclass overrides this.

        Source: Ultra Search 16, the expansion of user text.
        """
        return text

    @property
    def attributes(self) -> dict[str, AttributeType]:
        """The search attributes by name, with their types."""
        return dict(self._project.attributes)

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The data groups by name, with their sources."""
        return self._project.groups

    @property
    def lists(self) -> Mapping[str, ValueList]:
        """The lists of values by search attribute, those of the definition and those that were loaded."""
        if self._lists is None:
            from ultracrawl.stores.opening import value_lists  # noqa: PLC0415 - slow, and few searches want them

            self._lists = value_lists(self._project.whole())
        return self._lists

    def display_name(self, attribute: str, value: object, language: str = "") -> str:
        """Return what a value of an attribute is called in a language; itself where no list names it."""
        known = self.lists.get(attribute)
        return value_text(value) if known is None else known.display_name(value, language)

    @property
    def attribute_names(self) -> Mapping[str, Mapping[str, str]]:
        """What search attributes are called, by language, of those that have such names."""
        return self._project.whole().search.attribute_names

    def attribute_name(self, attribute: str, language: str = "") -> str:
        """Return what a search attribute is called in a language; its own name where the definition has none."""
        return named(self.attribute_names, attribute, language)

    def group_name(self, group: str, language: str = "") -> str:
        """Return what a data group is called in a language; its own name where the definition has none."""
        return named(self._project.whole().search.group_names, group, language)

    def close(self) -> None:
        """Release the files of the index."""
        self._index.close()

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, query: SearchQuery, search: Callable[[SearchQuery], SearchResult]) -> SearchResult:
        """Return an answer of the index; damage that this shows is noted."""
        try:
            return search(query)
        except IndexDamagedError as error:
            mark_suspect(self._path, error.problem)
            raise

    def _sources(self, sources: Iterable[str], groups: Iterable[str]) -> tuple[str, ...]:
        """Return the sources named and those of the groups; empty means all."""
        chosen = list(sources)
        for name in chosen:
            _known("source", name, self._project.readable)
        for group in groups:
            _known("data group", group, self._project.groups)
            chosen += self._project.groups[group]
        return tuple(dict.fromkeys(chosen))


def folded(query: SearchQuery, search: Callable[[SearchQuery], SearchResult]) -> SearchResult:
    """Return the answer to a query in which each URL is one hit, its best; `search` answers by document.

    Copies are looked for from the first hit to the last that is shown, and are taken off the total as far as they were
    found. Beyond `MOST_FOLDED` hits documents are shown as they are.
    """
    wanted = query.offset + query.limit
    if wanted > MOST_FOLDED:
        return search(query)
    first = search(replace(query, offset=0, limit=wanted))
    best = {hit.url: hit for hit in reversed(first.hits)}
    hits, seen = [hit for hit in first.hits if best[hit.url] is hit], len(first.hits)
    while len(hits) < wanted and seen < first.total:
        further = search(replace(query, offset=seen, limit=wanted - len(hits), facets=())).hits
        if not further:
            break
        seen += len(further)
        for hit in further:
            if hit.url not in best:
                best[hit.url] = hit
                hits.append(hit)
    return replace(first, total=first.total - (seen - len(hits)), hits=tuple(hits[query.offset :]))


def _searched(where: str | Path | Project | SearchableProject | None) -> SearchableProject:
    if isinstance(where, SearchableProject):
        return where
    if where is None or isinstance(where, str | Path):
        return find_searchable_project(str(where) if where else None)[0]
    from ultracrawl.index.opening import searchable_project  # noqa: PLC0415 - it loads what reads definitions

    return searchable_project(where)


def _known(kind: str, name: str, names: Iterable[str]) -> None:
    """Raise `UserError` unless the name is one of these."""
    if name not in (known := sorted(names)):
        listed = ", ".join(known) or "none"
        raise UserError(f"no {kind} is named {name!r}; the {kind}s are: {listed}")


def _joined(filters: Iterable[str | Filter]) -> list[Filter]:
    """Read filters that are texts; equal signs on one attribute become one filter for any of the values."""
    found: list[Filter] = []
    any_of: dict[str, list[str]] = {}
    for given in filters:
        one = parse_filter(given) if isinstance(given, str) else given
        if isinstance(given, str) and one.operator is Operator.EQUAL:
            any_of.setdefault(one.attribute.casefold(), [one.attribute]).extend(one.values)
        else:
            found.append(one)
    return [*found, *(Filter(name, Operator.ANY_OF, tuple(values)) for name, *values in any_of.values())]
