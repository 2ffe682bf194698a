"""The base URL of a document (HTML Standard, "fallback base URL" and "set the frozen base URL")."""

from __future__ import annotations

from ada_url import join_url

_NO_BASES = ("data:", "javascript:")


def declared_base(url: str, href: str) -> str:
    """Return the base that the `<base href>` of a document at `url` declares; empty for one that does not count."""
    try:
        base: str = join_url(url, href)
    except ValueError:
        return ""
    return "" if base.startswith(_NO_BASES) else base
