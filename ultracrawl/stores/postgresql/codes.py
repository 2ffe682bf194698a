"""The numbers that stand for enums in the tables; a new member is appended, and none is ever moved or removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ultracrawl.errors import StateError
from ultracrawl.model import CauseCode, RemovalReason, UrlOutcome
from ultracrawl.stores.port.documents import Retained

_OUTCOMES: Sequence[str] = [
    "QUEUED",
    "NEW",
    "MODIFIED",
    "UNMODIFIED",
    "NOT_MODIFIED",
    "NOT_INDEXED",
    "DUPLICATE",
    "REDIRECTED",
    "GONE",
    "ROBOTS",
    "REJECTED",
    "HTTP_ERROR",
    "NETWORK_ERROR",
    "FAILED",
    "HELD_BACK",
    "PENDING",
    "REMOVED",
    "REINDEXED",
    "LIST",
]
"""A number is the place in this list."""
_CAUSES: Sequence[str] = [
    "stated",
    "rule",
    "redirect",
    "redirect-outside",
    "redirect-refused",
    "same-content",
    "same-display-url",
    "replaces",
    "canonical",
    "canonical-kept",
    "robots",
    "robots-unknown",
    "noindex",
    "reserved",
    "unavailable-after",
    "expires",
    "language",
    "followed-type",
    "filter",
    "no-content",
    "no-description",
    "no-document",
    "dropped",
    "given",
    "removed-by-hand",
    "type",
    "type-not-converted",
    "binary-as-text",
    "header",
    "alike",
    "wall",
    "empty",
    "too-long",
    "part",
    "no-text",
    "unrendered",
    "rendered",
    "directory",
    "feed",
    "no-feed",
    "sitemap",
    "no-sitemap",
    "no-sitemap-answer",
    "sitemap-date",
    "status",
    "ftp-reply",
    "timeout",
    "connection-refused",
    "connection-broken",
    "body-broken",
    "host-unknown",
    "login-failed",
    "proxy-login",
    "too-large",
    "scheme",
    "address",
    "io-error",
    "no-converter",
    "not-converted",
    "unreadable",
    "not-stored",
    "exception",
    "lost",
    "unlinked",
    "day-over",
    "feed-over",
    "unlisted",
    "state-lost",
    "answer-malformed",
    "nothing-listed",
    "no-start",
    "tls-failed",
    "certificate",
    "proxy-unreachable",
]
"""The same; the first is 0."""
_REMOVALS: Sequence[str] = [
    "GONE",
    "REJECTED",
    "ROBOTS",
    "NOT_INDEXED",
    "REDIRECTED",
    "DUPLICATE",
    "REMOVED",
    "FILTERS",
    "SCOPE",
    "orphan",
    "EXPIRED",
    "feed",
    "UNLISTED",
    "UNKNOWN",
    "LIST",
    "form",
]
"""The same."""
_PURPOSES: Sequence[str] = [
    "pending",
    "held",
    "deferred",
    "successor",
    "told",
    "told_lists",
    "listed",
    "parts",
]
"""The same."""

OUTCOME_NUMBERS = {UrlOutcome(value): number for number, value in enumerate(_OUTCOMES)}
"""The number of each outcome."""
CAUSE_NUMBERS = {CauseCode(value): number for number, value in enumerate(_CAUSES)}
"""The number of each cause; that there is none is NULL."""
REMOVAL_NUMBERS = {RemovalReason(value): number for number, value in enumerate(_REMOVALS)}
"""The number of each reason of a removal."""
PURPOSE_NUMBERS = {Retained(value): number for number, value in enumerate(_PURPOSES)}
"""The number of each reason for which a document is retained."""

_outcomes, _causes, _removals = list(OUTCOME_NUMBERS), list(CAUSE_NUMBERS), list(REMOVAL_NUMBERS)
_purposes = list(PURPOSE_NUMBERS)


def outcome_of(number: int) -> UrlOutcome:
    """Return the outcome of a number. Raises `StateError` if a newer version wrote it."""
    try:
        return _outcomes[number]
    except IndexError:
        raise unknown_number("outcome", number) from None


def cause_of(number: int | None) -> CauseCode:
    """Return the cause of a number. Raises `StateError` if a newer version wrote it."""
    try:
        return CauseCode.NONE if number is None else _causes[number]
    except IndexError:
        raise unknown_number("cause", number) from None


def removal_of(number: int) -> RemovalReason:
    """Return the reason of a removal. Raises `StateError` if a newer version wrote it."""
    try:
        return _removals[number]
    except IndexError:
        raise unknown_number("reason", number) from None


def purpose_of(number: int) -> Retained:
    """Return the reason for which a document is retained. Raises `StateError` if a newer version wrote it."""
    try:
        return _purposes[number]
    except IndexError:
        raise unknown_number("purpose", number) from None


def unknown_number(what: str, number: object) -> StateError:
    """Return the error for a number that this version does not know."""
    return StateError(f"the state in the database has the {what} {number}, which only a newer version knows")


def outcomes_in(outcomes: Iterable[UrlOutcome]) -> str:
    """Return the numbers of outcomes for a statement, separated by commas."""
    return ", ".join(str(OUTCOME_NUMBERS[outcome]) for outcome in outcomes)
