"""Search results as JSON: the format of `ultracrawl search --json`, of the API and of remote searches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import unescape
from types import MappingProxyType
from typing import Any, Protocol

from ultracrawl.index.budget import SearchLimit
from ultracrawl.index.engine import (
    Completion,
    FacetValue,
    Hit,
    MatchingSection,
    QueryFlaw,
    Reading,
    SearchResult,
)
from ultracrawl.index.hits.highlighting import END_MARK, START_MARK, as_html
from ultracrawl.model.page import Section
from ultracrawl.rules.attributes.schema import ListedValue, ValueList, named, value_text
from ultracrawl.rules.urls.shown import harmless


def completions_json(query: str, found: Iterable[Completion]) -> dict[str, object]:
    """Return completions in the format of `search --complete --json`."""
    return {"query": query, "completions": [one._asdict() for one in found]}


def answer_json(
    query: str, result: SearchResult, took: float, names: DisplayNames, codes: Mapping[str, int]
) -> dict[str, object]:
    """Return a search result in the format of `search --json`.

    `took` is in milliseconds; `codes` maps kinds of sources to their numbers.
    """
    return {
        "query": query,
        "total": result.total,
        "took_ms": round(took, 1),
        "hits": [hit_json(hit, codes) | names.of_hit(hit) for hit in result.hits],
        "facets": {
            name: [
                {"value": one.value, "count": one.count, **names.of_facet(name, one.value)} for one in values
            ]
            for name, values in result.facets.items()
        },
        "sources": [{"value": one.value, "count": one.count} for one in result.sources],
        "groups": [
            {"value": one.value, "count": one.count, **names.of_group(str(one.value))}
            for one in result.groups
        ],
        "suggestion": result.suggestion,
        "corrected": result.corrected,
        "unknown_words": list(result.unknown_words),
        "reading": result.reading.value,
        "exceeded": [limit.value for limit in result.exceeded],
        "unknown_attributes": list(result.unknown_attributes),
        "known_attributes": list(result.known_attributes),
        "flaws": [flaw.value for flaw in result.flaws],
        **names.of_attributes(),
    }


def hit_json(hit: Hit, codes: Mapping[str, int]) -> dict[str, object]:
    """Return a hit, without display names, in the format of `search --json`."""
    return {
        "url": hit.url,
        "title": hit.title,
        "score": round(hit.score, 4),
        "source": hit.source,
        **_snippet_json(hit.snippet),
        "attributes": {name: [str(value) if not isinstance(value, float) else value for value in values]
                       for name, values in hit.attributes.items()},
        "section": None if hit.section is None else {
            "title": hit.section.title, "anchor": hit.section.anchor, "url": hit.section_url,
        },
        "sections": [
            {
                "title": one.section.title, "anchor": one.section.anchor, "url": one.url,
                **_snippet_json(one.snippet),
            }
            for one in hit.sections
        ],
        "also_at": list(hit.also_at),
        "kind": codes.get(hit.source, 0),
    }  # fmt: skip


def _snippet_json(marked: str) -> dict[str, object]:
    """Return a snippet as text and as HTML."""
    return {
        "snippet": marked.replace(START_MARK, "**").replace(END_MARK, "**"),
        "snippet_html": as_html(marked),
    }


def result_from_json(answer: Mapping[str, Any]) -> SearchResult:
    """Parse a search result from the format of `search --json`."""
    facets = {name: _counts_from_json(values) for name, values in answer["facets"].items()}
    sources, groups = (_counts_from_json(answer.get(name, ())) for name in ("sources", "groups"))
    hits = tuple(map(_hit_from_json, answer["hits"]))
    exceeded = tuple(map(SearchLimit, answer.get("exceeded", ())))
    return SearchResult(
        answer["total"],
        hits,
        facets,
        answer["suggestion"],
        tuple(answer.get("unknown_words", ())),
        Reading(answer["reading"]),
        exceeded,
        sources,
        groups,
        tuple(answer.get("unknown_attributes", ())),
        tuple(answer.get("known_attributes", ())),
        tuple(map(QueryFlaw, answer.get("flaws", ()))),
        bool(answer.get("corrected", False)),
    )


def completions_from_json(answer: Mapping[str, Any]) -> list[Completion]:
    """Parse completions from the format of `search --complete --json`."""
    return [Completion(**one) for one in answer["completions"]]


def _counts_from_json(values: Iterable[Mapping[str, Any]]) -> tuple[FacetValue, ...]:
    return tuple(FacetValue(one["value"], one["count"]) for one in values)


def _marked_from_json(shown: Mapping[str, Any]) -> str:
    """Return the snippet of a hit, or of one of its sections, with its marks."""
    return unescape(shown["snippet_html"].replace("<mark>", START_MARK).replace("</mark>", END_MARK))


def _section_from_json(part: Mapping[str, Any]) -> Section:
    return Section(0, 1, part["anchor"], part["title"])


def _hit_from_json(hit: Mapping[str, Any]) -> Hit:
    section = None if hit["section"] is None else _section_from_json(hit["section"])
    sections = tuple(
        MatchingSection(_section_from_json(one), harmless(one["url"]), _marked_from_json(one))
        for one in hit.get("sections", ())
    )
    return Hit(
        harmless(hit["url"]),
        hit["title"],
        hit["score"],
        hit["source"],
        _marked_from_json(hit),
        hit["attributes"],
        section,
        sections,
        tuple(map(harmless, hit.get("also_at", ()))),
    )


class KnowsNames(Protocol):
    """What knows display names: a `Searcher`."""

    @property
    def lists(self) -> Mapping[str, ValueList]:
        """The lists of values by search attribute."""

    @property
    def attribute_names(self) -> Mapping[str, Mapping[str, str]]:
        """The display names of search attributes by language."""

    @property
    def group_names(self) -> Mapping[str, Mapping[str, str]]:
        """The display names of data groups by language."""


class DisplayNames:
    """Display names of attributes and of their listed values in one language; empty without a language."""

    def __init__(
        self,
        language: str = "",
        lists: Mapping[str, ValueList] = MappingProxyType({}),
        attribute_names: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        group_names: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    ) -> None:
        """Take the lists of values by attribute, and the names of search attributes and data groups by language."""
        self._language = language
        self._lists = lists
        self._attribute_names = attribute_names
        self._group_names = group_names

    @classmethod
    def of_searcher(cls, searcher: KnowsNames, language: str) -> DisplayNames:
        """Return the display names that a searcher knows."""
        if not language:
            return cls()
        return cls(language, searcher.lists, searcher.attribute_names, searcher.group_names)

    @classmethod
    def of_answer(cls, answer: Mapping[str, Any]) -> DisplayNames:
        """Return the display names of attributes and facets in a result in the format of `search --json`."""
        lists = {
            name: ValueList(
                name,
                tuple(ListedValue(value_text(one["value"]), {"": one["display_name"]}) for one in values),
            )
            for name, values in answer["facets"].items()
            if all("display_name" in one for one in values)
        }
        names = {name: {"": called} for name, called in answer.get("attribute_names", {}).items()}
        return cls("", lists, names)

    def of_attribute(self, attribute: str) -> str:
        """Return the display name of a search attribute."""
        return named(self._attribute_names, attribute, self._language)

    def of_attributes(self) -> dict[str, object]:
        """Return the display names of attributes in the format of `search --json`."""
        found = {name: self.of_attribute(name) for name in self._attribute_names}
        return {"attribute_names": found} if self._language else {}

    def of(self, attribute: str, value: object) -> str | None:
        """Return the display name of a value, None if its attribute has no list of values."""
        known = self._lists.get(attribute)
        return None if known is None else known.display_name(value, self._language)

    def of_hit(self, hit: Hit) -> dict[str, object]:
        """Return the display names of a hit's values in the format of `search --json`."""
        if not self._language:
            return {}
        named = {
            name: [self.of(name, value) for value in values]
            for name, values in hit.attributes.items()
            if name in self._lists
        }
        return {"display_names": named}

    def of_group(self, group: str) -> dict[str, object]:
        """Return the display name of a data group in the format of `search --json`."""
        return {"display_name": named(self._group_names, group, self._language)} if self._language else {}

    def of_facet(self, attribute: str, value: str | float) -> dict[str, object]:
        """Return the display name of a facet value in the format of `search --json`."""
        name = self.of(attribute, value)
        return {} if name is None else {"display_name": name}
