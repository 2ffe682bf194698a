"""Headers as the rules take them, and give them: text, one value or all."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ultracrawl.content.reader import AnswerHead

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Headers, Response


@cache
def _key(name: str) -> bytes:
    """Return the name of a header as Scrapy's `Headers` write it."""
    return name.encode("latin-1").title()


def header_of(response: Response, name: str) -> str:
    """Return a header, the last one if it is repeated, or empty."""
    return header_in(response.headers, name)


def header_in(headers: Headers, name: str) -> str:
    """Return a header among these, the last one if it is repeated, or empty."""
    values: list[bytes] | None = dict.get(headers, _key(name))
    return values[-1].decode("latin-1") if values else ""


def has_header(response: Response, name: str) -> bool:
    """Return whether a response has a header."""
    return dict.__contains__(response.headers, _key(name))


def set_header(request: Request, name: str, value: str) -> None:
    """Give a request a header, in the bytes of which `header_of` made the value."""
    dict.__setitem__(request.headers, _key(name), [value.encode("latin-1")])


def head_of(response: Response) -> AnswerHead:
    """Return the headers that say something about a page."""
    return AnswerHead(
        header_of(response, "Content-Type"),
        values_of(response)("X-Robots-Tag"),
        header_of(response, "Refresh"),
    )


def values_of(response: Response) -> Callable[[str], list[str]]:
    """Return what gives all values of a header of this response."""
    return values_in(response.headers)


def values_in(headers: Headers) -> Callable[[str], list[str]]:
    """Return what gives all values of one header among these."""

    def values(name: str) -> list[str]:
        found: list[bytes] | None = dict.get(headers, _key(name))
        return [value.decode("latin-1") for value in found] if found else []

    return values
