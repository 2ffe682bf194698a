"""What became of the URLs of a run, in the few numbers that a log ends with (Ultra Search 3.2)."""

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
    """Numbers of documents; a URL counts once in one of the first four, a link that was excluded as well."""

    to_fetch: int
    """Still waiting when the run ended."""
    fetched: int
    """Answered with a document, a redirect, or 304 (not modified)."""
    failures: int  # word: the key of the report
    """Not fetched: no connection, a time-out, an error of the server, no permission, not found."""
    rejected: int
    """Excluded by the boundary, robots.txt, the media type, the depth, the rewriter or a limit."""
    indexed: int
    """In the index by this run, or waiting for an approval."""
    not_indexable: int
    """Fetched and kept out of the index by a directive, their size, or because they are read for links only."""
    conversion_failures: int
    """Fetched and not converted."""

    @property
    def discovered(self) -> int:
        """The sum of the first four."""
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
        """Count URLs by how they ended; `links_excluded` are the links that never became a URL of the source."""
        failures = sum(outcomes[outcome] for outcome in _FAILURES)
        wrong_type = sum(codes[code] for code in _WRONG_TYPE)
        refused = outcomes[UrlOutcome.ROBOTS] + outcomes[UrlOutcome.REJECTED] + wrong_type
        unconverted = sum(codes[code] for code in _CONVERSION)
        return cls(
            to_fetch=max(to_fetch, 0),
            fetched=outcomes.total() - failures - refused,
            failures=failures,
            rejected=refused + links_excluded,
            indexed=indexed + outcomes[UrlOutcome.PENDING],
            not_indexable=max(outcomes[UrlOutcome.NOT_INDEXED] - wrong_type - unconverted, 0),
            conversion_failures=unconverted,
        )

    def items(self) -> Iterator[tuple[str, int]]:
        """Yield name and number of each, in the order in which a log shows them."""
        for number, field in enumerate(fields(self)):
            if number == 4:
                yield "discovered", self.discovered
            yield field.name, getattr(self, field.name)
