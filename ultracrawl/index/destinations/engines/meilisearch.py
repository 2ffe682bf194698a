"""Meilisearch as a destination. Each change is a task of the server, which carries them out in their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ultracrawl.index.destinations.engines.engine_destination import EngineServer, line_of
from ultracrawl.index.destinations.engines.records import DOCSEARCH, FACETS
from ultracrawl.index.engine import Json
from ultracrawl.model.page import SECTION_LEVELS

FILTERABLE = ("document", "source", "acl", "public", "attributes", "type", "hierarchy")
TITLES = tuple(f"hierarchy.lvl{level}" for level in range(SECTION_LEVELS))
SETTINGS = {
    "filterableAttributes": FILTERABLE,
    "sortableAttributes": ("depth", "position", "attributes"),
    "searchableAttributes": (
        "title",
        *(f"hierarchy.lvl{level}" for level in range(7)),
        "content",
        "text",
        "attributes",
    ),
}
_FLAT = (
    *(f"hierarchy_radio_lvl{level}" for level in range(SECTION_LEVELS)),
    *(f"hierarchy_lvl{level}" for level in range(SECTION_LEVELS)),
)
SETTINGS_OF_SCRAPERS = {
    "filterableAttributes": (*FILTERABLE, *FACETS, "url"),
    "sortableAttributes": SETTINGS["sortableAttributes"],
    "searchableAttributes": (*_FLAT, "content"),
    "rankingRules": (
        *("words", "typo", "attribute", "proximity", "exactness"),
        *("page_rank:desc", "level:desc", "position:asc"),
    ),
    "distinctAttribute": "url",
}
"""Those with which docs-scraper fills an index: the best record of a section is shown."""
_ENDED = {"succeeded", "failed", "canceled"}


class MeilisearchDestination(EngineServer):
    """An index of Meilisearch."""

    _tasks: list[int]

    @property
    def _settings(self) -> Mapping[str, object]:
        return SETTINGS_OF_SCRAPERS if self.form == DOCSEARCH else SETTINGS

    def prepare_collection(self) -> None:
        """Make the index with settings, or check its primary key, and that records can be removed by document."""
        self._tasks = []
        status, found = self.request("GET", f"/indexes/{self.collection}", accept=(404,))
        if status == 404:
            self._do("POST", "/indexes", {"uid": self.collection, "primaryKey": "id"})
            self._do("PATCH", f"/indexes/{self.collection}/settings", self._settings)
        elif found.get("primaryKey") not in ("id", None):
            raise self.client.failure(f"the index {self.collection} was made by something else; name another")
        else:
            path = f"/indexes/{self.collection}/settings/filterable-attributes"
            _, names = self.request("GET", path)
            if "document" not in names:
                self._do("PUT", path, [*names, "document"])
        self.finish()

    def remove_documents(self, keys: Sequence[str]) -> None:
        """Remove records by their document."""
        names = ", ".join(f'"{key}"' for key in keys)
        self._do("POST", f"/indexes/{self.collection}/documents/delete", {"filter": f"document IN [{names}]"})

    def put_records(self, records: Iterable[dict[str, Json]]) -> None:
        """Add or replace records."""
        path = f"/indexes/{self.collection}/documents?primaryKey=id"
        made = map(_with_flat_names, records) if self.form == DOCSEARCH else records
        for _, answer in self.send_lines(path, map(line_of, made)):
            self._tasks.append(json.loads(answer)["taskUid"])

    def finish(self) -> None:
        """Wait until all tasks have ended. Raises `WorkError` if one has failed."""
        while self._tasks:
            task, pauses = self._task(), self.client.pauses("its tasks do not end")
            while task["status"] not in _ENDED:
                next(pauses)
                task = self._task()
            if task["status"] != "succeeded":
                number, self._tasks = self._tasks[0], []
                raise self.client.failure(
                    f"the task {number} has ended as {task['status']}: {task.get('error')}"
                )
            del self._tasks[0]

    def _task(self) -> dict[str, Any]:
        _, task = self.request("GET", f"/tasks/{self._tasks[0]}")
        return dict(task)

    def _do(self, method: str, path: str, value: object) -> None:
        _, task = self.request(method, path, value)
        self._tasks.append(task["taskUid"])


def _with_flat_names(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return a record with the names that docs-scraper writes, too, which the boxes of Meilisearch read."""
    flat: dict[str, Json] = {}
    for group in ("hierarchy", "hierarchy_radio"):
        titles = record[group]
        assert isinstance(titles, dict)
        flat |= {f"{group}_{level}": title for level, title in titles.items()}
    weight = record["weight"]
    assert isinstance(weight, dict)
    return {**flat, **weight, **record}
