"""Conversion between file paths and `file:` URLs, and display URLs of files."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote_from_bytes, unquote_to_bytes

from ultracrawl.agents.file.remote.locations import SCHEMES, parse_location
from ultracrawl.rules.urls.canonical import UrlPolicy

_POLICY = UrlPolicy(schemes=frozenset({"file"}), max_length=1 << 16)
PREFIX = "file://"
"""The beginning of the URL of a file of this machine."""
MESSAGE_QUERY = "?message="
"""Separates the URL of a mailbox and the name of a message in it."""


def url_of_path(path: bytes) -> str:
    """Return the URL of an absolute path."""
    return PREFIX + quote_from_bytes(path, safe="/-._~!$&'()*+,;=:@")


def path_of_url(url: str) -> bytes | None:
    """Return the path of a file URL; None if it is not a path on this machine."""
    rest = url.removeprefix(PREFIX)
    if rest == url or not rest.startswith("/") or "?" in rest or "#" in rest:
        return None
    path = unquote_to_bytes(rest)
    return None if b"\0" in path else path


def canonical_prefix(prefix: str) -> str | None:
    """Return the canonical form of a prefix of file URLs: `file://localhost/` and `file:/` become `file:///`.

    A remote one loses its user, as the URLs of documents have none. None if it is no such prefix.
    """
    if prefix.startswith("file:"):
        return _POLICY.canonical(prefix)
    if prefix.partition("://")[0] not in SCHEMES:
        return None
    url = parse_location(prefix).url
    return f"{url}/" if prefix.endswith("/") and not url.endswith("/") else url


class DisplayPrefixes:
    """Makes display URLs of file URLs by replacing the longest matching prefix (Ultra Search 2.3)."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        canonical = {
            canonical_prefix(prefix) or prefix: replacement for prefix, replacement in prefixes.items()
        }
        self._prefixes = sorted(canonical.items(), key=lambda item: -len(item[0]))

    def display_url(self, url: str) -> str:
        """Return the display URL of a file; empty if no prefix matches."""
        for prefix, replacement in self._prefixes:
            if url.startswith(prefix):
                return replacement + url[len(prefix) :]
        return ""
