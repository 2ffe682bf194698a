"""A destination: a list of what is on the shelf."""

from collections.abc import Mapping
from pathlib import Path

from ultracrawl.index import IndexDocument
from ultracrawl.index.destinations import Batch, Destination
from ultracrawl.index.engine import Json


class Listing(Destination):
    """Appends the titles of documents to a file."""

    def __init__(self, name: str, options: Mapping[str, Json]) -> None:
        self._path = Path(str(options["file"]))

    def deliver(self, batch: Batch) -> int:
        """Add the titles of a batch."""
        titles = [change.title for change in batch.changes if isinstance(change, IndexDocument)]
        with self._path.open("a") as file:
            file.writelines(f"{title}\n" for title in titles)
        return len(titles)
