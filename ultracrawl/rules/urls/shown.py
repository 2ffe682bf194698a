"""URLs that hits may show and link to: of known schemes, so that no link of a page of results runs a script."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

SCHEMES = frozenset(
    (
        *("http", "https", "ftp", "ftps", "sftp", "file", "smb", "nfs", "dav", "davs"),
        *("mailto", "mid", "imap", "imaps", "news", "nntp", "snews", "gopher", "gemini"),
        *("ldap", "ldaps", "notes", "tel", "urn", "doi", "table", "agent"),
    )
)
"""Schemes of display URLs that are always accepted; a kind of sources adds those of its own access URLs."""
_SCRIPTS = frozenset(
    (
        *("javascript", "vbscript", "livescript", "mocha", "jscript", "ecmascript"),
        *("data", "blob", "filesystem", "view-source", "about", "mhtml", "ms-its", "mk", "res"),
    )
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\ud800-\udfff]+")
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0]+")
"""Characters that browsers leave out when they read the scheme of a link (WHATWG URL, basic URL parser)."""
MARK = "unsafe:"
"""Put before a URL of a script scheme: no browser runs it then."""


def is_display_url(text: str, own_schemes: AbstractSet[str] = frozenset()) -> bool:
    """Return whether a text is a URL with a scheme that hits may link to; `own_schemes` are those of the source."""
    if not _URL.fullmatch(text):
        return False
    scheme = text.partition(":")[0].lower()
    return scheme in SCHEMES or scheme in own_schemes


def harmless(url: str) -> str:
    """Return a URL of an index for a link: one whose scheme runs scripts or has content of its own is marked."""
    if url.startswith(("http://", "https://")):
        return url
    scheme = _IGNORED.sub("", url.partition(":")[0]).lower()
    return MARK + url if scheme in _SCRIPTS else url
