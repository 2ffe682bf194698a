"""Which document attributes of a web page come from the headers of its response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PREFIX = "header."
"""Attributes that begin with this are headers, whatever META values a page has."""
OF_ANSWERS = frozenset({"age", "connection", "date", "etag", "expires", "server"})
"""Headers that describe the answer, not the document: `Date` is the time of the fetch. They have the prefix only."""


def is_header(name: str) -> bool:
    """Return whether an attribute (in lower case) is a header, and never a META value."""
    return name.startswith(PREFIX)


def headers_of_attributes(names: Iterable[str]) -> Mapping[str, str]:
    """Return the header that an attribute (in lower case) has its values from, by attribute.

    An attribute without the prefix has them only in pages without a META of that name.
    """
    return {name: name.removeprefix(PREFIX) for name in names if name.isascii() and name not in OF_ANSWERS}
