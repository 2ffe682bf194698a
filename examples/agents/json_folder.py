"""An agent for a folder of JSON files, each with a document: `url`, `title`, `text`, `author`, `published`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from ultracrawl.agents import AgentError, AgentParameter, CrawlerAgent, UrlData


class JsonFolder(CrawlerAgent):
    """Names every document there is; what changed, and what is gone, the crawl finds by itself."""

    parameters: ClassVar = [AgentParameter("folder", "where the files lie", required=True)]

    def open(self, params: Mapping[str, Any]) -> None:
        """Look whether the folder is there; an empty listing would mean that all documents are gone."""
        self._folder = Path(params["folder"])
        if not self._folder.is_dir():
            raise AgentError(f"{self._folder} is no folder")

    def start_crawling(self, force_recrawl: bool, last_crawl_time: datetime | None) -> None:
        """Begin with the first file."""
        self._documents = self._read_files()

    def fetch(self) -> UrlData | None:
        """Return the document of the next file."""
        return next(self._documents, None)

    def _read_files(self) -> Iterator[UrlData]:
        for path in sorted(self._folder.rglob("*.json")):
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                yield UrlData(
                    found["url"],
                    doc_key=str(path.relative_to(self._folder)),
                    title=found["title"],
                    text=found["text"],
                    attributes={name: found[name] for name in ("author", "published") if name in found},
                )
            except (OSError, ValueError, KeyError) as error:
                raise AgentError(f"{path}: {type(error).__name__}: {error}") from error
