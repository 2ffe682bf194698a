"""What a search page shows, as its URL says it: query, filters, order, page; and the URLs of other choices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from fastapi import Request
from starlette.exceptions import HTTPException

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.service.pages.languages import languages

PAGE_SIZE = 10
"""Hits of a page."""
LAST_PAGE = 1000
LONGEST_QUERY = 2000
_LONGEST_FILTER = 2000
_MOST_FILTERS = 50
NEWEST = "newest"
NEWEST_ATTRIBUTE = "-LastModifiedDate"


@dataclass(frozen=True, slots=True)
class SearchAddress:
    """The choices in the URL of a search page."""

    text: str = ""
    sources: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    """Attribute and value; several values of one attribute are alternatives."""
    like: str = ""
    """The URL of a document; found are documents like it."""
    sort: str = ""
    """Empty for relevance, or `NEWEST`."""
    page: int = 1
    language: str = ""
    """The language in the URL; empty if it has none."""
    as_typed: bool = False
    """Whether misspelt words are not corrected."""

    @classmethod
    def of_request(cls, request: Request) -> Self:
        """Return the choices of a request; values that no link of a page has are ignored.

        Raises status 400 for a query that is too long, or too many filters.
        """
        query = request.query_params
        text = query.get("q", "").replace("\x00", " ").strip()
        written = [one.partition("=") for one in query.getlist("where") if len(one) <= _LONGEST_FILTER]
        address = cls(
            text=text,
            sources=_distinct(query.getlist("source")),
            groups=_distinct(query.getlist("group")),
            filters=tuple(dict.fromkeys((name, value) for name, sign, value in written if name and sign)),
            like=query.get("like", "").strip(),
            sort=NEWEST if query.get("sort") == NEWEST else "",
            page=_page_number(query.get("page", "")),
            language=query.get("language", "") if query.get("language") in languages() else "",
            as_typed=query.get("as_typed") == "true",
        )
        if max(len(text), len(address.like)) > LONGEST_QUERY:
            raise HTTPException(400, f"a query has {LONGEST_QUERY} characters at most")
        if len(address.sources) + len(address.groups) + len(address.filters) > _MOST_FILTERS:
            raise HTTPException(400, f"a search has {_MOST_FILTERS} filters at most")
        return address

    @property
    def is_search(self) -> bool:
        """Whether it asks for results; else the start page is shown."""
        return bool(self.text or self.like or self.is_filtered)

    @property
    def is_filtered(self) -> bool:
        """Whether sources, groups or values are chosen."""
        return bool(self.sources or self.groups or self.filters)

    def query(self) -> list[tuple[str, str]]:
        """Return the query of its URL, as names and values."""
        pairs = [
            ("q", self.text),
            ("like", self.like),
            ("as_typed", "true" if self.as_typed else ""),
            *self.kept(),
            ("page", str(self.page) if self.page > 1 else ""),
        ]
        return [(name, value) for name, value in pairs if value]

    def kept(self) -> list[tuple[str, str]]:
        """Return the choices that stay when another query is typed."""
        pairs = [
            *(("source", name) for name in self.sources),
            *(("group", name) for name in self.groups),
            *(("where", f"{name}={value}") for name, value in self.filters),
            ("sort", self.sort),
            ("language", self.language),
        ]
        return [(name, value) for name, value in pairs if value]

    def with_source(self, name: str) -> Self:
        """Return the address with a source chosen, or not any more."""
        return replace(self, sources=_toggled(self.sources, name), page=1)

    def with_group(self, name: str) -> Self:
        """Return the address with a data group chosen, or not any more."""
        return replace(self, groups=_toggled(self.groups, name), page=1)

    def with_filter(self, name: str, value: str) -> Self:
        """Return the address with a value of an attribute chosen, or not any more."""
        same = [one for one in self.filters if one[0] == name and one[1].casefold() == value.casefold()]
        rest = tuple(one for one in self.filters if one not in same)
        return replace(self, filters=rest if same else (*rest, (name, value)), page=1)

    def without_filters(self) -> Self:
        """Return the address with all sources, groups and values."""
        return replace(self, sources=(), groups=(), filters=(), page=1)

    def with_text(self, text: str) -> Self:
        """Return the address with another query."""
        return replace(self, text=text, like="", page=1, as_typed=False)

    def searched_as_typed(self) -> Self:
        """Return the address of the same query without corrections."""
        return replace(self, as_typed=True, page=1)

    def with_like(self, url: str) -> Self:
        """Return the address of documents like the one with this URL."""
        return replace(self, text="", like=url, page=1, as_typed=False)

    def sorted_by(self, sort: str) -> Self:
        """Return the address in another order."""
        return replace(self, sort=sort, page=1)

    def on_page(self, page: int) -> Self:
        """Return the address of another page of the results."""
        return replace(self, page=page)

    def in_language(self, language: str) -> Self:
        """Return the address in another language."""
        return replace(self, language=language)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value and len(value) <= _LONGEST_FILTER))


def _toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return tuple(one for one in names if one != name) if name in names else (*names, name)


def _page_number(text: str) -> int:
    return min(int(text), LAST_PAGE) if text.isdecimal() and len(text) < 6 and int(text) else 1
