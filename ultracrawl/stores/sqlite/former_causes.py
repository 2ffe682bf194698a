"""Converts causes and removals, stored as sentences before schema 22, to codes with data.

The patterns match the sentences of that time; never adapt them to the texts of today.
"""

from __future__ import annotations

import json
import re
import sqlite3
from functools import lru_cache

from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Removal, RemovalReason, UrlOutcome
from ultracrawl.model.status import http_status_text

_C = CauseCode
_WHOLE = frozenset({UrlOutcome.GONE, UrlOutcome.HTTP_ERROR, UrlOutcome.NOT_INDEXED})
_KEPT = frozenset(
    {
        UrlOutcome.NEW,
        UrlOutcome.MODIFIED,
        UrlOutcome.UNMODIFIED,
        UrlOutcome.NOT_MODIFIED,
        UrlOutcome.PENDING,
    }
)
_SENTENCES = (
    (_C.REDIRECT, r"to (?P<subject>.*)"),
    (_C.SAME_CONTENT, r"has the content of (?P<subject>.*)"),
    (_C.SAME_DISPLAY_URL, r"(?P<detail>\S+) is the display URL of (?P<subject>.*)"),
    (_C.REPLACES, r"takes the place of (?P<subject>.*) when that leaves the index"),
    (_C.EXPIRES, r"it names the day on which it leaves the index"),
    (_C.SITEMAP_DATE, r"sitemap lastmod"),
    (_C.REMOVED_BY_HAND, r"removed by hand"),
    (_C.DIRECTORY, r"directory with (?P<subject>\d+) entries"),
    (_C.FEED, r"feed with (?P<subject>\d+) entries, (?P<detail>.*)"),
    (_C.NO_FEED, r"no feed: (?P<detail>.*)"),
    (_C.SITEMAP, r"sitemap \((?P<subject>\w+)\) with (?P<detail>\d+ entries.*)"),
    (_C.NO_SITEMAP, r"no sitemap: (?P<detail>.*)"),
    (_C.NO_SITEMAP_ANSWER, r"an answer without a sitemap"),
    (_C.ROBOTS, r"30031 excluded by robots\.txt: (?P<subject>.*) \((?P<detail>.*)\)"),
    (_C.NOINDEX, r"META robots or X-Robots-Tag: noindex"),
    (_C.RESERVED, r"the page is reserved: (?P<subject>.*)"),
    (_C.UNAVAILABLE_AFTER, r"unavailable_after has passed"),
    (_C.LANGUAGE, r"focused: its language is (?P<subject>.*)"),
    (_C.FOLLOWED_TYPE, r"follow_only_types: (?P<subject>.*) is not indexed"),
    (
        _C.FILTER,
        r"(?P<subject>site not allowed|protocol not allowed|filter rules|duplication|depth|max hosts|max objects"
        r"|\S+ answered REQ_\w+)(?:: (?P<detail>.*))?",
    ),
    (_C.NO_DESCRIPTION, r"the generation filter denied it"),
    (_C.NO_DOCUMENT, r"the spider made no document of it"),
    (_C.DROPPED, r"dropped: (?P<detail>.*)"),
    (_C.TYPE, r"30041 excluded by type: (?P<subject>.*) is not accepted"),
    (_C.TYPE_NOT_CONVERTED, r"30041 excluded by type: (?P<subject>.*) is not converted \(conversion\)"),
    (
        _C.BINARY_AS_TEXT,
        r"30126 binary document reported as text: (?P<detail>.*) declared, (?P<subject>.*) found",
    ),
    (_C.HEADER, r"exclude_headers (?P<subject>\S+): (?P<detail>.*)"),
    (_C.EMPTY, r"the document is empty"),
    (_C.TOO_LONG, r"longer than (?P<subject>\d+) bytes \(cut_off\)"),
    (_C.UNRENDERED, r"its scripts were not run: (?P<detail>.*)"),
    (_C.REDIRECT_OUTSIDE, r"30040 (?P<subject>.*?): (?P<detail>\S+ --\[.*)"),
    (_C.REDIRECT_REFUSED, r"(?P<subject>.*?): (?P<detail>\S+ --\[.*)"),
    (_C.FTP_REPLY, r"FTP (?P<subject>\d.*)"),
    (_C.TIMEOUT, r"30057 timeout reading the document(?:: (?P<detail>.*))?"),
    (_C.CONNECTION_REFUSED, r"30025 connection refused(?:: (?P<detail>.*))?"),
    (_C.CONNECTION_BROKEN, r"the connection broke(?:: (?P<detail>.*))?"),
    (_C.BODY_BROKEN, r"the server broke off the body(?:: (?P<detail>.*))?"),
    (_C.HOST_UNKNOWN, r"the host name cannot be resolved(?:: (?P<detail>.*))?"),
    (_C.LOGIN_FAILED, r"form login failed(?:: (?P<detail>.*))?"),
    (_C.PROXY_LOGIN, r"the proxy refused user and password(?:: (?P<detail>.*))?"),
    (_C.TOO_LARGE, r"the body is too large(?:: (?P<detail>.*))?"),
    (_C.SCHEME, r"unsupported scheme(?:: (?P<detail>.*))?"),
    (_C.ADDRESS, r"address refused(?:: (?P<detail>.*))?"),
    (_C.IO_ERROR, r"I/O error(?:: (?P<detail>.*))?"),
    (_C.NO_CONVERTER, r"there is no converter for (?P<subject>.*)"),
    (_C.UNREADABLE, r"the page could not be read: (?P<detail>.*)"),
    (_C.NOT_STORED, r"its answer could not be read from the stored documents"),
    (_C.LOST, r"lost in (?P<subject>[^:]*): (?P<detail>.*)"),
    (_C.UNLINKED, r"nothing led to it for (?P<subject>\d+) cycles"),
    (_C.DAY_OVER, r"rd-expires (?P<subject>\S+)"),
    (_C.FEED_OVER, r"its time in the feed is over"),
    (_C.STATE_LOST, r"no page led to it since the state was lost"),
)
"""Codes with the patterns of their sentences."""


