"""Media types by file name, for files inside archives and messages, which come without a header."""

from __future__ import annotations

_TYPES = {
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "xml": "application/xml",
    "rss": "application/rss+xml",
    "atom": "application/atom+xml",
    "svg": "image/svg+xml",
    "json": "application/json",
    "geojson": "application/geo+json",
    "ndjson": "application/x-ndjson",
    "eml": "message/rfc822",
    "mbox": "application/mbox",
    "htm": "text/html",
    "html": "text/html",
    "xhtml": "application/xhtml+xml",
    "txt": "text/plain",
    "tar": "application/x-tar",
}


def type_of_name(name: str) -> str:
    """Return the media type that the extension of a file name stands for, or empty."""
    return _TYPES.get(name.rpartition(".")[2].lower(), "") if "." in name else ""
