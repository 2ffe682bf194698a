"""Start URLs with the redirects that they lead to, and the report on start URLs that could not be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, UrlOutcome, UrlRecord, status_text
from ultracrawl.model.advice import with_advice
from ultracrawl.rules.boundary.origin import MAX_LEFT_PORTS
from ultracrawl.rules.recrawl.change import is_known
from ultracrawl.rules.urls.canonical import host_of, site_of, split, url_key

if TYPE_CHECKING:
    from ultracrawl.rules.boundary.boundary import Boundary
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.sources import CompiledSource, DataSource
    from ultracrawl.stores import Store

MAX_REDIRECTS = 20
"""Redirects in a row that are followed through the stored records; no policy allows more."""


class StartChain:
    """The start URLs of a crawl and the URLs to which they redirect.

    With `boundary.start_redirects` the hosts of redirect targets belong to the source. The redirects of earlier runs
    are loaded from the store, so that their pages stay admitted until the start URL redirects elsewhere.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._urls: set[str] = set()

    def __contains__(self, url: str) -> bool:
        return url in self._urls

    def open(self) -> None:
        """Load the start URLs and their stored redirects; called once the store is open."""
        context = self._context
        self._urls.update(_canonical(context, context.source.seed_urls))
        for url in admit_redirect_hosts(context.source, context.rules, context.store):
            self._urls.add(url)

    def add_target(self, target: str) -> None:
        """Add the target of a redirect; its host is admitted with `boundary.start_redirects`."""
        self._urls.add(target)
        if self._context.source.boundary.start_redirects:
            _admit_host(self._context.rules.boundary, target)

    def report_outside(self, url: str, target: str) -> None:
        """Report a start URL that redirects out of the boundary, with the option that would admit its target."""
        section = self._context.source.boundary
        others = () if section.domains.include else self._context.source.seed_urls
        hosts = [host_of(start) for start in _canonical(self._context, others)]
        hosts = [*dict.fromkeys(host for host in hosts if host != host_of(url)), host_of(target)]
        boundary = self._context.rules.boundary
        refused = {one.stage for one in boundary.decisions(target) if not one.accept}
        missing = []
        if boundary.has_unusual_port(target):
            refused.remove("port")
            ports = sorted(boundary.rules.usual_ports | {split(target).port})
            missing = [f"ports: {{{host_of(target)}: {{include: {ports}}}}}"]
        if refused or not missing:
            missing = [f"domains: {{include: [{', '.join(hosts)}]}}", *missing]
        self._context.run.add_problem(
            f"the start URL {url} leads to {target}, which is outside the boundary; to crawl it, write "
            f"`boundary: {{{', '.join(missing)}}}`"
        )


def report_left_ports(context: CrawlContext) -> None:
    """Name the ports that were left because no start URL has them."""
    if left := context.rules.boundary.left_ports:
        some = " and others" if len(left) == MAX_LEFT_PORTS else ""
        names = ", ".join(left)
        context.counters.add_remark(
            f"no start URL has these ports: {names}{some}; `boundary.ports` lets them in"
        )


def admit_redirect_hosts(source: DataSource, rules: CompiledSource, store: Store) -> list[str]:
    """With `boundary.start_redirects`, admit the hosts of stored redirects of start URLs; returns the targets."""
    if not source.boundary.start_redirects:
        return []
    starts = map(rules.url_policy.canonical, source.seed_urls)
    targets = [record.url for url in starts if url is not None for record in _redirect_targets(store, url)]
    for url in targets:
        _admit_host(rules.boundary, url)
    return targets


def _admit_host(boundary: Boundary, url: str) -> None:
    if boundary.rejects(url) is not None:
        boundary.admit(host_of(url), split(url).port)


def report_unreadable_urls(context: CrawlContext, requested_urls: Iterable[str]) -> None:
    """Add to the report of a finished run which requested URLs could not be read.

    Each URL of the command line is reported. For a definition it is reported if no page could be read, unless the
    start URLs were read before: a later cycle may have requested only what failed before. It is also reported if pages
    were read or removed, but no start URL can be read.
    """
    report = context.report
    problems = [
        _with_advice(context, failure, _last_record(context, url))
        for url in _canonical(context, requested_urls)
        if (failure := _failure_of(context, url)) and not _is_told(context, url)
    ]
    if not problems and not report.problems and report.reached_nothing and _is_news(context):
        starts = _canonical(context, context.source.seed_urls)
        reasons = (problem for url in starts if (problem := _failure_of(context, url)))
        given_up = (f"{site} was given up after too many network errors" for site in report.given_up)
        records = start_records(context)
        reason = next(reasons, "") or next(given_up, "") or _endless(context)
        own = context.source.spider_class if set(report.outcomes) == {UrlOutcome.FAILED} else None
        what = f"the class {own} failed on every page" if own else "no page could be read"
        told = f"{what}{f': {reason}' if reason else ''}"
        problems = [
            f"{told}; correct it; `-v` shows where"
            if own
            else _with_advice(context, told, next(iter(records), None))
        ]
    elif not problems and (reason := _why_no_start(context)):
        problems = [f"no start URL could be read: {reason}; correct `start_urls`, or what excludes them"]
    for problem in problems:
        context.run.add_problem(problem)


