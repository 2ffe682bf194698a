"""A smart agent for a content management system with a JSON interface.

`GET URL/documents?since=TIME&after=ID` answers `{"documents": [...], "more": true}`; a document has `id`, `url`,
`title`, `html`, `author`, `section`, and `deleted` if it is gone. `GET URL/sections` answers the names of sections by
language.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar

from json_api import JsonApi

from ultracrawl.agents import AgentParameter, AttributeLovs, CrawlerAgent, UrlData


class JsonCms(CrawlerAgent):
    """Asks for what changed since the last crawl, a page of documents at a time."""

    parameters: ClassVar = [
        AgentParameter("url", "where the interface is", required=True),
        AgentParameter("token", "what it lets us in by", secret=True),
    ]

    def open(self, params: Mapping[str, Any]) -> None:
        """Keep where the system is."""
        headers = {"Authorization": f"Bearer {params['token']}"} if params.get("token") else {}
        self._ask = JsonApi(params["url"], headers).ask

    def is_delta_crawling_capable(self) -> bool:
        """Return that the system tells what changed, and what is gone."""
        return True

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> None:
        """Ask for everything, or for what is newer than the last crawl."""
        since = last_crawl_time.isoformat() if last_crawl_time and not force_recrawl else ""
        self._documents = self._ask_pages(since)

    def fetch(self) -> UrlData | None:
        """Return the next document."""
        return next(self._documents, None)

    def get_attribute_lovs(self, lovs: AttributeLovs) -> bool:
        """Add what sections are called."""
        for value, names in self._ask("sections").items():
            for language, name in names.items():
                lovs.add_value("Section", value, name, language)
        return True

    def _ask_pages(self, since: str) -> Iterator[UrlData]:
        after, more = "", True
        while more:
            page = self._ask("documents", since=since, after=after)
            for one in page["documents"]:
                after = str(one["id"])
                yield _document(one)
            more = page["more"]


def _document(one: Mapping[str, Any]) -> UrlData:
    if one.get("deleted"):
        return UrlData(one["url"], doc_key=str(one["id"]), deleted=True)
    return UrlData(
        one["url"],
        doc_key=str(one["id"]),
        title=one["title"],
        body=one["html"].encode(),
        content_type="text/html; charset=utf-8",
        attributes={"author": one["author"], "section": one["section"]},
    )
