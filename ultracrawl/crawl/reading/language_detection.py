"""Tells the language of documents in a crawl: what they declare, else what their text shows (Ultra Search 3, 5.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Protocol

from ultracrawl.content.languages import language_code
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.errors import MissingExtraError

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.model import Page
    from ultracrawl.sources import DataSource

SAMPLE = 4000
"""Characters of a text that are looked at: more make no difference."""
SURE = 0.5
"""A language that is less probable than this is not taken for told."""

Detector = Callable[[str], str]
"""From a text to the code of its language, empty if it cannot be told."""


class DocumentLanguages:
    """Gives documents their language: by their own word, else the header Content-Language, else by `detect`."""

    def __init__(self, detect: Detector | None) -> None:
        self._detect = detect

    def of(self, page: Page, response: Response) -> str:
        """Return the language of a document, as it is declared or as a code; empty if nothing tells it."""
        if language_code(page.language):
            return page.language
        header = header_of(response, "Content-Language").partition(",")[0].strip()
        if language_code(header):
            return header
        return self._detect(page.text[:SAMPLE]) if self._detect and page.text else ""


def languages_of(source: DataSource) -> DocumentLanguages:
    """Return what tells the languages of the documents of a source. Raises `MissingExtraError`."""
    return DocumentLanguages(open_detector("`detect_language`") if source.detect_language else None)


def open_detector(option: str) -> Detector:
    """Return what an option needs to tell languages. Raises `MissingExtraError` without the extra."""
    try:
        identifier = _model()
    except ImportError as error:
        raise MissingExtraError(f"telling languages by the text ({option})", "language") from error

    def detect(text: str) -> str:
        return language_code(identifier.classify(text)[0])

    return detect


class _Identifier(Protocol):
    def classify(self, text: str) -> tuple[str, float]: ...


@cache
def _model() -> _Identifier:
    """Load the model of py3langid, once: half a second, 60 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415 - an extra, and slow to load

    identifier: _Identifier = LanguageIdentifier.from_model_file(
        MODEL_FILE, norm_probs=True, min_confidence=SURE
    )
    return identifier