def _is_told(context: CrawlContext, url: str) -> bool:
    """Return whether a problem of the run tells already why a URL has no page: walls are told when they are met."""
    record = _last_record(context, url)
    return record is not None and record.cause.code is CauseCode.WALL


def _with_advice(context: CrawlContext, problem: str, record: UrlRecord | None) -> str:
    return problem if record is None else with_advice(problem, _of_login(context, record) or record.cause)


def _of_login(context: CrawlContext, record: UrlRecord) -> Cause | None:
    """Return the cause of a 401 that user and password of the definition got; None of another answer."""
    has_password = bool(context.source.authentication or context.source.logins)
    return Cause(CauseCode.LOGIN_FAILED) if has_password and record.status_code == 401 else None


def _endless(context: CrawlContext) -> str:
    """Return which start URL leads to redirects without an end, and how these go; empty if none does."""
    for url in _canonical(context, context.source.seed_urls):
        chain, last = [url], context.store.records.get_record(url_key(url))
        for last in _redirect_targets(context.store, url):
            chain.append(last.url)
            if last.url in chain[:-1]:
                break
        if last is not None and last.redirects_to:
            return f"the redirects never reach a page: {' -> '.join(chain)}"
    return ""


def start_records(context: CrawlContext) -> list[UrlRecord]:
    """Return what is known of the start URLs, or of the last URLs to which they redirect."""
    keys = {url: url_key(url) for url in _canonical(context, context.source.seed_urls)}
    known = context.store.records.get_records(list(keys.values()))
    records = ((url, known[key]) for url, key in keys.items() if key in known)
    return [(one.redirects_to and _last_record(context, url)) or one for url, one in records]


def _why_no_start(context: CrawlContext) -> str:
    """Return why the first start URL cannot be read, if none can; empty if one can, or if pages are found without them.

    A start URL that was read before and failed for now counts as read.
    """
    source = context.source
    if context.run.replay or context.rules.listed or source.takes_links or context.store.sites.sitemap_keys():
        return ""
    first = ""
    for url in _canonical(context, source.seed_urls):
        failure = _lasting_failure_of(context, url)
        if not failure:
            return ""
        first = first or failure
    return first


def _lasting_failure_of(context: CrawlContext, url: str) -> str:
    """Return why a start URL cannot be read; empty if it was read, may be read later, or was not requested yet.

    If the report has a problem already, that is the reason, unless the page is gone.
    """
    record = _last_record(context, url)
    if record is not None and record.outcome is UrlOutcome.GONE:
        return _failure_of(context, url)
    was_read = record is not None and (is_known(record) or record.retained)
    if context.report.problems or (record is not None and record.outcome.transient and was_read):
        return ""
    if record is None:
        rule = context.rules.boundary.rejects(url, seed=True)
        return f"{url} is excluded ({rule})" if rule else ""
    return _failure_of(context, url)


def _is_news(context: CrawlContext) -> bool:
    """Whether it has to be reported that no page was read.

    A lister may name only the few changed documents: a failure of these says nothing about the others, unless none
    was reached.
    """
    if context.rules.listed:
        was_cut_off = {*+context.report.outcomes} == {UrlOutcome.NETWORK_ERROR} and context.report.lost
        return bool(was_cut_off) or not context.store.records.count_urls().documents
    return bool(context.report.lost) or not _was_read(context)


def _was_read(context: CrawlContext) -> bool:
    """Whether a start URL, or its redirect target, was read at its latest visit, in this run or an earlier one.

    URLs of given-up sites do not count: their latest visit may belong to an earlier run.
    """
    records = (_last_record(context, url) for url in _canonical(context, context.source.seed_urls))
    read = (
        one for one in records if one is not None and one.last_fetched and not one.outcome.without_content
    )
    return any(site_of(record.url) not in context.report.given_up for record in read)


def _failure_of(context: CrawlContext, url: str) -> str:
    """Return why a URL, or its redirect target, could not be read; empty if it was read."""
    record = _last_record(context, url)
    if record is None:
        return f"{url} was not requested"
    if not record.outcome.without_content or record.outcome is UrlOutcome.REDIRECTED:
        return ""
    return f"{record.url}: {record.reason or status_text(record.status_code)}"


def _last_record(context: CrawlContext, url: str) -> UrlRecord | None:
    """Return the record of a URL, or of its last known redirect target; None if the URL is not known."""
    record = context.store.records.get_record(url_key(url))
    for record in _redirect_targets(context.store, url):  # noqa: B007 - the last one counts
        pass
    return record


def _redirect_targets(store: Store, url: str) -> Iterator[UrlRecord]:
    """Yield the records of the redirect targets of a URL, hop by hop."""
    record = store.records.get_record(url_key(url))
    for _ in range(MAX_REDIRECTS):
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
