"""Determines the language of documents, by their declarations or their text (Ultra Search 3, 5.3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Protocol

from ultracrawl.content.languages import language_code, language_tag, same_language
from ultracrawl.errors import MissingExtraError
from ultracrawl.run.transport.headers import header_of

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.model import Page
    from ultracrawl.sources import DataSource
    from ultracrawl.sources.sections.documents.document_options import Trust

SAMPLE_CHARS = 2000
"""Characters of a text that are examined: 4000 take twice as long, and match the declarations no better (measured on
the Debian handbook, which is partly translated)."""
MIN_PROBABILITY = 0.5
"""Probability below which a detected language is ignored."""
OVERRULING_PROBABILITY = 0.99
"""Probability from which a detected language overrules a declaration."""
OVERRULING_CHARS = 200
"""Characters of a text from which it can overrule a declaration."""

Detector = Callable[[str], tuple[str, float]]
"""Returns the language code of a text, empty if unknown, and its probability."""


class DocumentLanguages:
    """Determines the language of documents: by their declaration, else the header Content-Language, or by their text.

    If the trusted way gives no language, the other one is used. A text in the declared language leaves the declaration
    as it is, with its region.
    """

    def __init__(self, trust: Trust, detect: Detector | None) -> None:
        self._trust = trust
        self._detect = detect

    def of(self, page: Page, response: Response) -> str:
        """Return the language of a document, as declared or as a code; empty if unknown."""
        declared = _declared(page, response)
        if self._detect is None or not page.text or (declared and self._trust == "declared"):
            return declared
        text, code = page.text[:SAMPLE_CHARS], language_code(declared)
        detected, probability = self._detect(text)
        if not detected or detected == code:
            return declared
        if declared and self._trust == "both":
            overrules = (
                len(text) >= OVERRULING_CHARS
                and probability >= OVERRULING_PROBABILITY
                and not same_language(detected, code)
            )
            return detected if overrules else declared
        return detected


def _declared(page: Page, response: Response) -> str:
    return language_tag(page.language) or language_tag(header_of(response, "Content-Language"))


def languages_of(source: DataSource) -> DocumentLanguages:
    """Return the language detection of a source. Raises `MissingExtraError`."""
    trust = source.languages.trust or "declared"
    if trust != "declared":
        return DocumentLanguages(trust, open_detector(f"`languages: {{trust: {trust}}}`"))
    return DocumentLanguages(trust, open_detector("`detect_language`") if source.detect_language else None)


def open_detector(option: str) -> Detector:
    """Return the detector that an option needs. Raises `MissingExtraError` without the extra."""
    try:
        identifier = _model()
    except ImportError as error:
        raise MissingExtraError(f"language detection ({option})", "language") from error

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
        MODEL_FILE, norm_probs=True, min_confidence=MIN_PROBABILITY
    )
    return identifier
