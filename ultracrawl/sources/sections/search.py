"""The `search` section of a definition file: what people call things, and what comes first for a query."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, ValidationInfo

from ultracrawl.sources.mistakes import must_match
from ultracrawl.sources.reading.rule_files import RuleFiles
from ultracrawl.sources.sections.documents.lists import DisplayNames
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import UrlList


def _check_synonyms(path: Path, info: ValidationInfo) -> Path:
    if isinstance(info.context, RuleFiles):
        info.context.check_synonyms(str(path))
    return path


SynonymPath = Annotated[Path, AfterValidator(_check_synonyms)]


class Pin(Section):
    """URLs that come first for a query."""

    query: Annotated[
        str, Field(max_length=200), must_match(r"(?s).*\w.*", "has no word", "write what people type")
    ] = Field(examples=["vacation request"])
    """What people type, in any case of letters, with accents or without."""
    urls: UrlList = Field(min_length=1, max_length=20, examples=[["https://www.example.com/hr/vacation"]])
    """The URLs as results show them, the first one first."""


Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


class WeightsSection(Section):
    """What raises a document among the best ones; 0 is without effect."""

    text: Weight = Field(default=1.0, examples=[1])
    """What a word counts in the text."""
    title: Weight = Field(default=20.0, examples=[20])
    """What it counts in the title."""
    headings: Weight = Field(default=4.0, examples=[4])
    """What it counts in the titles of parts."""
    anchors: Weight = Field(default=4.0, examples=[4])
    """What it counts in what links to the document are called."""
    section_anchors: Weight = Field(default=4.0, examples=[4])
    """What it counts in what links to its parts are called."""
    address: Weight = Field(default=1.5, examples=[1.5])
    """What it counts in the path of the URL."""
    depth: Weight = Field(default=0.01, examples=[0.1])
    """The score is divided by 1 plus this for each link from a start URL."""
    freshness: Weight = Field(default=0.0, examples=[0.5])
    """The score is multiplied by 1 plus this for what has just changed, by 1 plus half of it after a year."""


class SearchSection(Section):
    """How searches are answered; a change holds from the next search on, and nothing is crawled or indexed anew."""

    language: Annotated[
        str, must_match(r"|[A-Za-z]{2,3}([-_]\w+)?", "is no language", "write its code, as `en`")
    ] = Field(default="", examples=["en"])
    """The language of who asks, where neither the search nor the words of its query tell. Empty: none is preferred."""
    synonyms: SynonymPath | None = Field(default=None, examples=["config/synonyms.txt"])
    """A file of synonyms: `car, automobile` in a line stand for each other, `k8s => kubernetes` one way."""
    source_synonyms: Mapping[str, SynonymPath] = Field(
        default={}, examples=[{"handbook": "config/handbook-synonyms.txt"}]
    )
    """Files of synonyms by source, that hold in documents of that source alone."""
    pins: tuple[Pin, ...] = Field(
        default=(),
        max_length=10_000,
        examples=[[{"query": "vacation request", "urls": ["https://www.example.com/hr/vacation"]}]],
    )
    """URLs that come first for a query, if who asks may see them."""
    attribute_names: Mapping[str, DisplayNames] = Field(
        default={}, examples=[{"Author": {"de": "Autor", "fr": "Auteur"}}]
    )
    """What search attributes are called, by language."""
    group_names: Mapping[str, DisplayNames] = Field(
        default={}, examples=[{"handbooks": {"en": "Handbooks", "fr": "Manuels"}}]
    )
    """What data groups are called, by language."""
    weights: WeightsSection = Field(
        default=WeightsSection.by_default(), examples=[{"title": 10, "freshness": 0.5}]
    )
    """What words count where they stand, and what else raises a document among the best ones."""

    def below(self, base: Path) -> Self:
        """Return the section with its files below `base`, if their paths are relative."""
        synonyms = None if self.synonyms is None else base / self.synonyms
        by_source = {name: base / path for name, path in self.source_synonyms.items()}
        return self.model_copy(update={"synonyms": synonyms, "source_synonyms": by_source})
