"""Decides by a lister's entry whether the outcome of the recorded visit of a document still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.content.converters.registry import version_of_all
from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.outcome import WITH_DOCUMENT
from ultracrawl.rules.recrawl.change import is_unread, stays_unread
from ultracrawl.rules.recrawl.failure_policy import INTERNAL

if TYPE_CHECKING:
    from ultracrawl.agents.port import Entry
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.listing.answers import StoredValidators


def is_vouched_for(
    context: CrawlContext, record: UrlRecord, entry: Entry, validators: StoredValidators
) -> bool:
    """Return whether a document is unchanged since its recorded visit, and the outcome of that visit still holds.

    The form of its readers may have changed (`ReaderRenewal`).
    """
    if not record.etag or record.etag not in (validators.of(entry), validators.of_content(entry)):
        return False
    if record.outcome is UrlOutcome.DUPLICATE:
        return context.documents.remains_duplicate(record)
    if record.outcome is UrlOutcome.FAILED:
        return remains_unread(context, record)
    left_out = record.outcome is UrlOutcome.NOT_INDEXED and record.removal is None
    return left_out or (record.outcome in WITH_DOCUMENT and record.retained)


def remains_unread(context: CrawlContext, record: UrlRecord) -> bool:
    """Return whether no converter can read an unchanged document; not if each failure counts towards its deletion."""
    if (
        not is_unread(record.checksum)
        or context.rules.error_rules.rule_for(INTERNAL).delete_after is not None
    ):
        return False
    return stays_unread(record, version_of_all())


def vouched_outcome(record: UrlRecord) -> UrlOutcome:
    """Return the outcome that is counted for a document that is not visited."""
    return UrlOutcome.DUPLICATE if record.outcome is UrlOutcome.DUPLICATE else UrlOutcome.NOT_MODIFIED
