"""What a lister says of a document goes with the answer of a web server, and nobody else's word for it."""

from __future__ import annotations

from typing import cast

import pytest
from scrapy import Request
from scrapy.http import Response

from ultracrawl.agents.port import Entry
from ultracrawl.middlewares.fetcher import FetcherMiddleware
from ultracrawl.model import UrlRecord
from ultracrawl.run.listing.answers import ENTRY_HEADER, entry_of
from ultracrawl.run.listing.fetching import EntryFetching
from ultracrawl.run.visit import META_KEY, Visit
from ultracrawl.stores import QueueEntry

URL = "https://www.example.com/a"


class Listed:
    """Knows an entry, or none, and fetches nothing itself."""

    recipe = "recipe"

    def __init__(self, entry: Entry | None) -> None:
        self._entry = entry

    def listed(self, visit: Visit) -> Entry | None:
        return self._entry


@pytest.mark.parametrize("entry", [None, Entry(URL, title="Told", acl=("staff",))])
@pytest.mark.parametrize("status", [200, 404])
def test_a_server_cannot_speak_for_the_lister(entry: Entry | None, status: int) -> None:
    visit = Visit(QueueEntry(1, URL, "www.example.com", 0, 1), UrlRecord(URL, "s"))
    request = Request(URL, meta={META_KEY: visit})
    claimed = Response(URL, status=status, headers={ENTRY_HEADER: '{"access_url":"x","title":"Claimed"}'})
    middleware = FetcherMiddleware(cast(EntryFetching, Listed(entry)))
    assert entry_of(middleware.process_response(request, claimed)) == (entry if status == 200 else None)
