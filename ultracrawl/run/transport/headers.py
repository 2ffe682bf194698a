"""Access to headers as text: one value or all."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ultracrawl.content.reader import PageHeaders

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Headers, Response


@cache
def _key(name: str) -> bytes:
    """Return the name of a header in the form of Scrapy's `Headers` keys."""
    return name.encode("latin-1").title()


def header_of(response: Response, name: str) -> str:
    """Return a header of a response, the last value if it is repeated, or ""."""
    return header_in(response.headers, name)


def header_in(headers: Headers, name: str) -> str:
    """Return a header, the last value if it is repeated, or ""."""
    values: list[bytes] | None = dict.get(headers, _key(name))
    return values[-1].decode("latin-1") if values else ""


def has_header(response: Response, name: str) -> bool:
    """Return whether a response has a header."""
    return dict.__contains__(response.headers, _key(name))


def set_header(request: Request, name: str, value: str) -> None:
    """Set a header of a request; `value` is encoded as `header_of` decodes it."""
    dict.__setitem__(request.headers, _key(name), [value.encode("latin-1")])


def head_of(response: Response) -> PageHeaders:
    """Return the headers that matter for reading a page."""
    return PageHeaders(
        header_of(response, "Content-Type"),
        values_of(response)("X-Robots-Tag"),
        header_of(response, "Refresh"),
    )


def values_of(response: Response) -> Callable[[str], list[str]]:
    """Return a function that returns all values of a header of this response."""
    return values_in(response.headers)


def values_in(headers: Headers) -> Callable[[str], list[str]]:
    """Return a function that returns all values of a header."""

    def values(name: str) -> list[str]:
        stored: list[bytes] | None = dict.get(headers, _key(name))
        return [value.decode("latin-1") for value in stored] if stored else []

    return values
