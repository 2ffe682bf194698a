"""The `search` section of a project: synonyms, pinned URLs, display names, weights."""

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
    """URLs pinned to the top of the results of a query."""

    query: Annotated[
        str, Field(max_length=200), must_match(r"(?s).*\w.*", "has no word", "write what people type")
    ] = Field(examples=["vacation request"])
    """The query, compared without case and accents."""
    urls: UrlList = Field(min_length=1, max_length=20, examples=[["https://www.example.com/hr/vacation"]])
    """The display URLs, in the order of the results."""


Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]


class WeightsSection(Section):
    """Weights for ranking the best hits; 0 switches one off."""

    text: Weight = Field(default=1.0, examples=[1])
    """Weight of a word in the text."""
    title: Weight = Field(default=20.0, examples=[20])
    """Weight of a word in the title."""
    headings: Weight = Field(default=4.0, examples=[4])
    """Weight of a word in headings."""
    anchors: Weight = Field(default=4.0, examples=[4])
    """Weight of a word in anchor texts of links to the document."""
    section_anchors: Weight = Field(default=4.0, examples=[4])
    """Weight of a word in anchor texts of links to its parts."""
    address: Weight = Field(default=1.5, examples=[1.5])
    """Weight of a word in the path of the URL."""
    depth: Weight = Field(default=0.01, examples=[0.1])
    """The score is divided by 1 + this weight × the number of link steps from a start URL."""
    freshness: Weight = Field(default=0.0, examples=[0.5])
    """The score is multiplied by 1 + this weight for a document that has just changed, by 1 + half of it after a
    year."""


class SearchSection(Section):
    """How searches are answered. A change takes effect with the next search, without crawling or indexing again."""

    language: Annotated[
        str, must_match(r"|[A-Za-z]{2,3}([-_]\w+)?", "is no language", "write its code, as `en`")
    ] = Field(default="", examples=["en"])
    """Language of the user if neither the search nor the words of the query show it. Empty: the usual
    one of each source."""
    synonyms: SynonymPath | None = Field(default=None, examples=["config/synonyms.txt"])
    """A file of synonyms: `car, automobile` are mutual synonyms, `k8s => kubernetes` works one way."""
    source_synonyms: Mapping[str, SynonymPath] = Field(
        default={}, examples=[{"handbook": "config/handbook-synonyms.txt"}]
    )
    """Files of synonyms by source, for documents of that source only."""
    pins: tuple[Pin, ...] = Field(
        default=(),
        max_length=10_000,
        examples=[[{"query": "vacation request", "urls": ["https://www.example.com/hr/vacation"]}]],
    )
    """URLs pinned to the top for a query, if the user may see them."""
    attribute_names: Mapping[str, DisplayNames] = Field(
        default={}, examples=[{"Author": {"de": "Autor", "fr": "Auteur"}}]
    )
    """Display names of search attributes, by language."""
    group_names: Mapping[str, DisplayNames] = Field(
        default={}, examples=[{"handbooks": {"en": "Handbooks", "fr": "Manuels"}}]
    )
    """Display names of data groups, by language."""
    weights: WeightsSection = Field(
        default=WeightsSection.by_default(), examples=[{"title": 10, "freshness": 0.5}]
    )
    """Weights for ranking the best hits: words by position, depth, freshness."""
    fold_copies: bool = Field(default=True, examples=[False])
    """Show nearly equal copies of a page under several addresses of a source, such as `/en/` and `/current/`, as one
    hit."""

    def resolve_paths(self, base: Path) -> Self:
        """Return the section with absolute paths; relative ones are relative to `base`."""
        synonyms = None if self.synonyms is None else base / self.synonyms
        by_source = {name: base / path for name, path in self.source_synonyms.items()}
        return self.model_copy(update={"synonyms": synonyms, "source_synonyms": by_source})
