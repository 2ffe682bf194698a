"""Validators of the lister take the place of those of a web server, which cannot speak for the lister."""

from __future__ import annotations

from typing import cast

import pytest
from scrapy import Request
from scrapy.http import Response

from ultracrawl.agents.port import Entry
from ultracrawl.middlewares.fetcher import FetcherMiddleware
from ultracrawl.model import UrlRecord
from ultracrawl.run.listing.answers import StoredValidators
from ultracrawl.run.listing.fetching import EntryFetching
from ultracrawl.run.visit import META_KEY, Visit
from ultracrawl.sources import DataSource
from ultracrawl.stores import QueueEntry

URL = "https://www.example.com/a"


class Listing:
    """A fetcher that leaves everything to the web server."""

    validators = StoredValidators(DataSource(name="s", type="web"), "recipe")


@pytest.mark.parametrize("entry", [None, Entry(URL, title="Told"), Entry(URL, validators="v1")])
@pytest.mark.parametrize("status", [200, 404])
def test_a_server_cannot_speak_for_the_lister(entry: Entry | None, status: int) -> None:
    visit = Visit(QueueEntry(1, URL, "www.example.com", 0, 1), UrlRecord(URL, "s"), listed=entry)
    claims = {"X-Ultracrawl-Entry": '{"access_url":"x","title":"Claimed"}', "ETag": '"own"'}
    request, answer = Request(URL, meta={META_KEY: visit}), Response(URL, status=status, headers=claims)
    answered = FetcherMiddleware(cast(EntryFetching, Listing())).process_response(request, answer)
    is_validated = status == 200 and entry is not None and entry.validators
    assert answered.headers["ETag"] == (b"v1 recipe" if is_validated else b'"own"')
    assert visit.listed == entry
