"""Recognises the XML files of FAST crawl collections."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.sources.dialects.port import Dialect

if TYPE_CHECKING:
    from ultracrawl.sources import Loaded

_XML = re.compile(rb"\s*<(\?xml|!DOCTYPE|!--|CrawlerConfig[\s>/])")
_TAG = re.compile(rb"\s*<[A-Za-z]")


def _read(path: Path) -> Loaded:
    from ultracrawl.dialects.fast_xml.reader import read_collections  # noqa: PLC0415 - only its users wait for it

    return read_collections(path)


def _recognises(name: str, head: bytes) -> bool:
    return bool(_XML.match(head) or (name.endswith(".xml") and _TAG.match(head)))


DIALECT = Dialect("a FAST collection", _recognises, _read)
