"""Words that begin with a dot or two hyphens, as `.open` and `--force`: the index has the word without them.

Other signs are in terms of the index (`words.identifiers`).
"""

from __future__ import annotations

import re

from ultracrawl.index.engine import IndexDocument
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT

_SIGNED = r"(?<![^\s\"(])(?:--|\.)\w[\w-]*(?![^\s\",;)])"
_IN_TEXT, _WITHOUT = 0.7, 0.3
"""What a document counts that has such a word in its text alone, and that has it nowhere."""


class SignedWords:
    """The words with signs of a query, which count more where they have their sign."""

    def __init__(self, query: str) -> None:
        found = dict.fromkeys(re.findall(_SIGNED, query))
        self._words = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE) for word in found]

    def factor(self, document: IndexDocument) -> float:
        """Return what a document counts for its words with signs, at most 1; 1 if the query has none."""
        factor = 1.0
        for word in self._words:
            names = (document.title, *(section.title for section in document.sections))
            if not any(map(word.search, names)):
                factor *= _IN_TEXT if word.search(document.text, 0, STORED_TEXT_LIMIT) else _WITHOUT
        return factor
