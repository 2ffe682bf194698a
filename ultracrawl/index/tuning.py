"""What a project's `search` section does to a query: pinned answers, synonyms, the language of who asks, weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.index.engine import RankingWeights, SearchQuery
from ultracrawl.index.query.synonyms import Synonyms, synonym_table
from ultracrawl.index.searchable_project import SearchOptions
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.stopwords import query_languages
from ultracrawl.rules.attributes.boosts import MOST_BOOST


@dataclass(frozen=True, slots=True)
class SearchTuning:
    """A `search` section as queries need it."""

    language: str = ""
    synonyms: Synonyms = field(default_factory=dict)
    pins: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """URLs by the folded words of the query for which they come first."""
    weights: RankingWeights = field(default_factory=RankingWeights)

    def applied(self, query: SearchQuery) -> SearchQuery:
        """Return the query with all that the section says about it.

        Sorted by an attribute, no URL is pinned. The language is the one named, else the one that the words of the
        query tell, else that of the section.
        """
        asked = tuple(words(query.text)) if self.pins or self.language else ()
        pinned = () if query.sort else self.pins.get(asked, ())
        language = query.language
        if not language and self.language and len(query_languages(query.text, asked)) != 1:
            language = self.language
        return replace(query, synonyms=self.synonyms, pinned=pinned, language=language, weights=self.weights)


def read_tuning(options: SearchOptions) -> SearchTuning:
    """Return what they say, its files read. Raises `DefinitionError` if a file has mistakes."""
    pins: dict[tuple[str, ...], tuple[str, ...]] = {}
    for query, urls in options.pins:
        asked = tuple(words(query))
        pins[asked] = tuple(dict.fromkeys((*pins.get(asked, ()), *urls)))
    return SearchTuning(options.language, synonym_table(_said(options.synonyms)), pins, options.weights)


def checked_boosts(boosts: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Return factors by URL as a query has them. Raises `UserError` for one that is none."""
    for mask, factor in boosts.items():
        if not (math.isfinite(factor) and 0 <= factor <= MOST_BOOST):
            raise UserError(
                f"the factor {factor:g} of {mask} does not lie between 0 and {MOST_BOOST:g}, as 2 and 0.5 do"
            )
    return tuple(boosts.items())


def _said(files: Mapping[str, Path]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for source, path in files.items():
        from ultracrawl.sources.reading.synonym_file import read_synonyms  # noqa: PLC0415 - most have no such files

        for synonym in read_synonyms(path):
            yield source, synonym.sought, synonym.others
