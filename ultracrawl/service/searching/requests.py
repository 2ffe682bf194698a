"""Runs the orders of requesters."""

from __future__ import annotations

from collections.abc import Callable

from ultracrawl.service.access.requester import Requester
from ultracrawl.service.searching.answers import answer_of
from ultracrawl.service.searching.orders import Order, SearchOrder
from ultracrawl.service.searching.places import SearchPlaces
from ultracrawl.service.searching.searchers import SearcherPool, View
from ultracrawl.sources import Project
from ultracrawl.sources.kinds import hit_codes

CountQuery = Callable[[Requester, str, int, str], None]
"""Counts a query: who searched, the text, the number of hits, the address of the client."""


def is_first_page(order: SearchOrder) -> bool:
    """Whether a search is for the first hits of a query that somebody typed."""
    return bool(order.text.strip()) and order.limit > 0 and order.offset == 0 and not order.like


class Searching:
    """Runs searches of the present project; no requester shuts out the others."""

    def __init__(self, project: Callable[[], Project], count_query: CountQuery | None = None) -> None:
        """Take what returns the present project, and what counts queries for statistics."""
        self._project = project
        self._count_query = count_query
        self._places = SearchPlaces()
        self._searchers = SearcherPool()

    async def run(self, requester: Requester, order: Order, *, address: str = "") -> dict[str, object]:
        """Return the answer of an order, the JSON object of `ultracrawl search --json`.

        Only the documents and sources that the requester may see count. `address` is that of the client: requesters
        without a role share a name, and are told apart by it. Raises `UserError` for a mistake in the order,
        `SearchRefusedError` if it gets no place in time, `IndexStoreError`.
        """
        share = requester.name if requester.role else f"{requester.name} {address}"
        answer = await self._places.run(share, lambda: self._answer(requester, order))
        if self._count_query and isinstance(order, SearchOrder) and is_first_page(order):
            self._count_query(requester, order.text, int(str(answer["total"])), address)
        return answer

    def close(self) -> None:
        """Close all searchers."""
        self._searchers.close()

    def _answer(self, requester: Requester, order: Order) -> dict[str, object]:
        project = self._project()
        view = View(order.index, requester.principals, requester.sources)
        with self._searchers.searcher_for(project, view) as searcher:
            return answer_of(order, searcher, hit_codes(project.known_sources.values()))
