"""Tells the language of documents in a crawl: what they declare, and what their text shows (Ultra Search 3, 5.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Protocol

from ultracrawl.content.languages import language_code, same_language
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.errors import MissingExtraError

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.model import Page
    from ultracrawl.sources import DataSource
    from ultracrawl.sources.sections.documents.languages import Trust

SAMPLE = 4000
"""Characters of a text that are looked at: more make no difference."""
SURE = 0.5
"""A language that is less probable than this is not taken for told."""
CLEAR = 0.99
"""What is as probable as this refutes a declaration that is believed otherwise."""
CLEAR_FROM = 200
"""Characters of a text that can refute it."""

Detector = Callable[[str], tuple[str, float]]
"""From a text to the code of its language, empty if it cannot be told, and how probable it is."""


class DocumentLanguages:
    """Gives documents their language: by their own word, else the header Content-Language, or by their text.

    What is not told in the way that is believed is told in the other. A text that shows the declared language leaves
    the declaration as it is, with its region.
    """

    def __init__(self, trust: Trust, detect: Detector | None) -> None:
        self._trust = trust
        self._detect = detect

    def of(self, page: Page, response: Response) -> str:
        """Return the language of a document, as it is declared or as a code; empty if nothing tells it."""
        declared = _declared(page, response)
        if self._detect is None or not page.text or (declared and self._trust == "declared"):
            return declared
        text, code = page.text[:SAMPLE], language_code(declared)
        detected, probability = self._detect(text)
        if not detected or detected == code:
            return declared
        if declared and self._trust == "both":
            clear = len(text) >= CLEAR_FROM and probability >= CLEAR and not same_language(detected, code)
            return detected if clear else declared
        return detected


def _declared(page: Page, response: Response) -> str:
    if language_code(page.language):
        return page.language
    header = header_of(response, "Content-Language").partition(",")[0].strip()
    return header if language_code(header) else ""


def languages_of(source: DataSource) -> DocumentLanguages:
    """Return what tells the languages of the documents of a source. Raises `MissingExtraError`."""
    trust = source.languages.trust or "declared"
    if trust != "declared":
        return DocumentLanguages(trust, open_detector(f"`languages: {{trust: {trust}}}`"))
    return DocumentLanguages(trust, open_detector("`detect_language`") if source.detect_language else None)


def open_detector(option: str) -> Detector:
    """Return what an option needs to tell languages. Raises `MissingExtraError` without the extra."""
    try:
        identifier = _model()
    except ImportError as error:
        raise MissingExtraError(f"telling languages by the text ({option})", "language") from error

    def detect(text: str) -> tuple[str, float]:
        code, probability = identifier.classify(text)
        return language_code(code), probability

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
