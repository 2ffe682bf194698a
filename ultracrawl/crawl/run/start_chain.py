"""What was asked for, start URLs and those of a command line, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome, UrlRecord, status_text
from ultracrawl.rules.urls.canonical import host_of, site_of, url_key

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.rules.boundary.boundary import Boundary
    from ultracrawl.sources import CompiledSource, DataSource
    from ultracrawl.stores import Store

MOST_HOPS = 20
"""Redirects in a row that are looked at; no policy follows more."""


class StartChain:
    """The start URLs of a crawl, and the URLs that they lead to by nothing but redirects.

    With `boundary.start_redirects` the hosts of the latter belong to the source. The chains of earlier runs are
    taken up from the state, so that their pages stay inside until the start URL leads somewhere else.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._urls: set[str] = set()

    def __contains__(self, url: str) -> bool:
        return url in self._urls

    def open(self) -> None:
        """Begin with the start URLs; called once the state is open."""
        context = self._context
        self._urls.update(_canonical(context, context.source.seed_urls))
        for url in let_in_led_to(context.source, context.rules, context.store):
            self._urls.add(url)

    def leads_to(self, target: str) -> None:
        """Take up the target of a redirect of the chain; its host is let in where the source wants that."""
        self._urls.add(target)
        if self._context.source.boundary.start_redirects:
            _let_in(self._context.rules.boundary, target)

    def left(self, url: str, target: str) -> None:
        """Have the report tell of a start URL that leads out of the boundary, and what would let it in."""
        section = self._context.source.boundary
        others = () if section.domains.include else self._context.source.seed_urls
        hosts = [host_of(one) for one in _canonical(self._context, others)]
        hosts = [*dict.fromkeys(host for host in hosts if host != host_of(url)), host_of(target)]
        self._context.run.add_problem(
            f"the start URL {url} leads to {target}, which is outside the boundary; to crawl it, write "
            f"`boundary: {{domains: {{include: [{', '.join(hosts)}]}}}}`"
        )


def let_in_led_to(source: DataSource, rules: CompiledSource, store: Store) -> list[str]:
    """Let in the hosts that start URLs redirected to in earlier runs, where the source wants that; returns the URLs."""
    if not source.boundary.start_redirects:
        return []
    starts = map(rules.url_policy.canonical, source.seed_urls)
    led = [one.url for url in starts if url is not None for one in _led_to(store, url)]
    for url in led:
        _let_in(rules.boundary, url)
    return led


def _let_in(boundary: Boundary, url: str) -> None:
    if boundary.rejects(url) is not None:
        boundary.admit(host_of(url))


def judge_run(context: CrawlContext, asked: Iterable[str]) -> None:
    """Have the report of a run that came to its end tell what was asked for in vain.

    Each URL of the command line counts; of a definition it is told if nothing at all could be read. A later
    cycle of a source whose start URLs were read before may have asked only for what failed before: that is no news.
    """
    report = context.report
    told = [problem for url in _canonical(context, asked) if (problem := _in_vain(context, url))]
    untold = not told and not report.problems and report.reached_nothing
    if untold and _is_news(context):
        starts = _canonical(context, context.source.seed_urls)
        reasons = (problem for url in starts if (problem := _in_vain(context, url)))
        given_up = (f"{site} was given up after too many network errors" for site in report.given_up)
        reason = next(reasons, "") or next(given_up, "")
        own = context.source.spider_class if set(report.outcomes) == {UrlOutcome.FAILED} else None
        what = f"the class {own} failed on every page" if own else "no page could be read"
        advice = "correct it; `-v` shows where" if own else "`ultracrawl urls` lists the reasons"
        told = [f"{what}{f': {reason}' if reason else ''}; {advice}"]
    for problem in told:
        context.run.add_problem(problem)


def _is_news(context: CrawlContext) -> bool:
    """Whether it is news that nothing was read.

    A lister may name the few documents that changed: that these cannot be had says nothing of the others.
    """
    if context.rules.listed:
        return not context.store.records.count_urls().documents
    return bool(context.report.lost) or not _was_read(context)


def _was_read(context: CrawlContext) -> bool:
    """Whether a start URL, or what it leads to, was read at its latest visit, in this run or an earlier one.

    One of an earlier run does not count if it was to be visited again, and its site was given up.
    """
    ends = (_end(context, url) for url in _canonical(context, context.source.seed_urls))
    read = (end for end in ends if end is not None and end.last_fetched and not end.outcome.without_content)
    return any(site_of(end.url) not in context.report.given_up for end in read)


def _in_vain(context: CrawlContext, url: str) -> str:
    """Return why nothing was read of a URL, or of what it leads to; empty if something was."""
    record = _end(context, url)
    if record is None:
        return f"{url} was not asked for"
    if not record.outcome.without_content or record.outcome is UrlOutcome.REDIRECTED:
        return ""
    return f"{record.url}: {record.reason or status_text(record.status_code)}"


def _end(context: CrawlContext, url: str) -> UrlRecord | None:
    """Return the record of a URL, or of the last one that it leads to; None if it is not known."""
    record = context.store.records.get_record(url_key(url))
    for record in _led_to(context.store, url):  # noqa: B007 - the last one counts
        pass
    return record


def _led_to(store: Store, url: str) -> Iterator[UrlRecord]:
    """Yield the records of what a URL redirects to, one hop after the other."""
    record = store.records.get_record(url_key(url))
    for _ in range(MOST_HOPS):
        if record is None or not record.redirects_to:
            return
        record = store.records.get_record(url_key(record.redirects_to))
        if record is not None:
            yield record


def _canonical(context: CrawlContext, urls: Iterable[str]) -> Iterator[str]:
    for url in urls:
        canonical = context.rules.url_policy.canonical(url)
        if canonical is not None:
            yield canonical
