"""Paths of files as URLs, and back."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote_from_bytes, unquote_to_bytes

from ultracrawl.rules.urls.canonical import UrlPolicy

_POLICY = UrlPolicy(schemes=frozenset({"file"}), max_length=1 << 16)
_BEGINNING = "file://"
MESSAGE = "?message="
"""What stands between the URL of a mailbox and the name of a message in it."""


def url_of_path(path: bytes) -> str:
    """Return the URL of an absolute path."""
    return _BEGINNING + quote_from_bytes(path, safe="/-._~!$&'()*+,;=:@")


def path_of_url(url: str) -> bytes | None:
    """Return the path that a URL names; None if it names none on this machine."""
    rest = url.removeprefix(_BEGINNING)
    if rest == url or not rest.startswith("/") or "?" in rest or "#" in rest:
        return None
    path = unquote_to_bytes(rest)
    return None if b"\0" in path else path


def canonical_prefix(prefix: str) -> str | None:
    """Return the beginning of file URLs as they are written here: `file://localhost/` and `file:/` are `file:///`."""
    return _POLICY.canonical(prefix) if prefix.startswith("file:") else None


class DisplayPrefixes:
    """What users see in place of file URLs: the longest prefix that fits is replaced (Ultra Search 2.3)."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        known = {canonical_prefix(prefix) or prefix: other for prefix, other in prefixes.items()}
        self._prefixes = sorted(known.items(), key=lambda one: -len(one[0]))

    def shown(self, url: str) -> str:
        """Return the display URL of a file, empty for its own."""
        for prefix, other in self._prefixes:
            if url.startswith(prefix):
                return other + url[len(prefix) :]
        return ""
