"""Conditional requests, detection of changes, and outcomes of responses (Ultra Search 6; RFC 9110 13.1)."""

from __future__ import annotations

import re
from hashlib import sha256

from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.model.status import REDIRECTS

_HALF = 16
"""Bytes of half a checksum."""
_UNREAD = b"unread!\n"
"""The first bytes of checksums of content that could not be converted; a version of the converters follows."""


def checksum(body: bytes) -> bytes:
    """Return the SHA-256 of a body, 32 bytes."""
    return sha256(body).digest()


_TOKEN_MARKS = (b"nonce", b"csrf", b"xsrf", b"_token", b"authenticity", b"verification")
_TOKEN = rb"(?:nonce|csrf|xsrf|(?<!\w)_token|authenticity_?token|verification_?token)"
_QUOTE = rb"""(?:\\?["']|&quot;|&#3[49];)?"""
_DRAWN_ANEW = (
    rb"""<(?:meta|input)\b(?=[^<>]{0,2000}\b(?:name|id)\s{0,9}=\s{0,9}["']?[\w.-]{0,40}"""
    + _TOKEN
    + rb")[^<>]*"
    rb"|" + _TOKEN + rb"[\w-]{0,40}" + _QUOTE + rb"\s{0,9}[=:]\s{0,9}\[?" + _QUOTE + rb"[\w+/=.|:~%-]{1,999}"
)
"""Few crawls need it: it is compiled when it is first used."""


def steady_checksum(body: bytes) -> bytes:
    """Return the checksum of a body without what servers draw anew for each answer.

    That are nonces and the tokens that protect forms, by their names: in attributes (`nonce`), META and hidden fields
    (`csrf-token`, `_token`), and in scripts and data (`csrfToken: "…"`).
    """
    lower = body.lower()
    if any(mark in lower for mark in _TOKEN_MARKS):
        body = re.sub(_DRAWN_ANEW, b"", body, flags=re.IGNORECASE)
    return checksum(body)


def live_checksum(page: bytes, document: bytes) -> bytes:
    """Return the checksum of a document of which scripts made a part, of its own and of that of what its page showed.

    A half of it is that of the page as sent.
    """
    return page[:_HALF] + document[:_HALF]


def has_same_page(record: UrlRecord, page: bytes) -> bool:
    """Return whether a document was made of a page as sent with this checksum, with or without data beside it."""
    return record.checksum[:_HALF] == page[:_HALF]


def unread_checksum(body: bytes, version: bytes) -> bytes:
    """Return the checksum of content that no converter of a version (8 bytes) can read, of that of its body."""
    return _UNREAD + version + body[:_HALF]


def is_unread(checksum: bytes) -> bool:
    """Return whether a checksum is that of content that could not be converted."""
    return checksum.startswith(_UNREAD)


def stays_unread(record: UrlRecord, version: bytes, body: bytes = b"") -> bool:
    """Return whether a document was not converted at its latest visit, and this version cannot convert it either.

    It is unchanged: by the checksum of its body, or by its validators, if no `body` is given.
    """
    if record.outcome is not UrlOutcome.FAILED or record.status_code != StatusCode.CONVERSION_FAILED:
        return False
    return record.checksum.startswith(_UNREAD + version) and record.checksum.endswith(body[:_HALF])


def is_known(record: UrlRecord | None) -> bool:
    """Return whether the content of the URL was read before and is still valid.

    The record of a document that vanished, or was lost before it was indexed, has no checksum; that of one which could
    not be converted is marked.
    """
    return record is not None and bool(record.checksum) and not is_unread(record.checksum)


def classify(record: UrlRecord | None, checksum: bytes, force: bool = False) -> UrlOutcome:
    """Compare a checksum with the record: NEW, MODIFIED or UNMODIFIED.

    With `force` known content is MODIFIED even if it is equal, so that it is processed again. So is what replaces a
    document in the index whose last version could not be converted.
    """
    if record is None or not (is_known(record) or (record.retained and is_unread(record.checksum))):
        return UrlOutcome.NEW
    return UrlOutcome.MODIFIED if force or record.checksum != checksum else UrlOutcome.UNMODIFIED


_MAX_VALIDATOR_LENGTH = 4096
"""Maximum characters of a validator to send back; many servers refuse requests with headers of 8 KB."""
_UNSAFE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]")


def conditional_headers(record: UrlRecord | None, force: bool = False) -> dict[str, str]:
    """Return If-None-Match and If-Modified-Since for a URL whose content is known, else no headers.

    Validators are sent as received, strong or weak, and both if both are known: a server that
    understands entity tags ignores the date (RFC 9110 13.1.3). None are sent with `force`, or if the
    content was never read, since a 304 would then leave the crawler without it.
    """
    if force or record is None or not is_known(record):
        return {}
    return validator_headers(record.etag, record.last_modified)


def validator_headers(etag: str, last_modified: str) -> dict[str, str]:
    """Return If-None-Match and If-Modified-Since for validators as received, except invalid ones."""
    headers = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value.strip() for name, value in headers.items() if _is_sendable(value)}


def _is_sendable(validator: str) -> bool:
    if not validator.strip() or len(validator) > _MAX_VALIDATOR_LENGTH:
        return False
    return not _UNSAFE.search(validator)


_OUTCOMES = {
    304: UrlOutcome.NOT_MODIFIED,
    404: UrlOutcome.GONE,
    410: UrlOutcome.GONE,
}


def outcome_of_status(status: int) -> UrlOutcome:
    """Return the outcome of an HTTP status other than 200.

    Only 404 and 410 mean that a document is gone; every other status that is neither success nor a redirect leaves
    the indexed document as it is (checklist 19, 22). 201 to 299 are NOT_INDEXED, because only 200
    is indexed (checklist 12). Raises `ValueError` for 200, whose outcome depends on the content, see `classify`.
    """
    if status == 200:
        raise ValueError("the outcome of status 200 depends on the content")
    if status in _OUTCOMES:
        return _OUTCOMES[status]
    if status in REDIRECTS:
        return UrlOutcome.REDIRECTED
    return UrlOutcome.NOT_INDEXED if 200 < status < 300 else UrlOutcome.HTTP_ERROR


TRUSTED_FOR = 30 * 86_400.0
"""Seconds after which a page is requested whatever sitemaps say, so that no wrong date hides a change for ever."""

CLOCK_SKEW = 60.0
"""Seconds by which the clock of a site may be behind the crawler's."""

OLDEST = 662_688_000.0
"""The beginning of 1991: no web page is older; an earlier date means that none was set."""


def is_credible(changed: float, now: float) -> bool:
    """Return whether a date of change is credible: neither in the future nor before the web existed."""
    return OLDEST <= changed <= now + CLOCK_SKEW


def proves_unchanged(latest: float, record: UrlRecord, now: float) -> bool:
    """Return whether a page that changed last at `latest` (or before) is still as it was fetched.

    Times are seconds since the epoch. True only if the last visit fetched the page or found it unchanged:
    not for one that was gone, redirected or failing, or whose visit is in the future (a clock was ahead).
    Not for a duplicate either: its document must be available when the indexed one is removed. Nor for a page whose
    new version is held back.
    """
    if (
        not is_known(record)
        or record.failed_runs
        or record.held_back
        or record.outcome is UrlOutcome.DUPLICATE
    ):
        return False
    if not now - TRUSTED_FOR <= record.last_fetched <= now + CLOCK_SKEW:
        return False
    return latest + CLOCK_SKEW <= record.last_fetched
