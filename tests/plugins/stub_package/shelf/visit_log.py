"""A log."""

from collections.abc import Mapping
from typing import Any

from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.hooks import Feature


class VisitLog(Feature):
    def __init__(self, context: CrawlContext, options: Mapping[str, Any]) -> None:
        self._file = (context.project.base / options["file"]).open("a")

    def visit_ended(self, visit: Visit) -> None:
        print(visit.url, visit.outcome, sep=",", file=self._file)

    async def closed(self) -> None:
        self._file.close()
