"""The download handler of a reindex: serves the stored responses of a source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import DownloadFailedError
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ultracrawl.run import Visit, context_of, parts_of, visit_of
from ultracrawl.run.indexing.response_store import ENTRY_HEADER, ResponseStore, entry_of
from ultracrawl.run.listing.answers import entry_of_today
from ultracrawl.run.results import TRUNCATED_KEY

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from ultracrawl.model.answer import StoredAnswer

_FORMER_READERS = (
    "some stored answers name readers as an earlier version did; nobody finds their documents until the next crawl, "
    "which reads them again"
)


class StoredDownloadHandler(BaseDownloadHandler):
    """Returns stored responses; all other requests fail, since a reindex opens no connections."""

    lazy = True

    def __init__(self, crawler: Crawler, responses: ResponseStore | None) -> None:
        super().__init__(crawler)
        self._context = context_of(crawler)
        self._responses = responses

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the handler for a crawler."""
        return cls(crawler, parts_of(crawler).get(ResponseStore))

    async def download_request(self, request: Request) -> Response:
        """Return the stored response. Raises `DownloadFailedError` if there is none."""
        visit = visit_of(request)
        store = None if self._responses is None else self._responses.store
        answer = store.get(visit.entry.key) if visit is not None and store is not None else None
        if visit is None or answer is None:
            raise DownloadFailedError(f"{request.url} is not stored")
        request.meta[TRUNCATED_KEY] = answer.truncated
        headers = _headers(visit, answer)
        self._note_listed(visit, answer, headers)
        response_class = responsetypes.from_args(headers=headers, url=request.url, body=answer.body)
        return response_class(request.url, status=200, headers=headers, body=answer.body)

    def _note_listed(self, visit: Visit, answer: StoredAnswer, headers: Headers) -> None:
        """Set the stored entry; without validators if an earlier version wrote its readers: the next crawl reads it."""
        stored = entry_of(answer)
        listed = None if stored is None else entry_of_today(stored, self._context.source)
        if listed is not stored:
            headers.pop("ETag", None)
            headers.pop("Last-Modified", None)
            self._context.counters.add_new_remark(_FORMER_READERS)
        visit.note_listed(listed)

    async def close(self) -> None:
        """Do nothing: there are no connections."""


def _headers(visit: Visit, answer: StoredAnswer) -> Headers:
    """Return the stored headers; validators that were not stored are taken from the record."""
    validators = {"ETag": visit.record.etag, "Last-Modified": visit.record.last_modified}
    headers = Headers({name: value for name, value in validators.items() if value})
    for name in {name for name, _ in answer.headers}:
        headers.setlist(name, [value.encode("latin-1") for header, value in answer.headers if header == name])
    headers.pop("Content-Encoding", None)  # bodies are stored decoded
    headers.pop(ENTRY_HEADER, None)
    return headers