def cause_of(text: str, outcome: str, status: int) -> Cause:
    """Return the cause of a stored sentence; an unknown sentence becomes a cause with the code STATED."""
    if not text:
        return NO_CAUSE
    if outcome in _WHOLE and (found := _of_status(text, status)):
        return found
    for code, pattern in _SENTENCES:
        if match := re.fullmatch(pattern, text, re.DOTALL):
            return Cause(code, **{name: value or "" for name, value in match.groupdict().items()})
    if outcome in _KEPT:
        return Cause(_C.PART, detail=text)
    heading, colon, rest = text.partition(": ")
    return Cause(_C.STATED, heading, rest) if colon and rest else Cause(_C.STATED, text)


def _of_status(text: str, status: int) -> Cause | None:
    sentence, colon, detail = text.partition(": error ")
    if sentence != http_status_text(status):
        return None
    return Cause(_C.STATUS, str(status), f"error {detail}" if colon else "")


def removal_of(text: str, status: int) -> Removal:
    """Return the removal of a stored sentence."""
    name, _, rest = text.partition(":")
    try:
        reason = RemovalReason(name)
    except ValueError:
        return Removal(RemovalReason.OTHER, Cause(_C.STATED, text))
    if reason is RemovalReason.SCOPE:
        return Removal(reason, Cause(_C.RULE, rest.strip()))
    return Removal(reason, cause_of(rest.strip(), name, status))


def add_functions(db: sqlite3.Connection) -> None:
    """Register the SQL functions that the migration to schema 22 uses."""
    cause = lru_cache(maxsize=1000)(cause_of)

    def part_of_cause(text: str, outcome: str, status: int, part: int) -> str:
        return _parts(cause(text, outcome, status))[part]

    def part_of_removal(text: str, status: int, part: int) -> str:
        removal = removal_of(text, status)
        return json.dumps(_parts(removal.cause), ensure_ascii=False) if part else removal.reason.value

    db.create_function("former_cause", 4, part_of_cause, deterministic=True)
    db.create_function("former_removal", 3, part_of_removal, deterministic=True)


def _parts(cause: Cause) -> tuple[str, str, str]:
    return cause.code.value, cause.subject, cause.detail
