"""`Searcher`: the Python API to search the index of a project."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import copy
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from ultracrawl import stores
from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import IndexDamagedError, UserError
from ultracrawl.index import Filter, Hit, SearchBudget, SearchQuery, SearchResult
from ultracrawl.index.engine import NO_WORDS, Completion, HasCommits
from ultracrawl.index.engines import open_index
from ultracrawl.index.filters import Operator, parse_filter
from ultracrawl.index.hits.document_cache import DOCUMENT_CACHE_BYTES, DocumentCache
from ultracrawl.index.query.completion import completions
from ultracrawl.index.query.facets import group_counts
from ultracrawl.index.query.languages import UsualLanguages
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

T = TypeVar("T")

COMPLETION_CANDIDATES = 100
"""Documents whose titles are considered as completions."""
_NO_SOURCE = "-"
"""A name that no source can have."""
DEDUPLICATION_LIMIT = 1000
"""Hits up to which duplicate URLs of several sources are removed."""


@dataclass(frozen=True, slots=True)
class HeldSources:
    """The sources whose documents an index has."""

    searched: frozenset[str]
    """Those that searches find."""
    excluded: tuple[str, ...]
    """Those that searches leave out: the project defines them no longer, or the searcher is limited to others."""

    @classmethod
    def of(cls, held: tuple[str, ...], project: SearchableProject) -> Self:
        """Return the sources of an index that a project searches."""
        excluded = project.outside(held) if project.is_limited else project.left_over(held)
        return cls(frozenset(held).difference(excluded), excluded)

    def are_several(self, chosen: tuple[str, ...]) -> bool:
        """Return whether a search of the chosen sources (none: of all) finds documents of more than one."""
        return len(self.searched.intersection(chosen) if chosen else self.searched) > 1


class Searcher:
    """Searches the index of a project, also while it is crawled.

    Each search sees what was committed when it began. Not thread-safe. Use it as a context manager:

        with Searcher("ultracrawl.yaml") as searcher:
            result = searcher.search("create index", filters=["Size>=10"], facets=["Author"])
    """

    def __init__(
        self,
        where: str | Path | Project | SearchableProject | None = None,
        index: str = "",
        *,
        principals: Iterable[str] | None = (),
        within: Iterable[str] | None = None,
        document_cache: int = DOCUMENT_CACHE_BYTES,
    ) -> None:
        """Open the index of a definition file or project; `index` names one of several.

        Without `where` the project is the one that `ultracrawl search` would use. `principals` are the users and groups
        of the searcher: only documents that are public or visible to one of them are returned. None is the
        administrator, who sees all documents. `within` are the only sources that exist for this searcher: nothing of
        others is in its hits, counts, suggestions, groups or messages; None: all. Decoded documents and scores of words
        are kept for later searches, up to `document_cache` bytes (0: none). Raises `UserError`.
        """
        self._principals = _names_of(principals)
        found = _searchable_project_of(where)
        self._project = project = found if within is None else found.limited_to(within)
        self.index = index or project.main_index()
        """The name of the index."""
        config = project.config_of(self.index)
        self._index, self._path = open_index(config), config.path
        self._documents = DocumentCache(document_cache) if document_cache else None
        self._tuning = read_tuning(project.search)
        self._languages = UsualLanguages(self._index, found.starts)
        self._find_lists = cache(partial(_value_lists, project))

    @classmethod
    def open(
        cls, definitions: str | Path, index: str = "", *, principals: Iterable[str] | None = ()
    ) -> Searcher:
        """Return a searcher; the same as the constructor."""
        return cls(definitions, index, principals=principals)

    def seen_by(self, principals: Iterable[str] | None, within: Iterable[str] | None = None) -> Self:
        """Return a searcher of the same open index for others, as `principals` and `within` of the constructor.

        Closing one closes both.
        """
        other = copy(self)
        other._principals = _names_of(principals)
        if within is not None:
            other._project = self._project.limited_to(within)
        return other

    def commit_id(self) -> Hashable | None:
        """Return a value that changes with each commit of the index; None if its engine does not name its commits.

        Raises `IndexStoreError`.
        """
        return self._checked(self._index.commit_id) if isinstance(self._index, HasCommits) else None

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
        disjunctive_facets: bool = False,
        count_sources: bool = False,
        sections: int = 0,
        like: str = "",
        language: str = "",
        boosts: Mapping[str, float] | None = None,
        as_typed: bool = False,
    ) -> SearchResult:
        """Return the documents of these sources and groups that match the text and all filters.

        Filters are `Filter`s or texts (`Author=Lee`, `Size>=10`, `Price=5..9`, `Author!=Lee`); several equal signs on
        one attribute mean any of the values. `boosts` are factors by URL, or by URL prefix with a trailing `*`, in
        addition to those of the definition. The other arguments are described in `SearchQuery`. A URL that several of
        the sources have is one hit, the best of them. If nothing is found, looser readings of the text are tried;
        `SearchResult.reading` is the one that was used. Misspelt words are corrected if that finds at least as much
        (`SearchResult.corrected`), unless the text is to be searched `as_typed`. Raises `UserError` for an invalid
        query, `IndexStoreError` if the index cannot be read.
        """
        held, budget = self._held(), SearchBudget()
        query = SearchQuery(
            self.expanded(text), budget=budget, sort=sort, limit=limit, offset=offset, facets=tuple(facets), like=like,
            facet_limit=facet_limit, disjunctive_facets=disjunctive_facets, count_sources=count_sources,
            sections=sections, language=language, as_typed=as_typed,
            sources=_chosen_sources(self._project, sources, groups), filters=tuple(_parsed_filters(filters)),
            boosts=(*self._project.boosts.items(), *checked_boosts(boosts or {})), principals=self._principals,
            excluded_sources=held.excluded, derived_readers=self._project.derived_readers, documents=self._documents,
        )  # fmt: skip
        search = self._index.search
        if query.limit and held.are_several(query.sources):
            search = partial(without_duplicate_urls, search=search)
        tuned = self._tuning.apply_to(query)
        result = self._checked(
            lambda: search_with_relaxation(
                self._languages.applied_to(tuned, held.searched), self._project.schema, search
            )
        )
        return replace(self._completed(result), exceeded=tuple(budget.exceeded))

    def count(
        self,
        text: str = "",
        *,
        sources: Iterable[str] = (),
        groups: Iterable[str] = (),
        filters: Iterable[str | Filter] = (),
    ) -> int:
        """Return the number of matching documents; the arguments are those of `search`."""
        return self.search(text, sources=sources, groups=groups, filters=filters, limit=0).total

    def complete(
        self, text: str, *, limit: int = 8, sources: Iterable[str] = (), groups: Iterable[str] = ()
    ) -> list[Completion]:
        """Return completions of a partially typed query: names, and titles of documents and sections.

        They contain these words; the last one is a prefix. Only documents that are visible to the principals count.
        """
        query = SearchQuery(
            text, sources=_chosen_sources(self._project, sources, groups), limit=COMPLETION_CANDIDATES, completing=True,
            suggest=False, principals=self._principals, excluded_sources=self._held().excluded,
            derived_readers=self._project.derived_readers, documents=self._documents,
        )  # fmt: skip
        return completions(text, self._checked(lambda: self._index.search(query)), limit)

    def document(self, source: str, url: str) -> Hit | None:
        """Return the document of a source with this URL, with all sections and no snippet; None without one to see.

        Raises `UserError` for an unknown source, `IndexStoreError` if the index cannot be read.
        """
        query = SearchQuery(
            NO_WORDS, pinned=(url,), sources=_chosen_sources(self._project, [source], ()), limit=1, suggest=False,
            principals=self._principals, derived_readers=self._project.derived_readers, outline=True,
        )  # fmt: skip
        found = self._checked(lambda: self._index.search(query)).hits
        return next((replace(hit, attributes=with_fields(hit.attributes)) for hit in found), None)

    def expanded(self, text: str) -> str:
        """Return the query for what a user typed: `text` itself; subclasses may override this.

        Source: Ultra Search 16, the expansion of user text.
        """
        return text

    @property
    def attributes(self) -> dict[str, AttributeType]:
        """The types of the search attributes by name."""
        return dict(self._project.attributes)

    @property
    def groups(self) -> Mapping[str, tuple[str, ...]]:
        """The sources of each data group, by its name."""
        return self._project.groups

    @property
    def lists(self) -> Mapping[str, ValueList]:
        """The lists of values (LOV) by search attribute, from the definition and those that were loaded."""
        return self._find_lists()

    def display_name(self, attribute: str, value: object, language: str = "") -> str:
        """Return the display name of a value in a language; the value itself if no list has one."""
        known = self.lists.get(attribute)
        return value_text(value) if known is None else known.display_name(value, language)

    @property
    def attribute_names(self) -> Mapping[str, Mapping[str, str]]:
        """The display names of search attributes by language, of the attributes that have any."""
        return self._project.load_project().search.attribute_names

    def attribute_name(self, attribute: str, language: str = "") -> str:
        """Return the display name of a search attribute in a language; its own name if the definition has none."""
        return named(self.attribute_names, attribute, language)

    @property
    def group_names(self) -> Mapping[str, Mapping[str, str]]:
        """The display names of data groups by language, of the groups that have any."""
        return self._project.load_project().search.group_names

    def group_name(self, group: str, language: str = "") -> str:
        """Return the display name of a data group in a language; its own name if the definition has none."""
        return named(self.group_names, group, language)

    def close(self) -> None:
        """Close the files of the index."""
        self._index.close()

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _completed(self, result: SearchResult) -> SearchResult:
        """Return the result of the index with the description fields of its hits, and with counts by group."""
        hits = tuple(
            replace(hit, attributes=with_fields(hit.attributes))
            if OTHER_FIELDS.name in hit.attributes
            else hit
            for hit in result.hits
        )
        sources = result.sources
        if self._project.is_limited:
            sources = tuple(one for one in sources if one.value in self._project.readable)
        return replace(result, hits=hits, sources=sources, groups=group_counts(sources, self.groups))

    def _held(self) -> HeldSources:
        """Return whose documents the index has. Raises `IndexStoreError`."""
        return HeldSources.of(self._checked(self._index.sources), self._project)

    def _checked(self, read: Callable[[], T]) -> T:
        """Return what is read from the index; mark the index as suspect if that finds damage."""
        try:
            return read()
        except IndexDamagedError as error:
            mark_suspect(self._path, error.problem)
            raise


def without_duplicate_urls(query: SearchQuery, search: Callable[[SearchQuery], SearchResult]) -> SearchResult:
    """Return the result of a query with one hit for each URL, the best one; `search` returns one hit for each document.

    Duplicates are removed between the first hit and the last one shown, and those found are subtracted from the total.
    Beyond `DEDUPLICATION_LIMIT` hits nothing is removed.
    """
    wanted = query.offset + query.limit
    if wanted > DEDUPLICATION_LIMIT:
        return search(query)
    first = search(replace(query, offset=0, limit=wanted))
    best = {hit.url: hit for hit in reversed(first.hits)}
    hits, seen = [hit for hit in first.hits if best[hit.url] is hit], len(first.hits)
    while len(hits) < wanted and seen < first.total:
        following = replace(query, offset=seen, limit=wanted - len(hits), facets=(), count_sources=False)
        further = search(following).hits
        if not further:
            break
        seen += len(further)
        for hit in further:
            if hit.url not in best:
                best[hit.url] = hit
                hits.append(hit)
    return replace(first, total=first.total - (seen - len(hits)), hits=tuple(hits[query.offset :]))


def _searchable_project_of(where: str | Path | Project | SearchableProject | None) -> SearchableProject:
    if isinstance(where, SearchableProject):
        return where
    if where is None or isinstance(where, str | Path):
        return find_searchable_project(str(where) if where else None)[0]
    from ultracrawl.index.project_index import searchable_project  # noqa: PLC0415 - it loads the definition parsers

    return searchable_project(where)


def _names_of(principals: Iterable[str] | None) -> tuple[str, ...] | None:
    names = (principals,) if isinstance(principals, str) else principals
    return None if names is None else tuple(names)


def _value_lists(project: SearchableProject) -> Mapping[str, ValueList]:
    return stores.value_lists(project.load_project())


def _chosen_sources(
    project: SearchableProject, sources: Iterable[str], groups: Iterable[str]
) -> tuple[str, ...]:
    """Return the given sources and those of the groups; empty means all."""
    chosen = list(sources)
    for name in chosen:
        _check_name("source", name, project.readable)
    for group in groups:
        _check_name("data group", group, project.groups)
        chosen += project.groups[group]
    if not chosen and project.is_limited:
        # Named one by one, so that a source that another process adds in this moment stays outside as well.
        chosen = list(project.readable) or [_NO_SOURCE]
    return tuple(dict.fromkeys(chosen))


def _check_name(kind: str, name: str, names: Iterable[str]) -> None:
    """Raise `UserError` unless the name is one of these."""
    if name not in (known := sorted(names)):
        listed = ", ".join(known) or "none"
        raise UserError(f"no {kind} is named {name!r}; the {kind}s are: {listed}")


def _parsed_filters(filters: Iterable[str | Filter]) -> list[Filter]:
    """Parse filters given as texts; equal signs on one attribute become one `ANY_OF` filter."""
    others: list[Filter] = []
    any_of: dict[str, list[str]] = {}
    for given in filters:
        parsed = parse_filter(given) if isinstance(given, str) else given
        if isinstance(given, str) and parsed.operator is Operator.EQUAL:
            any_of.setdefault(parsed.attribute.casefold(), [parsed.attribute]).extend(parsed.values)
        else:
            others.append(parsed)
    return [*others, *(Filter(name, Operator.ANY_OF, tuple(values)) for name, *values in any_of.values())]
