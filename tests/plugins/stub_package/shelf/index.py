"""An index engine: that of Whoosh in a folder of its own."""

from collections.abc import Mapping
from pathlib import Path

from ultracrawl.index.whoosh import WhooshIndex
from ultracrawl.rules.attributes.schema import SearchAttribute


class ShelfIndex(WhooshIndex):
    """Keeps its files in `shelf`."""

    def __init__(self, *, path: Path, attributes: Mapping[str, SearchAttribute]) -> None:
        super().__init__(path / "shelf", attributes)
