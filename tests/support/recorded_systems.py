"""Systems with an interface over HTTP that agents read: what they are documented to answer, in short pages."""

from __future__ import annotations

import json
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.resource import Reply
from support.server import Request

LONG_AGO = "2026-01-02T03:04:05Z"
PAGE = 2
"""Entries that a page of an answer has: less than any client asks for."""


def now() -> str:
    """Return the time, by the clock of the tests."""
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_json(value: object, status: int = 200, **headers: str) -> Reply:
    """Return an answer in JSON."""
    kind = ("Content-Type", "application/json")
    more = ((name.replace("_", "-"), text) for name, text in headers.items())
    return Reply(status, (kind, *more), json.dumps(value).encode())


class Recorded:
    """What systems have in common: `asked` counts requests by what is asked for, `busy` answers come first."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.busy: list[int] = []

    def answer(self, request: Request) -> Reply:
        """Answer a request."""
        if self.busy:
            return as_json({}, self.busy.pop(), Retry_After="0")
        parts = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        return self.handle(request, parts.path, query)

    def handle(self, request: Request, path: str, query: dict[str, str]) -> Reply:
        raise NotImplementedError


class Wiki(Recorded):
    """`api.php` of a MediaWiki: formatversion 2, each list continued."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[int, dict[str, Any]] = {}
        self.changes: list[dict[str, Any]] = []
        self.events: list[dict[str, Any]] = []
        for number, title in enumerate(("Heron", "Egret", "Stork", "Crane", "Ibis"), 1):
            self.pages[number] = self._page(number, title, f"<p>the {title.lower()}</p>", LONG_AGO)
        self.pages[6] = {**self._page(6, "Grey heron", "", LONG_AGO), "redirect": True}
        self.pages[7] = {**self._page(7, "Talk:Heron", "<p>talk</p>", LONG_AGO), "ns": 1}

    @staticmethod
    def _page(number: int, title: str, html: str, time: str) -> dict[str, Any]:
        last = {"revid": number, "timestamp": time, "user": "Lee"}
        url = f"https://wiki.example.com/{title.replace(' ', '_')}"
        return {
            "pageid": number,
            "ns": 0,
            "title": title,
            "canonicalurl": url,
            "revisions": [last],
            "html": html,
        }

    def edit(self, number: int, title: str, html: str) -> None:
        """Save a page, a new one too."""
        self.pages[number] = self._page(number, title, html, now())
        self.changes.append({"type": "edit", "pageid": number, "timestamp": now(), "ns": 0})

    def _log(self, kind: str, number: int, **params: object) -> None:
        told = {"type": kind, "ns": 0, "logpage": number, "timestamp": now(), "params": params}
        self.events.append(told)

    def delete(self, number: int) -> None:
        """Delete a page: its edits are no recent changes any more."""
        del self.pages[number]
        self.changes = [one for one in self.changes if one["pageid"] != number]
        self._log("delete", number)

    def move(self, number: int, title: str) -> None:
        """Move a page, which leaves no redirect."""
        page = self.pages[number]
        self.pages[number] = self._page(number, title, page["html"], page["revisions"][0]["timestamp"])
        self._log("move", number, target_ns=0, target_title=title)

    def handle(self, request: Request, path: str, query: dict[str, str]) -> Reply:
        """Answer `action=query` and `action=parse`."""
        assert (query["format"], query["formatversion"]) == ("json", "2")
        if request.header("Authorization") not in (None, "Bearer open"):
            return as_json({"error": {"code": "readapidenied", "info": "You need read permission"}})
        what = query.get("list") or query.get("meta") or query.get("prop") or ""
        self.asked[what] += 1
        if query["action"] == "parse":
            return as_json(self._parsed(self.pages.get(int(query["pageid"]))))
        if what == "siteinfo":
            return as_json({"batchcomplete": True, "query": {"general": {"sitename": "Birds"}}})
        if "pageids" in query:
            return as_json(self._described(query))
        return as_json(self._listed(what, query))

    @staticmethod
    def _parsed(page: dict[str, Any] | None) -> object:
        if page is None:
            return {"error": {"code": "nosuchpageid", "info": "There is no page with that ID"}}
        categories = [{"sortkey": "", "category": "Long_legs"}]
        return {"parse": {"title": page["title"], "text": page["html"], "categories": categories}}

    def _described(self, query: dict[str, str]) -> object:
        """Describe pages in two parts: the second one has the revisions."""
        has_more = "rvcontinue" not in query
        left_out = {"html", "revisions"} if has_more else {"html"}
        found = []
        for number in map(int, query["pageids"].split("|")):
            page = self.pages.get(number, {"pageid": number, "missing": True})
            found.append({name: value for name, value in page.items() if name not in left_out})
        more = (
            {"continue": {"rvcontinue": "1", "continue": "||info"}} if has_more else {"batchcomplete": True}
        )
        return {**more, "query": {"pages": found}}

    def _listed(self, what: str, query: dict[str, str]) -> object:
        short = {"allpages": "ap", "recentchanges": "rc", "logevents": "le"}[what]
        spaces = [int(one) for one in query.get(f"{short}namespace", "0").split("|")]
        if what == "allpages":
            rows = [
                {"pageid": page["pageid"], "ns": page["ns"], "title": page["title"]}
                for page in self.pages.values()
                if page["ns"] in spaces and not page.get("redirect")
            ]
        else:
            kept = self.changes if what == "recentchanges" else self.events
            rows = [one for one in kept if one["timestamp"] >= query[f"{short}start"] and one["ns"] in spaces]
        if what == "logevents":
            rows = [one for one in rows if one["type"] == query["letype"]]
        start = int(query.get(f"{short}continue", 0))
        answer: dict[str, Any] = {"query": {what: rows[start : start + PAGE]}}
        if len(rows) > start + PAGE:
            answer["continue"] = {f"{short}continue": str(start + PAGE), "continue": "-||"}
        return answer


