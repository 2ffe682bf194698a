"""Access to headers as text: one value or all."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from ultracrawl.content.charset.urls import url_of_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.http import Headers, Response


@cache
def _key(name: str) -> bytes:
    """Return the name of a header in the form of Scrapy's `Headers` keys."""
    return name.encode("latin-1").title()


def header_of(response: Response, name: str) -> str:
    """Return a header of a response, the last value if it is repeated, or ""."""
    values: list[bytes] | None = dict.get(response.headers, _key(name))
    return values[-1].decode("latin-1") if values else ""


def url_in_header(response: Response, name: str) -> str:
    """Return the URL in a header of a response, as browsers read its bytes beyond ASCII; empty without the header."""
    values: list[bytes] | None = dict.get(response.headers, _key(name))
    return url_of_bytes(values[-1]) if values else ""


def keys_of(names: Iterable[str]) -> frozenset[bytes]:
    """Return the names of headers in the form in which `Headers` has them."""
    return frozenset(map(_key, names))


def set_header(request: Request, name: str, value: str) -> None:
    """Set a header of a request; `value` is encoded as `header_of` decodes it."""
    dict.__setitem__(request.headers, _key(name), [value.encode("latin-1")])


def values_of(response: Response) -> Callable[[str], list[str]]:
    """Return a function that returns all values of a header of this response."""
    return partial(_values, response.headers)


def values_in(headers: Headers) -> Callable[[str], list[str]]:
    """Return a function that returns all values of a header."""
    return partial(_values, headers)


def _values(headers: Headers, name: str) -> list[str]:
    stored: list[bytes] | None = dict.get(headers, _key(name))
    return [value.decode("latin-1") for value in stored] if stored else []
