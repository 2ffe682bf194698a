"""Whether a sitemap makes a request unnecessary: the page has not changed since it was fetched."""

from __future__ import annotations

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.change import is_known

TRUSTED_FOR = 30 * 86_400.0
"""Seconds after which a page is asked for again whatever sitemaps say: no wrong date hides a change for ever."""

CLOCK_SKEW = 60.0
"""Seconds by which the clock of a site may be behind ours."""

OLDEST = 662_688_000.0
"""The beginning of 1991: no page of the web is older, an earlier date means that none was set."""


def is_statement(changed: float, now: float) -> bool:
    """Return whether a time says something about a page; one that is to come or before the web does not."""
    return OLDEST <= changed <= now + CLOCK_SKEW


def vouches(latest: float, record: UrlRecord, now: float) -> bool:
    """Return whether a page that changed last at `latest` (or before) is still as it was fetched.

    Times are seconds since the epoch. Only a page whose last visit brought it, or proved it unchanged, is
    vouched for: not one that was gone, redirected or failing, nor one whose visit is to come (a clock was ahead).
    A duplicate is not either: it has to be at hand when the document that it repeats goes.
    """
    if not is_known(record) or record.failed_runs or record.outcome is UrlOutcome.DUPLICATE:
        return False
    if not now - TRUSTED_FOR <= record.last_fetched <= now + CLOCK_SKEW:
        return False
    return latest + CLOCK_SKEW <= record.last_fetched
