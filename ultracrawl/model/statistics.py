"""The summary numbers of a run that a log ends with (Ultra Search 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields

from ultracrawl.model.outcome import UrlOutcome
from ultracrawl.model.status import StatusCode

_FAILURES = (UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.GONE)
_WRONG_TYPE = (StatusCode.WRONG_TYPE, StatusCode.BINARY_AS_TEXT)
_CONVERSION = (StatusCode.CONVERSION_FAILED, StatusCode.CONVERTER_MISSING)


@dataclass(frozen=True, slots=True)
class CrawlStatistics:
    """Counts of URLs; each URL or excluded link counts in exactly one of the first four."""

    to_fetch: int
    """Still queued when the run ended."""
    fetched: int
    """Answered with a document, a redirect, or 304 (not modified)."""
    failures: int
    """Not fetched: no connection, time-out, server error, no permission, not found."""
    rejected: int
    """Excluded by the boundary, robots.txt, the media type, the depth, the rewriter or a limit."""
    indexed: int
    """Indexed by this run, or waiting for approval."""
    not_indexable: int
    """Fetched but not indexed because of a directive or their size, or because only their links are used."""
    conversion_failures: int
    """Fetched but not converted."""

    @property
    def discovered(self) -> int:
        """The sum of the first four counts."""
        return self.to_fetch + self.fetched + self.failures + self.rejected

    @classmethod
    def count(
        cls,
        outcomes: Counter[UrlOutcome],
        codes: Counter[int],
        *,
        to_fetch: int,
        links_excluded: int,
        indexed: int,
    ) -> CrawlStatistics:
        """Derive the numbers from the counts of a run; `links_excluded` counts links that were never queued."""
        failures = sum(outcomes[outcome] for outcome in _FAILURES)
        wrong_type = sum(codes[code] for code in _WRONG_TYPE)
        rejected = outcomes[UrlOutcome.ROBOTS] + outcomes[UrlOutcome.REJECTED] + wrong_type
        unconverted = sum(codes[code] for code in _CONVERSION)
        return cls(
            to_fetch=max(to_fetch, 0),
            fetched=outcomes.total() - failures - rejected,
            failures=failures,
            rejected=rejected + links_excluded,
            indexed=indexed + outcomes[UrlOutcome.PENDING],
            not_indexable=max(outcomes[UrlOutcome.NOT_INDEXED] - wrong_type - unconverted, 0),
            conversion_failures=unconverted,
        )

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield (name, count) pairs in the order of the log."""
        for position, field in enumerate(fields(self)):
            if position == 4:
                yield "discovered", self.discovered
            yield field.name, getattr(self, field.name)
