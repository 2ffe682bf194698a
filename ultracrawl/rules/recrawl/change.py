"""What is asked of a known URL, and what its answer or its sitemap means (Ultra Search 6; RFC 9110 13.1)."""

from __future__ import annotations

import re
from hashlib import sha256

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.status import REDIRECTS


def checksum(body: bytes) -> bytes:
    """Return the SHA-256 of a body, 32 bytes."""
    return sha256(body).digest()


def is_known(record: UrlRecord | None) -> bool:
    """Return whether the content of the URL was read before and nothing that happened since made it void.

    A document that vanished, or that was lost before the index took it, has no checksum in its record.
    """
    return record is not None and bool(record.checksum)


def classify(record: UrlRecord | None, checksum: bytes, force: bool = False) -> UrlOutcome:
    """Compare a checksum with what is known: NEW, MODIFIED or UNMODIFIED.

    With `force` known content is MODIFIED even if it is equal, so that it is processed again.
    """
    if record is None or not is_known(record):
        return UrlOutcome.NEW
    return UrlOutcome.MODIFIED if force or record.checksum != checksum else UrlOutcome.UNMODIFIED


_LONGEST_VALIDATOR = 4096
"""Characters of a validator that is sent back; many servers refuse requests with headers of 8 KB."""
_UNSAFE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]")


def conditional_headers(record: UrlRecord | None, force: bool = False) -> dict[str, str]:
    """Return If-None-Match and If-Modified-Since for a URL whose content is known, else nothing.

    Validators go back as the server sent them, strong or weak, and both if both are known: a server that
    understands entity tags passes over the date (RFC 9110 13.1.3). Nothing is sent with `force`, or if the
    content was never read: a 304 would then leave us without it.
    """
    if force or record is None or not is_known(record):
        return {}
    return validator_headers(record.etag, record.last_modified)


def validator_headers(etag: str, last_modified: str) -> dict[str, str]:
    """Return If-None-Match and If-Modified-Since for validators as a server sent them; none that cannot be sent."""
    headers = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value.strip() for name, value in headers.items() if _is_sendable(value)}


def _is_sendable(validator: str) -> bool:
    return bool(validator.strip()) and len(validator) <= _LONGEST_VALIDATOR and not _UNSAFE.search(validator)


_NAMED = {
    304: UrlOutcome.NOT_MODIFIED,
    404: UrlOutcome.GONE,
    410: UrlOutcome.GONE,
}


def outcome_of_status(status: int) -> UrlOutcome:
    """Return the outcome of an HTTP status other than 200.

    Only 404 and 410 say that a document is gone; whatever else is neither success nor a redirect leaves what is
    indexed as it is (checklist 19, 22). Success without a whole page (201 to 299) is NOT_INDEXED, because only 200
    is indexed (checklist 12). Raises `ValueError` for 200: there the content decides, see `classify`.
    """
    if status == 200:
        raise ValueError("the outcome of status 200 depends on the content")
    if status in _NAMED:
        return _NAMED[status]
    if status in REDIRECTS:
        return UrlOutcome.REDIRECTED
    return UrlOutcome.NOT_INDEXED if 200 < status < 300 else UrlOutcome.HTTP_ERROR


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
