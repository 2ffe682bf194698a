"""When a source uses a feature, and how it is made, where one line of the declared list does not say it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ultracrawl.agents.port import KindSetup, ListedKind
from ultracrawl.run.auth.chain import AuthChain
from ultracrawl.run.composition.parts import Parts
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.cycle.decisions import carry_out_decision
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.download_errors.retry_policy import RetryPolicy
from ultracrawl.run.filters.copies import ContentCopies
from ultracrawl.run.filters.starting_depths import StartingDepths
from ultracrawl.run.filters.verdict import FilterVerdict
from ultracrawl.run.indexing.reconciliation import IndexReconciler
from ultracrawl.run.listing.fetching import EntryFetching
from ultracrawl.run.listing.listing import SourceListing, lister_credential
from ultracrawl.run.listing.setup import setup_of
from ultracrawl.run.logs.crawl_logs import CrawlLogs
from ultracrawl.run.logs.event_logs import HeaderLog
from ultracrawl.run.logs.robot_log import RobotLog
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.rendering.event_streams import EventStreams
from ultracrawl.run.rendering.page_parts import PartFetcher
from ultracrawl.run.rendering.page_renderer import PageRenderer
from ultracrawl.settings.presets import FOREIGN_HANDLERS_SETTING
from ultracrawl.sources.kinds import load_kind
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.http import Request, Response

    from ultracrawl.run.transport.outgoing import Send


# ---- when a source uses a feature


def is_crawl(parts: Parts) -> bool:
    """Whether pages are fetched, not made again from stored responses."""
    return not parts.context.run.replay


def is_inspection(parts: Parts) -> bool:
    """Whether single pages are looked at."""
    return parts.context.run.inspection


def is_listed(parts: Parts) -> bool:
    """Whether a lister names the documents of the source."""
    return isinstance(load_kind(parts.context.source.type), ListedKind)


def has_filters(parts: Parts) -> bool:
    """Whether the source has filters."""
    return parts.filtering is not None


def compares_copies(parts: Parts) -> bool:
    """Whether a filter compares checksums."""
    return parts.filtering is not None and bool(parts.filtering.robot.compared_in)


def has_relations(parts: Parts) -> bool:
    """Documents get lists of related URLs, or still have those of a former definition."""
    documents = parts.context.store.documents
    return bool(parts.context.source.relations.names or documents.retained_keys(Retained.RELATED))


def has_robot_log(parts: Parts) -> bool:
    """Whether the actions of the filters are logged."""
    return parts.context.source.log.robot is not None and has_filters(parts)


# ---- how a feature is made, where one line does not say it


def decide_by(parts: Parts) -> partial[None]:
    """Return the function that carries out decisions about what the guards hold back."""
    return partial(carry_out_decision, parts.context)


def send_of(parts: Parts) -> Send:
    """Return a function that sends a request by the engine."""

    async def send(request: Request) -> Response:
        return await parts.crawler.engine.download_async(request)

    return send


def count_in_flight(parts: Parts) -> int:
    """Return the number of requests sent or being processed, and of robots.txt files waited for."""
    engine = parts.crawler.engine
    scraped = engine.scraper.slot
    answers = len(scraped.active) + len(scraped.queue) + scraped.itemproc_size if scraped else 0
    return len(engine.downloader.active) + answers + parts[RobotsCache].fetching


def _kind_of(parts: Parts) -> tuple[ListedKind[Any], KindSetup[Any]]:
    context = parts.context
    kind = load_kind(context.source.type)
    assert isinstance(kind, ListedKind)
    setup = setup_of(context.project, context.source, force=context.run.force, clock=context.clock)
    return kind, setup


def make_fetching(parts: Parts) -> EntryFetching:
    """Make the fetcher of a listed source."""
    kind, setup = _kind_of(parts)
    return EntryFetching(parts.context, kind.schemes, lambda: kind.make_fetcher(setup))


def make_listing(parts: Parts) -> SourceListing:
    """Make the lister of a listed source."""
    kind, setup = _kind_of(parts)
    return SourceListing(
        parts.context,
        lambda: kind.make_lister(setup),
        lambda: bool(parts[IndexReconciler].lost),
        items_have_readers=parts.items_have_readers,
    )


def make_watch(parts: Parts) -> VisitWatch:
    """Make the watch over visits in flight."""
    return VisitWatch(
        parts.context,
        parts.crawler,
        lambda: parts[RunLimits].is_overdue,
        parts[RetryPolicy].handle_failure,
    )


def make_auth(parts: Parts) -> AuthChain:
    """Make the chain of log-ins around the handlers."""
    lanes = not parts.crawler.settings.getbool(FOREIGN_HANDLERS_SETTING)
    listing = parts.get(SourceListing)
    ask = None if listing is None else partial(lister_credential, listing)
    return AuthChain(parts.context, parts.get(HeaderLog), lanes=lanes, ask=ask)


def choice_log_of(parts: Parts) -> Callable[..., None] | None:
    """Return what logs the choices of adaptive refreshing; None if that is off."""
    log = parts[CrawlLogs].open_score_log()
    return None if log is None else log.chosen


def depths_differ(parts: Parts) -> bool:
    """Whether starting points of a site of the robot have different depths."""
    return parts.filtering is not None and parts.filtering.differing_sites is not None


def make_starting_depths(parts: Parts) -> StartingDepths:
    """Make what applies the depth of each starting point."""
    assert parts.filtering is not None
    assert parts.filtering.differing_sites is not None
    return StartingDepths(parts.context, parts.filtering.differing_sites)


def make_copies(parts: Parts) -> ContentCopies:
    """Make the holders of checksums that filters look up."""
    from ultracrawl.rules.filters.phase import FilterKind  # noqa: PLC0415 - loads all of the filters

    assert parts.filtering is not None
    robot = parts.filtering.robot
    copies = ContentCopies(parts.context, without_document=FilterKind.ENUMERATION in robot.compared_in)
    robot.look_up_holders(copies.holder)
    return copies


def open_robot_log(parts: Parts) -> RobotLog:
    """Open the log of the filters."""
    assert parts.filtering is not None
    return parts[CrawlLogs].open_robot_log(parts.filtering)


def make_verdict(parts: Parts) -> FilterVerdict:
    """Make what follows the answers of filters about the whole crawl."""

    def log(text: str) -> None:
        if (robot := parts.get(RobotLog)) is not None:
            robot.log_error(text)

    restarts = getattr(parts.crawler.spidercls, "restarts", 0)
    verdict = FilterVerdict(parts.context, restarts, parts[RunLimits].end_run, log)
    if parts.filtering is not None:
        parts.filtering.on_verdict = verdict.follow_answer
    return verdict


def make_part_fetcher(parts: Parts) -> PartFetcher:
    """Return what fetches the parts of pages; of streams, which do not end, it gets what comes at first."""
    send = EventStreams(send_of(parts), parts.crawler.signals)
    return PartFetcher(parts.context, parts[RobotsCache], send, parts[AuthChain].certificates)


def make_renderer(parts: Parts) -> PageRenderer:
    """Make the browser that runs scripts."""
    return PageRenderer(
        parts.context,
        parts[PartFetcher],
        parts[DocumentConverter].large_page,
        parts[VisitWatch].waiting_in,
        lambda: parts[RunLimits].allowance(parts[VisitWatch].step_timeout),
    )
