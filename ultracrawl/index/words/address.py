"""The words of a document's address, which often name its subject."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from ultracrawl.index.words.analysis import words

_SAYING_NOTHING = frozenset(("html", "htm", "php", "asp", "aspx", "jsp", "index", "default"))


def address_words(url: str) -> list[str]:
    """Return the words in the path of a URL, without those that say nothing about the document."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return []
    return [word for word in words(unquote(path)) if word not in _SAYING_NOTHING]
