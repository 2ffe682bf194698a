"""The `focused` section of a source: the languages of the documents that are kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from ultracrawl.content.languages import CODES, UNKNOWN, languages_meant
from ultracrawl.sources.mistakes import format_value, mistake, suggestion
from ultracrawl.sources.sections.scope.boundary import HostPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import one_or_list


def _check_language(value: object) -> object:
    if isinstance(value, str) and languages_meant(value) is not None:
        return " ".join(value.lower().split())
    if value is False:  # what YAML makes of a bare `no`
        raise mistake("`no` without quotes is a truth value in YAML", 'write `norwegian`, or "no" in quotes')
    otherwise = "write a code of ISO 639-1 as `en`, an English name, or `unknown`"
    raise mistake(f"{format_value(value)} is no language", suggestion(value, [*CODES, UNKNOWN], otherwise))


FocusLanguage = Annotated[str, BeforeValidator(_check_language)]


class FocusedSection(Section):
    """Crawling by language (FAST 5.18)."""

    languages: Annotated[tuple[FocusLanguage, ...], one_or_list(str)] = Field(
        default=(), examples=[["english", "de", "unknown"]]
    )
    """Languages of the documents that are kept: codes of ISO 639-1, English names, and `unknown` for documents
    whose language cannot be told. Without any, all are kept.
    """
    depth: int = Field(default=0, ge=0, examples=[2])
    """Hops that links are followed through documents in other languages."""
    exempt: HostPatterns = Field(default=(), examples=[[".press.example.com"]])
    """Hosts whose documents are kept whatever their language."""
    detect: bool = Field(default=True, examples=[False])
    """Tell the language from the text (needs the extra `language`), and by what page and header declare only
    where that fails; if not, go by what they declare.
    """

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all languages that are kept."""
        return frozenset(code for name in self.languages for code in languages_meant(name) or ())
