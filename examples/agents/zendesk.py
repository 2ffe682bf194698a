"""A smart agent for the issues of a tracker with a REST interface: the tickets of a Zendesk.

Its incremental export names what was changed since a time, deleted tickets too, a page of answers at a time.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from json_api import JsonApi

from ultracrawl.agents import AgentError, AgentParameter, CrawlerAgent, UrlData

OVERLAP = timedelta(minutes=5)
"""The export takes no time of the last minute, and its clock may differ from that of this machine."""


class Zendesk(CrawlerAgent):
    """Names tickets with all their public comments."""

    parameters: ClassVar = [
        AgentParameter("url", "where the Zendesk is, as https://example.zendesk.com", required=True),
        AgentParameter("user", "the address of who reads", required=True),
        AgentParameter("token", "an API token of the user", secret=True, required=True),
    ]

    def open(self, params: Mapping[str, Any]) -> None:
        """Keep where the tracker is, and ask whether it lets us in."""
        self._url = params["url"].rstrip("/")
        login = b64encode(f"{params['user']}/token:{params['token']}".encode()).decode()
        self._ask = JsonApi(f"{self._url}/api/v2", {"Authorization": f"Basic {login}"}).ask
        if not self._ask("users/me.json")["user"].get("id"):
            raise AgentError(f"{self._url} does not know the user or the token")

    def is_delta_crawling_capable(self) -> bool:
        """Return that the tracker tells what changed, and what is gone."""
        return True

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> None:
        """Ask for everything, or for what is newer than the last crawl."""
        since = None if force_recrawl or last_crawl_time is None else last_crawl_time - OVERLAP
        self._documents = self._read_tickets(since or datetime(2000, 1, 1, tzinfo=UTC))

    def fetch(self) -> UrlData | None:
        """Return the next ticket."""
        return next(self._documents, None)

    def _read_tickets(self, since: datetime) -> Iterator[UrlData]:
        asked: dict[str, object] = {"start_time": int(since.timestamp())}
        while True:
            page = self._ask("incremental/tickets/cursor.json", **asked)
            yield from map(self._document, page["tickets"])
            if page["end_of_stream"]:
                return
            asked = {"cursor": page["after_cursor"]}

    def _document(self, ticket: Mapping[str, Any]) -> UrlData:
        number, shown = ticket["id"], f"{self._url}/agent/tickets/{ticket['id']}"
        if ticket["status"] == "deleted":
            return UrlData(shown, doc_key=str(number), deleted=True)
        return UrlData(
            shown,
            doc_key=str(number),
            title=ticket["subject"] or f"Ticket {number}",
            text="\n\n".join(self._comments(number)) or ticket["description"],
            attributes={
                "status": ticket["status"],
                "tag": ticket["tags"],
                "changed": ticket["updated_at"],
            },
        )

    def _comments(self, number: int) -> Iterator[str]:
        asked: dict[str, object] = {"page[size]": 100}
        while True:
            page = self._ask(f"tickets/{number}/comments.json", **asked)
            yield from (one["plain_body"] for one in page["comments"] if one["public"])
            if not page["meta"]["has_more"]:
                return
            asked["page[after]"] = page["meta"]["after_cursor"]
