"""Makes the orders of a page for the searches of the service."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ultracrawl.index.engine import MAX_SECTIONS
from ultracrawl.rules.attributes.schema import AttributeType
from ultracrawl.service.pages.search_address import NEWEST_ATTRIBUTE, PAGE_SIZE, SearchAddress
from ultracrawl.service.searching.orders import Order, SearchOrder, SuggestOrder

if TYPE_CHECKING:
    from ultracrawl.service.access.requester import Requester
    from ultracrawl.service.api.state import ApiState
    from ultracrawl.sources import Project

MAX_SUGGESTIONS = 7
"""Suggested titles, below the query itself."""
_DEFAULT_FILTERS = ("Mimetype", "LastModifiedDate", "Language")
_MAX_OWN_FILTERS = 3


def filter_attributes(project: Project) -> tuple[str, ...]:
    """Return the search attributes that the page offers as filters: those of the definition, else some of all."""
    own = [name for name, kind in project.attributes.items() if kind is AttributeType.STRING]
    return project.search_page.filters or (*own[:_MAX_OWN_FILTERS], *_DEFAULT_FILTERS)


def search_order(project: Project, address: SearchAddress, language: str) -> SearchOrder:
    """Return the order for a page of results; `language` is that of the visitor, empty if it is not known."""
    return replace(
        _conditions(address),
        facets=filter_attributes(project),
        disjunctive_facets=True,
        count_sources=True,
        sections=MAX_SECTIONS,
        sort=NEWEST_ATTRIBUTE if address.sort else "",
        language=language,
        limit=PAGE_SIZE,
        offset=(address.page - 1) * PAGE_SIZE,
    )


def suggest_order(address: SearchAddress) -> SuggestOrder:
    """Return the order for titles that complete the query."""
    return SuggestOrder(address.text, address.sources, address.groups, limit=MAX_SUGGESTIONS)


def _conditions(address: SearchAddress) -> SearchOrder:
    filters = tuple(f"{name}={value}" for name, value in address.filters)
    return SearchOrder(
        address.text,
        address.sources,
        address.groups,
        filters,
        like=address.like,
        limit=0,
        as_typed=address.as_typed,
    )


class PageSearches:
    """The searches of one request."""

    def __init__(self, state: ApiState, requester: Requester, client: str) -> None:
        """Take the requester, and the address of the client."""
        self._state = state
        self._requester = requester
        self._client = client

    async def answer(self, order: Order) -> dict[str, Any]:
        """Return the answer to an order. Raises `UserError`, `WorkError`."""
        return await self._state.searching.run(self._requester, order, address=self._client)

    async def count_matches(self, address: SearchAddress) -> int:
        """Return the number of documents that match."""
        return int((await self.answer(_conditions(address)))["total"])

    async def count_documents(self) -> int:
        """Return the number of documents that the requester may see."""
        return await self.count_matches(SearchAddress())
