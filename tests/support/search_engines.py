"""Search engines as far as destinations use them: what their HTTP interfaces are documented to do with records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from support.resource import Reply
from support.server import Request

Record = dict[str, Any]


def reply(status: int, value: object) -> Reply:
    return Reply(status, (("Content-Type", "application/json"),), json.dumps(value).encode())


def lines(body: bytes) -> list[Any]:
    return [json.loads(line) for line in body.splitlines()]


@dataclass
class Engine:
    """One collection, and what came in; `interfere` may answer in its place."""

    came: list[Request] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    exists: bool = False
    interfere: Callable[[Request], Reply | None] = lambda _: None

    def answer(self, request: Request) -> Reply:
        self.came.append(request)
        other = self.interfere(request)
        return other if other is not None else self.handle(request, urlsplit(unquote(request.path)))

    def handle(self, request: Request, parts: Any) -> Reply:
        raise NotImplementedError

    def removed(self, keys: list[str]) -> None:
        self.records = {name: one for name, one in self.records.items() if one.get("document") not in keys}

    def taken(self, records: list[Record]) -> None:
        self.records |= {one["id"]: one for one in records}


class OpenSearch(Engine):
    """`_bulk`, `_refresh`, `_delete_by_query`, `_mapping`. What is put is searched after a refresh only."""

    def __init__(self) -> None:
        super().__init__()
        self.mapping: Any = None
        self.unseen: dict[str, Record] = {}

    def handle(self, request: Request, parts: Any) -> Reply:
        verb = parts.path.rpartition("/")[2]
        if request.method == "PUT":
            self.mapping = json.loads(request.body)["mappings"]
            return reply(200, {"acknowledged": True})
        if self.mapping is None:
            return reply(404, {"error": "index_not_found_exception", "status": 404})
        if verb == "_mapping":
            return reply(200, {"docs-1": {"mappings": self.mapping}})
        if verb == "_refresh":
            self.records, self.unseen = self.records | self.unseen, {}
        elif verb == "_delete_by_query":
            self.removed(json.loads(request.body)["query"]["terms"]["document"])
            return reply(200, {"deleted": 0, "failures": []})
        elif verb == "_bulk":
            rows = lines(request.body)
            items = []
            for action, record in zip(rows[::2], rows[1::2], strict=True):
                assert action["index"]["_id"] == record["id"]
                self.unseen[record["id"]] = record
                items.append({"index": {"_id": record["id"], "status": 201}})
            return reply(200, {"errors": False, "items": items})
        return reply(200, {})


class Meilisearch(Engine):
    """Changes are tasks, which end some looks later; a filter needs its attribute among the filterable ones."""

    def __init__(self) -> None:
        super().__init__()
        self.filterable: list[str] = []
        self.tasks: list[dict[str, Any]] = []
        self.pending: list[Callable[[], None]] = []

    def enqueue(self, work: Callable[[], None]) -> Reply:
        self.tasks.append({"uid": len(self.tasks), "status": "enqueued"})
        self.pending.append(work)
        return reply(202, {"taskUid": len(self.tasks) - 1, "status": "enqueued"})

    def handle(self, request: Request, parts: Any) -> Reply:
        value = (
            json.loads(request.body)
            if request.body and "ndjson" not in str(request.header("Content-Type"))
            else None
        )
        match request.method, parts.path.strip("/").split("/"):
            case "GET", ["tasks", number]:
                task = self.tasks[int(number)]
                if task["status"] == "enqueued":
                    task["status"] = "processing"
                elif task["status"] == "processing":
                    self.pending[int(number)]()
                    task["status"] = "succeeded"
                return reply(200, task)
            case "GET", ["indexes", _]:
                return (
                    reply(200, {"primaryKey": "id"})
                    if self.exists
                    else reply(404, {"code": "index_not_found"})
                )
            case "GET", ["indexes", _, "settings", "filterable-attributes"]:
                return reply(200, self.filterable)
            case "POST", ["indexes"]:
                return self.enqueue(lambda: setattr(self, "exists", True))
            case "PATCH", ["indexes", _, "settings"]:
                return self.enqueue(lambda: setattr(self, "filterable", value["filterableAttributes"]))
            case "PUT", ["indexes", _, "settings", "filterable-attributes"]:
                return self.enqueue(lambda: setattr(self, "filterable", value))
            case "POST", ["indexes", _, "documents", "delete"]:
                keys = re.findall(r'"(\w+)"', value["filter"])
                assert "document" in self.filterable
                return self.enqueue(lambda: self.removed(keys))
            case "POST", ["indexes", _, "documents"]:
                records = lines(request.body)
                return self.enqueue(lambda: self.taken(records))
        return reply(404, {"code": "not_found"})


class Typesense(Engine):
    """`documents/import` answers each line; a collection has to be made before."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: list[dict[str, Any]] = []
        self.failing: dict[str, dict[str, Any]] = {}
        """Answers for lines whose title is the key."""

    def handle(self, request: Request, parts: Any) -> Reply:
        match request.method, parts.path.strip("/").split("/"):
            case "POST", ["collections"]:
                self.fields, self.exists = json.loads(request.body)["fields"], True
                return reply(201, {})
            case _ if not self.exists:
                return reply(404, {"message": "Not Found"})
            case "GET", ["collections", _]:
                return reply(200, {"fields": self.fields})
            case "DELETE", ["collections", _, "documents"]:
                (condition,) = parse_qs(parts.query)["filter_by"]
                field_, _, values = condition.partition(":=")
                assert field_ == "document"
                self.removed(values.strip("[]").split(","))
                return reply(200, {"num_deleted": 1})
            case "POST", ["collections", _, "documents", "import"]:
                answers = [self.failing.get(one["title"], {"success": True}) for one in lines(request.body)]
                self.taken(
                    [one for one, said in zip(lines(request.body), answers, strict=True) if said["success"]]
                )
                return Reply(200, (), b"\n".join(json.dumps(said).encode() for said in answers))
        return reply(404, {})


class Solr(Engine):
    """`update` with JSON; what is sent is there after a commit."""

    def __init__(self) -> None:
        super().__init__()
        self.uncommitted: list[Callable[[], None]] = []

    def handle(self, request: Request, parts: Any) -> Reply:
        if parts.path.endswith("/select"):
            return reply(200, {"response": {"numFound": len(self.records)}})
        value = json.loads(request.body)
        if isinstance(value, list):
            self.uncommitted.append(lambda: self.taken([self.plain(one) for one in value]))
        elif "delete" in value:
            keys = value["delete"]["query"].removeprefix("{!terms f=document_s}").split(",")
            self.uncommitted.append(lambda: self.removed(keys))
        else:
            for work in self.uncommitted:
                work()
            self.uncommitted.clear()
        return reply(200, {"responseHeader": {"status": 0}})

    @staticmethod
    def plain(fields: Record) -> Record:
        """Return a record whose names have no endings, as the tests of all engines compare it."""
        return {name.rpartition("_")[0] or name: value for name, value in fields.items()}


ENGINES: dict[str, type[Engine]] = {
    "elasticsearch": OpenSearch,
    "meilisearch": Meilisearch,
    "opensearch": OpenSearch,
    "solr": Solr,
    "typesense": Typesense,
}
