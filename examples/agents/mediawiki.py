"""A smart agent for a MediaWiki: the pages of some namespaces, as `api.php` renders them.

After the first crawl it asks for what was edited, deleted, restored, moved or imported since the last one, and renders
only that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from json_api import JsonApi

from ultracrawl.agents import AgentError, AgentParameter, CrawlerAgent, UrlData

KEPT = timedelta(days=30)
"""How long every wiki remembers edits; after a longer time all pages are listed again."""
OVERLAP = timedelta(minutes=5)
"""What the clocks of the wiki and of this machine may differ."""
LOGS = ("delete", "move", "import")
GONE = frozenset({"missingtitle", "nosuchpageid", "nosuchrevid"})
AT_ONCE = 50
"""Pages that the wiki may be asked for in one request."""


class MediaWiki(CrawlerAgent):
    """Names pages that are no redirects by their number, so that a page that is moved stays the same document."""

    parameters: ClassVar = [
        AgentParameter("url", "where api.php is", required=True),
        AgentParameter("namespaces", "their numbers; [0], the articles, if they are not told"),
        AgentParameter("token", "an OAuth 2 token, for a wiki that not everybody may read", secret=True),
    ]

    def open(self, params: Mapping[str, Any]) -> None:
        """Keep where the wiki is, and ask whether it answers."""
        headers = {"User-Agent": "ultracrawl-mediawiki-agent"}
        if params.get("token"):
            headers["Authorization"] = f"Bearer {params['token']}"
        self._api = JsonApi(params["url"], headers)
        self._namespaces = frozenset(params.get("namespaces") or [0])
        self._ask(action="query", meta="siteinfo")

    def is_delta_crawling_capable(self) -> bool:
        """Return that the wiki tells what changed, and what is gone."""
        return True

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> None:
        """Ask for everything, or for what happened since the last crawl."""
        since = None if force_recrawl or last_crawl_time is None else last_crawl_time - OVERLAP
        self._documents = self._read_pages(since)

    def fetch(self) -> UrlData | None:
        """Return the next page."""
        return next(self._documents, None)

    def _read_pages(self, since: datetime | None) -> Iterator[UrlData]:
        numbers: dict[int, None] = {}  # a set that keeps the order
        if since is not None:
            numbers |= dict.fromkeys(self._logged(since))
        if since is None or datetime.now(UTC) - since > KEPT:
            numbers |= dict.fromkeys(self._all())
        else:
            numbers |= dict.fromkeys(self._edited(since))
        found = list(numbers)
        for start in range(0, len(found), AT_ONCE):
            yield from self._describe(found[start : start + AT_ONCE])

    def _all(self) -> Iterator[int]:
        for namespace in sorted(self._namespaces):
            asked = {"apnamespace": namespace, "apfilterredir": "nonredirects", "aplimit": "max"}
            for part in self._query(list="allpages", **asked):
                yield from (page["pageid"] for page in part["allpages"])

    def _edited(self, since: datetime) -> Iterator[int]:
        asked = {"rcstart": _time(since), "rcdir": "newer", "rctype": "edit|new", "rcprop": "ids"}
        spaces = "|".join(map(str, sorted(self._namespaces)))
        for part in self._query(list="recentchanges", rcnamespace=spaces, rclimit="max", **asked):
            yield from (change["pageid"] for change in part["recentchanges"])

    def _logged(self, since: datetime) -> Iterator[int]:
        """Yield what was deleted, restored, moved or imported: it has no edits that would tell."""
        for log in LOGS:
            asked = {"lestart": _time(since), "ledir": "newer", "leprop": "ids|title|type|details"}
            for part in self._query(list="logevents", letype=log, lelimit="max", **asked):
                for event in part["logevents"]:
                    spaces = {event.get("ns"), event.get("params", {}).get("target_ns")}
                    if event.get("logpage") and spaces & self._namespaces:
                        yield event["logpage"]

    def _describe(self, numbers: Iterable[int]) -> Iterator[UrlData]:
        pages: dict[int, dict[str, Any]] = {}
        asked = {"prop": "info|revisions", "inprop": "url", "rvprop": "ids|timestamp|user"}
        for part in self._query(pageids="|".join(map(str, numbers)), **asked):
            for page in part["pages"]:
                pages.setdefault(page["pageid"], {}).update(page)
        for number, page in pages.items():
            is_there = not page.get("missing") and not page.get("redirect")
            if is_there and page["ns"] in self._namespaces:
                yield self._rendered(page)
            else:
                yield UrlData("", doc_key=str(number), deleted=True)

    def _rendered(self, page: Mapping[str, Any]) -> UrlData:
        key = str(page["pageid"])
        asked = {"prop": "text|categories", "disableeditsection": 1, "disabletoc": 1}
        answer = self._ask(action="parse", pageid=key, **asked)
        if "parse" not in answer:  # it was deleted a moment ago
            return UrlData("", doc_key=key, deleted=True)
        (last,) = page["revisions"]
        categories = [one["category"].replace("_", " ") for one in answer["parse"]["categories"]]
        return UrlData(
            page["canonicalurl"],
            doc_key=key,
            title=page["title"],
            body=answer["parse"]["text"].encode(),
            content_type="text/html; charset=utf-8",
            attributes={"author": last.get("user", ""), "changed": last["timestamp"], "category": categories},
        )

    def _query(self, **asked: object) -> Iterator[Any]:
        """Yield all parts of an answer that may be longer than one."""
        more: Any = {}
        while more is not None:
            answer = self._ask(action="query", **{**asked, **more})
            yield answer.get("query", {})
            more = answer.get("continue")

    def _ask(self, **asked: object) -> Any:
        answer = self._api.ask(format="json", formatversion=2, **asked)
        error = answer.get("error")
        if error and error["code"] not in GONE:  # a failure has the status 200
            raise AgentError(f"the wiki answers {error['code']}: {error['info']}")
        return answer


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
