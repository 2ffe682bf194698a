"""Recognises the XML files of FAST crawl collections."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ultracrawl.sources.dialects.port import Dialect

if TYPE_CHECKING:
    from ultracrawl.sources import Loaded

_YAML = re.compile(rb"^\w+:", re.MULTILINE)
_XML = re.compile(rb"\s*<(\?xml|!DOCTYPE|!--|CrawlerConfig[\s>/])")


def _read(path: Path) -> Loaded:
    from ultracrawl.dialects.fast_xml.reader import read_collections  # noqa: PLC0415 - only its users wait for it

    return read_collections(path)


def _recognises(name: str, head: bytes) -> bool:
    """Return whether a file is XML of a collection, or was meant to be: then what it lacks is told in words of XML."""
    return bool(_XML.match(head)) or (
        name.endswith(".xml") and (head.lstrip().startswith(b"<") or not _YAML.search(head))
    )


DIALECT = Dialect("a FAST collection", _recognises, _read)
