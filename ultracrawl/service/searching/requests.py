"""Runs the orders of requesters."""

from __future__ import annotations

import time
from collections.abc import Callable

from anyio import to_thread

from ultracrawl.service.access.requester import Requester
from ultracrawl.service.searching.messages import Request
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.searching.orders import Order, SearchOrder
from ultracrawl.service.searching.places import SearchPlaces, share_of
from ultracrawl.service.searching.processes import SearchProcesses
from ultracrawl.service.searching.results import ResultCache
from ultracrawl.sources import Project

CountQuery = Callable[[Requester, str, int, str], None]
"""Counts a query: who searched, the text, the number of hits, the address of the client."""


def is_first_page(order: SearchOrder) -> bool:
    """Whether a search is for the first hits of a query that somebody typed."""
    return bool(order.text.strip()) and order.limit > 0 and order.offset == 0 and not order.like


class Searching:
    """Runs searches of the present project in processes; no requester shuts out the others."""

    def __init__(
        self,
        project: Callable[[], Project],
        count_query: CountQuery | None = None,
        options: SearchingOptions | None = None,
    ) -> None:
        """Take what returns the present project, and what counts queries for statistics."""
        options = options or SearchingOptions()
        self._project = project
        self._count_query = count_query
        self._places = SearchPlaces(options.processes)
        self._processes = SearchProcesses(options)
        self._results = ResultCache(options.result_cache)

    async def run(self, requester: Requester, order: Order, *, address: str = "") -> dict[str, object]:
        """Return the answer of an order, the JSON object of `ultracrawl search --json`.

        Only the documents and sources that the requester may see count. `address` is that of the client: requesters
        without a role share a name, and are told apart by it. Raises `UserError` for a mistake in the order,
        `SearchRefusedError` if it gets no place in time, `SearchEndedError` if it takes too long, `IndexStoreError`.
        """
        found = await self._answer(
            Request(order, requester.principals, requester.sources), requester, address
        )
        if self._count_query and isinstance(order, SearchOrder) and is_first_page(order):
            self._count_query(requester, order.text, int(str(found["total"])), address)
        return found

    async def _answer(self, request: Request, requester: Requester, address: str) -> dict[str, object]:
        started, project = time.perf_counter(), self._project()
        if request in self._results:
            found = await to_thread.run_sync(self._results.find, project, request)
            if found is not None:
                if "took_ms" in found:
                    found["took_ms"] = round((time.perf_counter() - started) * 1000, 1)
                return found
        async with self._places.place(share_of(requester, address)):
            answer = await self._processes.answer(project, request)
        if answer.error is not None:
            raise answer.error
        assert answer.found is not None
        self._results.keep(project, request, answer)
        return answer.found

    def pids(self) -> list[int]:
        """Return the ids of the search processes."""
        return self._processes.pids()

    def close(self) -> None:
        """End all search processes, and drop all kept results."""
        self._processes.close()
        self._results.close()
