"""The features of one crawl by their class, and the rows from which they are built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from scrapy.exceptions import NotConfigured

from ultracrawl.run.indexing.items import may_have_readers

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.filters.filtering import Filtering

P = TypeVar("P")


class Moment(Enum):
    """When a feature is built."""

    CREATED = auto()
    """With the crawler, before anything is opened: Scrapy components may use it."""
    STORED = auto()
    """When the stores are open, before the run begins: it may decide what the run fetches."""
    BEGUN = auto()
    """When the run has begun and the index writer is open."""


class Parts:
    """The features of one crawl by their class. Their order is that of the rows, whenever they were built."""

    def __init__(
        self, context: CrawlContext, crawler: Crawler, rows: Sequence[Row[Any]], filtering: Filtering | None
    ) -> None:
        self.context = context
        self.crawler = crawler
        self.filtering = filtering
        """The filters of the source, if it has any; their class is slow to import."""
        self._rows = rows
        self._made: dict[type[object], object] = {}

    @property
    def items_have_readers(self) -> bool:
        """Whether items may have readers of their own, see `may_have_readers`."""
        return may_have_readers(self.crawler, self.context.source)

    def add_part(self, part: object) -> None:
        """Add a part that is no row, because the context itself is made with it."""
        self._made[type(part)] = part

    def build(self, moment: Moment) -> None:
        """Build the features of a moment that this source uses, in the order of their rows.

        Raises `NotConfigured` if one needs a feature that is not built yet, or that this source does not use.
        """
        for row in self._rows:
            if row.moment is moment and row.used(self):
                part = row.make(self)
                if part is not None:
                    self._made[row.feature] = part

    def drop(self, kind: type[object]) -> None:
        """Remove a feature of which the begin of the run has shown that it is not used."""
        del self._made[kind]

    def __getitem__(self, kind: type[P]) -> P:
        """Return the feature of a class. Raises `NotConfigured` if the crawl has none."""
        part = self.get(kind)
        if part is None:
            raise NotConfigured(f"the crawl has no {kind.__name__}")
        return part

    def get(self, kind: type[P]) -> P | None:
        """Return the feature of a class; None if the source does not use it."""
        return self._made.get(kind)  # type: ignore[return-value]  # each class has its own instance

    def in_order(self, *, inspected: bool = False) -> Iterator[object]:
        """Yield what was put, then the features of the rows in their order.

        With `inspected` only those that are also used when single pages are looked at.
        """
        listed = [row for row in self._rows if row.inspected or not inspected]
        kinds = {row.feature for row in self._rows}
        yield from (part for kind, part in self._made.items() if kind not in kinds)
        yield from (self._made[row.feature] for row in listed if row.feature in self._made)


def always(_: Parts) -> bool:
    """Say that every source uses a feature."""
    return True


class Row(NamedTuple, Generic[P]):
    """One feature of the declared list."""

    feature: type[P]
    make: Callable[[Parts], P | None]
    """Builds it; what it needs of other features it takes from the parts by their class."""
    why: str
    """Why it stands here: features are called in the order of their rows."""
    used: Callable[[Parts], bool] = always
    """Whether the source uses it; else it does not exist."""
    moment: Moment = Moment.CREATED
    inspected: bool = False
    """Whether its hooks are called when single pages are looked at, too."""
