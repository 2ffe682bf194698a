"""The decisions on a URL after the boundary, as far as they are known without a request."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ultracrawl.model import CauseCode, Decision, UrlOutcome, UrlRecord, status_text
from ultracrawl.model.dates import as_text
from ultracrawl.model.outcome import WITH_DOCUMENT
from ultracrawl.rules.boundary.masks import parse_address
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run import filters
from ultracrawl.run.auth.stages import access_stages
from ultracrawl.run.transport.host_addresses import addresses_of, seed_addresses
from ultracrawl.sources import CompiledSource, DataSource
from ultracrawl.stores import StoredRobots


def later_stages(
    source: DataSource,
    rules: CompiledSource,
    url: str,
    record: UrlRecord | None,
    robots: StoredRobots | None,
    *,
    dns: bool = False,
) -> Iterator[Decision]:
    """Yield the overlay of the site, then the decisions of filters, address guard, access, robots.txt, last visit.

    With `dns` the host is resolved. Raises `UserError` if the filters cannot be used.
    """
    overlay = rules.overlay_of(url)
    if overlay is not None:
        yield Decision(True, "site", str(overlay), f"decides {', '.join(overlay.options)}")
    host = host_of(url)
    address = host.strip("[]") if parse_address(host) else next(iter(addresses_of(host)), "") if dns else ""
    yield from filter_stages(source, url, record.depth if record is not None else 0, address)
    yield from _addresses(rules, host, dns=dns)
    yield from access_stages(source, rules, url)
    yield _robots(rules, url, record, robots)
    if record is not None and record.last_fetched and record.outcome not in _WITHOUT_ANSWER:
        yield _last_visit(record)
        yield from _rendering(source if overlay is None else overlay.source, record)


def _rendering(source: DataSource, record: UrlRecord) -> Iterator[Decision]:
    """Yield whether a page was opened in the browser at its last visit, as far as its record tells."""
    if not source.javascript.use:
        return
    cause = record.cause
    if cause.code is CauseCode.UNRENDERED:
        yield Decision(True, "javascript", f"{cause.code.value} {cause.subject}".strip(), record.reason)
    elif cause.code is CauseCode.RENDERED:
        yield Decision(True, "javascript", cause.code.value, record.reason)
    elif source.javascript.use == "auto" and record.outcome in WITH_DOCUMENT:
        yield Decision(True, "javascript", "auto", "read as sent: it has text and links, or no scripts")


def _addresses(rules: CompiledSource, host: str, *, dns: bool) -> Iterator[Decision]:
    addresses: Iterable[str] = ()
    policy = rules.addresses
    if parse_address(host):
        addresses = (host.strip("[]"),)
    elif dns:
        policy = policy.with_seeds(seed_addresses(rules.trusted_urls))
        addresses = addresses_of(host)
        if not addresses:
            yield Decision(False, "address", "address unknown", f"{host} has no address")
    yield from (policy.check(address, host) for address in addresses)


def _robots(
    rules: CompiledSource, url: str, record: UrlRecord | None, stored: StoredRobots | None
) -> Decision:
    policy = rules.robots
    if not policy.obey:
        return Decision(True, "robots", "robots.obey", "robots.txt is not obeyed")
    if stored is not None:
        decision = policy.judge_response(
            stored.status or None, stored.body, error=stored.error, timed_out=stored.timed_out
        ).allowed(url)
        return replace(decision, reason=f"{decision.reason}; it was read {as_text(stored.received)}")
    if record is not None and record.outcome is UrlOutcome.ROBOTS:
        return Decision(False, "robots", "robots.txt", f"at the last visit: {record.reason}")
    return Decision(True, "robots", "robots.txt", "not read yet; it is read before the first fetch")


def _last_visit(record: UrlRecord) -> Decision:
    status = f"{record.status_code} {status_text(record.status_code)}"
    if record.cause.code is CauseCode.SITEMAP_DATE:  # no server has answered
        return Decision(True, "answer", record.outcome.value, record.reason)
    if record.outcome in WITH_DOCUMENT:
        return Decision(True, "answer", record.outcome.value, f"the last response was indexed: {status}")
    return Decision(True, "answer", record.outcome.value, record.reason or status, index=False)


_WITHOUT_ANSWER = frozenset({UrlOutcome.ROBOTS, UrlOutcome.QUEUED})
"""Outcomes of URLs that nothing answered, or whose answer does not count any more."""
FILTERS = "filters"
"""The stage of filter decisions."""
_PASSES = "MetaData allows it; Data is evaluated after the fetch"


def filter_stages(source: DataSource, url: str, depth: int, address: str = "") -> Iterator[Decision]:
    """Yield the decision of each filter of a source, if it has filters. Raises `UserError`."""
    if source.filters.file is None:
        return
    filtering = filters.Filtering(source.filters, time.time)
    filtering.start()
    views = filtering.judge(url, depth, address)
    filtering.release()
    section = source.filters
    if views.denied:
        yield Decision(False, FILTERS, views.cause.subject, f"both deny it: {views.cause}")
        return
    if views.enumeration is None:
        yield Decision(True, FILTERS, section.enumeration, "denies it, so its links are not followed")
    else:
        yield Decision(True, FILTERS, section.enumeration, _PASSES)
    if views.generation is None:
        reason = f"denies it, so it gets no description: {views.cause}"
        yield Decision(True, FILTERS, section.generation, reason, index=False)
    else:
        yield Decision(True, FILTERS, section.generation, _PASSES)