class Tickets(Recorded):
    """The incremental export of a Zendesk, and the comments of a ticket."""

    def __init__(self) -> None:
        super().__init__()
        self.tickets: dict[int, dict[str, Any]] = {}
        for number, word in enumerate(("heron", "egret", "stork", "crane", "ibis"), 1):
            self.put(number, f"a {word}", time=LONG_AGO)

    def put(self, number: int, text: str, *, status: str = "open", time: str = "") -> None:
        """Save a ticket; with the status `deleted` it is gone."""
        self.tickets.pop(number, None)  # the export is sorted by the time of the change
        self.tickets[number] = {
            "id": number,
            "subject": f"Ticket {number}",
            "description": text,
            "status": status,
            "tags": ["birds"],
            "updated_at": time or now(),
        }

    def handle(self, request: Request, path: str, query: dict[str, str]) -> Reply:
        """Answer as `/api/v2` does."""
        what = path.removeprefix("/api/v2/").removesuffix(".json")
        self.asked[what.rpartition("/")[2]] += 1
        if request.header("Authorization") != "Basic bGVlQGV4YW1wbGUuY29tL3Rva2VuOm9wZW4=":
            return as_json({"error": "Couldn't authenticate you"}, 401)
        if what == "users/me":
            return as_json({"user": {"id": 1, "name": "Lee"}})
        if what == "incremental/tickets/cursor":
            return as_json(self._exported(query))
        number = int(what.split("/")[1])
        comments = [
            {"plain_body": self.tickets[number]["description"], "public": True},
            {"plain_body": "an inner note", "public": False},
        ]
        start = int(query.get("page[after]", 0))
        has_more = start == 0
        meta = {"has_more": has_more, "after_cursor": "1" if has_more else None}
        return as_json({"comments": comments[start : start + 1], "meta": meta})

    def _exported(self, query: dict[str, str]) -> object:
        since, _, at = query.get("cursor", f"{query.get('start_time')}:0").partition(":")
        first = datetime.fromtimestamp(int(since), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        rows = [one for one in self.tickets.values() if one["updated_at"] >= first]
        start = int(at)
        return {
            "tickets": rows[start : start + PAGE],
            "after_cursor": f"{since}:{start + PAGE}",
            "end_of_stream": len(rows) <= start + PAGE,
        }
