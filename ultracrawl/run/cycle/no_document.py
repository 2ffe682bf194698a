"""Tells at the end of a run why its source has no document with text, and what to write so that it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ultracrawl.model import NO_CAUSE, Cause, CauseCode, UrlRecord
from ultracrawl.model.advice import SCRIPTS, advice_for, advice_on_scripts
from ultracrawl.rules.duplicates.marks import read_sketch
from ultracrawl.run import rendering
from ultracrawl.run.discovery.start_chain import start_records
from ultracrawl.sources.definition import WEB

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.sources import DataSource

_OWN_CHOICE = frozenset(
    {CauseCode.DROPPED, CauseCode.NO_DOCUMENT, CauseCode.REMOVED_BY_HAND, CauseCode.FOLLOWED_TYPE}
)
"""Causes by which code or a person leaves documents out on purpose: then a source need not have any."""

_NO_START = "it has no start URL that is crawled; `ultracrawl lint` says why"
_FEW_WORDS = 16
"""Words of title and text; a page with fewer whose scripts could not be run is a shell that waits for them."""

LISTS = frozenset({CauseCode.NOTHING_LISTED, CauseCode.FEED, CauseCode.SITEMAP})
"""Causes that are a mistake in the first run, and may be right later: a list is empty that can have entries."""


def why_no_document(context: CrawlContext) -> tuple[Cause, str]:
    """Return why a source has no document with text, and the problem in words; `NO_CAUSE` if it has one.

    A source that need not have any has none without a cause: one whose links others crawl, one to which others may send
    links later, one whose own code takes its documents, and one whose documents wait for a person.
    """
    source, counts = context.source, context.store.records.count_urls()
    if context.run.replay or counts.pending or counts.held_back:
        return NO_CAUSE, ""
    if context.rules.listed:
        return (NO_CAUSE, "") if counts.known else _nothing_listed(source)
    records = start_records(context)
    if source.spider_class or counts.documents > sum(map(_is_bare, records)):
        return NO_CAUSE, ""
    if not records:
        return (NO_CAUSE, "") if _may_get_links(context) else (Cause(CauseCode.NO_START), _NO_START)
    return (NO_CAUSE, "") if _passes_on(context, records) else _why_without_text(records[0])


def _nothing_listed(source: DataSource) -> tuple[Cause, str]:
    what = f"its list is empty; look at what it names in the options of its `{source.type}`"
    return Cause(CauseCode.NOTHING_LISTED), what


def _may_get_links(context: CrawlContext) -> bool:
    """Return whether a source without start URLs is sent links by one that begins somewhere, directly or not."""
    sources = context.project.sources
    asked, waiting = set[str](), [context.source]
    while waiting:
        source = waiting.pop()
        asked.add(source.name)
        if source.seed_urls or source.spider_class or source.type != WEB:
            return source.name != context.source.name
        if source.takes_links:
            waiting += [
                one for one in sources.values() if source.name in one.send_links_to and one.name not in asked
            ]
    return False


def _passes_on(context: CrawlContext, records: Iterable[UrlRecord]) -> bool:
    """Return whether other sources crawl the links of the start pages; all links are stored with them then."""
    return bool(context.source.send_links_to) and any(one.links for one in records)


def _why_without_text(record: UrlRecord) -> tuple[Cause, str]:
    cause = record.cause or Cause(CauseCode.STATUS, str(record.status_code))
    if cause.code in _OWN_CHOICE:
        return NO_CAUSE, ""
    return cause, "; ".join(filter(None, (f"{record.url}: {record.reason or cause}", _advice(record))))


def has_ended_before(context: CrawlContext) -> bool:
    """Return whether an earlier run has ended, so that an empty list is no news."""
    return any(run.finished and run.number != context.mark.number for run in context.store.runs())


def _is_bare(record: UrlRecord) -> bool:
    """Return whether the document of a start page is in the index, and has next to no text."""
    code, sketch = record.cause.code, record.sketch
    is_shell = code is CauseCode.UNRENDERED and sketch and len(read_sketch(sketch)) < _FEW_WORDS
    return record.retained and (code is CauseCode.NO_TEXT or bool(is_shell))


def _advice(record: UrlRecord) -> str:
    if record.cause.subject != SCRIPTS:
        return advice_for(record.cause)
    return advice_on_scripts(rendering.what_rendering_lacks())
