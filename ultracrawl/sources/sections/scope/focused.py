"""The `focused` section of a source: crawling by language."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from ultracrawl.content.languages import CODES, UNKNOWN, languages_meant
from ultracrawl.sources.mistakes import closest_match, format_value, mistake
from ultracrawl.sources.sections.scope.boundary import HostPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import one_or_list


def _check_language(value: object) -> object:
    if isinstance(value, str) and languages_meant(value) is not None:
        return " ".join(value.lower().split())
    if value is False:  # YAML reads an unquoted `no` as a boolean
        raise mistake("`no` without quotes is a truth value in YAML", 'write `norwegian`, or "no" in quotes')
    otherwise = "write a code of ISO 639-1 as `en`, an English name, or `unknown`"
    near = closest_match(value, [*CODES, UNKNOWN], likeness=0.8)
    raise mistake(f"{format_value(value)} is no language", f"write `{near}`" if near else otherwise)


FocusLanguage = Annotated[str, BeforeValidator(_check_language)]


class FocusedSection(Section):
    """Crawling by language (FAST 5.18)."""

    languages: Annotated[tuple[FocusLanguage, ...], one_or_list(str)] = Field(
        default=(), examples=[["english", "de", "unknown"]]
    )
    """Languages of the documents to keep: ISO 639-1 codes, English names, and `unknown` for documents whose language
    cannot be determined. None: all are kept.
    """
    depth: int = Field(default=0, ge=0, examples=[2])
    """Maximum number of documents in other languages through which links are followed."""
    exempt: HostPatterns = Field(default=(), examples=[[".press.example.com"]])
    """Hosts whose documents are kept in any language."""
    detect: bool = Field(default=True, examples=[False])
    """Detect the language from the text (needs the extra `language`); use the declaration of page and header only if
    that fails. If off, use the declaration.
    """

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all languages to keep."""
        return frozenset(code for name in self.languages for code in languages_meant(name) or ())
