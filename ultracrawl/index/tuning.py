"""Applies the `search` section of a project to queries: pinned URLs, synonyms, language, weights, copies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from ultracrawl import sources
from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.errors import UserError
from ultracrawl.index.engine import RankingWeights, SearchQuery
from ultracrawl.index.query.synonyms import Synonyms, synonym_table
from ultracrawl.index.searchable_project import SearchOptions
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.stopwords import query_languages
from ultracrawl.rules.attributes.boosts import MOST_BOOST


@dataclass(frozen=True, slots=True)
class SearchTuning:
    """The options of a `search` section in the form that queries need."""

    language: str = ""
    synonyms: Synonyms = field(default_factory=dict)
    pins: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """Pinned URLs by the folded words of their query."""
    weights: RankingWeights = field(default_factory=RankingWeights)
    fold_copies: bool = True

    def apply_to(self, query: SearchQuery) -> SearchQuery:
        """Return the query with the options of the section.

        Queries sorted by an attribute have no pinned URLs. The language is that of the query, else the one that its
        words imply, else that of the section.
        """
        asked = tuple(words(query.text)) if self.pins or self.language else ()
        pinned = () if query.sort else self.pins.get(asked, ())
        language = query.language
        if not language and self.language and len(query_languages(query.text, asked)) != 1:
            language = self.language
        return replace(
            query, synonyms=self.synonyms, pinned=pinned, language=language, weights=self.weights,
            fold_copies=self.fold_copies,
        )  # fmt: skip


def read_tuning(options: SearchOptions) -> SearchTuning:
    """Return the options with their synonym files read. Raises `DefinitionError` for mistakes in a file."""
    pins: dict[tuple[str, ...], tuple[str, ...]] = {}
    for query, urls in options.pins:
        asked = tuple(words(query))
        pins[asked] = tuple(dict.fromkeys((*pins.get(asked, ()), *urls)))
    synonyms = synonym_table(_read_synonym_files(options.synonyms))
    return SearchTuning(options.language, synonyms, pins, options.weights, options.fold_copies)


def checked_boosts(boosts: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Return the boost factors as a query takes them. Raises `UserError` for an invalid factor."""
    for mask, factor in boosts.items():
        if not (math.isfinite(factor) and 0 <= factor <= MOST_BOOST):
            raise UserError(f"the factor {factor:g} of {mask} is not a number between 0 and {MOST_BOOST:g}")
    return tuple(boosts.items())


def _read_synonym_files(files: Mapping[str, Path]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for source, path in files.items():
        for synonym in sources.read_synonyms(path):
            yield source, synonym.sought, synonym.others
