"""Notices that headers or a certificate no longer let the crawl in: its answers are those that visitors get."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ultracrawl.errors import WorkError
from ultracrawl.rules.access.visitors import Likeness
from ultracrawl.run.auth.first_page import FirstPage, LetInMemory, is_refusal, readable
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.visit import page_visit_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.run.transport.outgoing import Send

_UNAUTHORISED = 401
NEGOTIATING = ("accept", "dnt", "origin", "referer", "user-agent")
"""Beginnings of the names of headers that say nothing about who asks."""


class AccessWatch:
    """Compares the answers to pages of an entry with what visitors get at its first page.

    Visitors have none of the entries for a URL, so that the first page of one of them tells about all.

    Cookies and tokens in headers, and client certificates, have no log-in that could fail, and expire like passwords.
    """

    def __init__(
        self,
        entries: Iterable[tuple[str, Callable[[str], bool]]],
        headers: Mapping[str, str],
        memory: LetInMemory,
        note: Callable[[WorkError], None],
    ) -> None:
        """`entries`: the option of each, and whether it is used for a URL; `headers`: those of every request."""
        self._entries = [(name, covers, FirstPage(memory, name, headers, covers)) for name, covers in entries]
        self._note = note
        self._told: set[str] = set()
        """The entries that the report names."""

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request. Raises `LoginFailedError` if its answer shows that the entry does not let in."""
        response = await send(request)
        visit = page_visit_of(request)
        found = [(name, first) for name, covers, first in self._entries if covers(request.url)]
        if visit is None or not found:
            return response
        name, first = ", ".join(name for name, _ in found), found[0][1]
        likeness = first.likeness(readable(response))
        if likeness is Likeness.NONE and not _refuses(response):
            await first.learn(request, response, send)
            return response
        is_same = likeness is Likeness.SAME
        lets_in = await first.lets_in(
            send, lambda again: _refuses(again) or first.likeness(again) is not Likeness.NONE, doubt=is_same
        )
        failed = lets_in is False
        is_unsure = lets_in is None and first.page is not None and visit.record.retained
        if not (is_same or failed or is_unsure):
            return response
        if (failed or visit.record.retained) and name not in self._told:
            self._told.add(name)
            self._note(
                WorkError(
                    f"{name}: it does not let in any more; {request.url} and perhaps others are refused"
                )
            )
        raise LoginFailedError(f"{name}: it does not let in")


def _refuses(response: Response) -> bool:
    """Whether a status refuses who asks; a header with a token may be answered with a challenge."""
    return response.status == _UNAUTHORISED or is_refusal(response)
