"""A spider for `peers.py` that fetches, parses, follows and records, but makes no documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scrapy.http import Response

from ultracrawl.model import Page
from ultracrawl.spiders import SourceSpider


class NoIndex(SourceSpider):
    """A source spider without documents, for measurements without the index."""

    def documents(self, response: Response, page: Page) -> Iterable[Any]:
        """Return no documents."""
        return []
