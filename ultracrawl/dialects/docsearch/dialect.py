"""Recognises the JSON files of DocSearch scrapers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.sources.dialects.port import Dialect

if TYPE_CHECKING:
    from ultracrawl.sources import Loaded

_KEY = re.compile(rb'"(index_name|index_uid|selectors)"\s*:')


def _read(path: Path) -> Loaded:
    from ultracrawl.dialects.docsearch.reader import read_scraper  # noqa: PLC0415 - only its users wait for it

    return read_scraper(path)


DIALECT = Dialect(
    "a docsearch.json", lambda _, head: head.lstrip().startswith(b"{") and bool(_KEY.search(head)), _read
)
