"""Builds the context of a crawl and its features, from the declared list, and opens the ports."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ultracrawl.index.writing.project_outputs import open_destinations
from ultracrawl.model.dates import as_text
from ultracrawl.run.composition.parts import Moment, Parts
from ultracrawl.run.composition.plugin_features import features_of
from ultracrawl.run.context import CrawlContext
from ultracrawl.run.control.adaptive import AdaptiveChooser, is_adaptive
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.crawl_run import CrawlRun
from ultracrawl.run.cycle.begin import begin_run, follow_definition
from ultracrawl.run.discovery.start_chain import StartChain
from ultracrawl.run.filters.source_filters import filtering_of, with_filters
from ultracrawl.run.hooks import Feature, Hooks
from ultracrawl.run.indexing.reconciliation import IndexReconciler
from ultracrawl.run.logs.crawl_logs import CrawlLogs
from ultracrawl.run.page_links import recorder_of
from ultracrawl.run.placement.changes import ChangeGuard
from ultracrawl.run.placement.display_urls import DisplayUrls
from ultracrawl.run.placement.documents import Documents
from ultracrawl.run.placement.duplicates import Duplicates
from ultracrawl.run.placement.pending import PendingDocuments
from ultracrawl.run.rewriters import SourceRewriter
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.transport.host_addresses import HostAddresses, seed_addresses
from ultracrawl.run.writing.lost_documents import queue_lost
from ultracrawl.run.writing.source_writer import open_writer
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.stores.project_stores import open_leases, open_sites, open_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler

    from ultracrawl.run.writing.writer import IndexWriter


def make_parts(
    crawler: Crawler,
    project: Project,
    source: DataSource,
    close_soon: Callable[[str], None],
    *,
    inspection: bool,
) -> Parts:
    """Return the context of a crawl with the features that exist before anything is opened."""
    spider: Any = crawler.spidercls
    settings = crawler.settings
    hosts = HostAddresses()
    filtering = filtering_of(source, getattr(spider, "filtering", None))
    rules = with_filters(_rules_of(source, project, hosts), filtering)
    force, replay = settings.getbool("ULTRACRAWL_FORCE"), settings.getbool("ULTRACRAWL_REINDEX")
    if replay:  # of the rules, not of the source: the option is part of the recipe
        rules = replace(rules, robots=replace(rules.robots, obey=False, obey_delay=False))
    run = CrawlRun(close_soon, force=force, replay=replay, inspection=inspection)
    context = CrawlContext(project, source, rules, time.time, run, Hooks())
    parts = Parts(context, crawler, features_of(source), filtering)
    for made_before in filter(None, (hosts, filtering)):
        parts.add_part(made_before)
    parts.build(Moment.CREATED)
    bind_hooks(parts)
    return parts


def bind_hooks(parts: Parts) -> None:
    """Bind the hooks of the features that exist, in the order of the declared list."""
    context = parts.context
    context.hooks.bind(parts.in_order(inspected=context.run.inspection))


def open_stores(parts: Parts, stack: AsyncExitStack, project: Project, *, renew: bool) -> None:
    """Open the stores of a crawl; they are closed with the stack, after the features that use them."""
    context, ports = parts.context, parts.context.ports
    ports.store = open_state(project, context.source.name, renew=renew)
    stack.callback(ports.store.close)
    ports.sites = open_sites(project, read_only=context.run.replay, renew=renew)
    stack.callback(ports.sites.close)
    ports.leases = open_leases(ports.store, context.source.filters.function_timeout)
    if not context.run.inspection:
        ports.leases.start()
    stack.callback(ports.leases.close)
    close_features_with(stack, context)


def open_run(parts: Parts, stack: AsyncExitStack) -> None:
    """Open the ways to the indexes, which are closed with the stack, and begin or resume the run."""
    context, run = parts.context, parts.context.run
    context.ports.destinations = open_destinations(context.project, context.source)
    stack.callback(context.ports.destinations.close)
    parts.build(Moment.STORED)
    parts[StartChain].open()
    chooser, reconciler = parts[AdaptiveChooser], parts[IndexReconciler]
    run.mark, resumed = begin_run(context, chooser, everything=run.force or bool(reconciler.lost))
    if run.replay or not is_adaptive(run.mark.mode):
        parts.drop(AdaptiveChooser)
    started = as_text(run.mark.started)
    run.counters = RunCounters(context.source.name, str(run.mark.number), started, resumed=resumed)
    reconciler.report_losses()


def open_documents(parts: Parts, stack: AsyncExitStack) -> IndexWriter:
    """Open index writer, recorder and placement, and submit what a killed run left; returns the writer.

    It is closed with the stack.
    """
    context = parts.context
    writer = open_writer(
        context.project,
        context.source,
        context.store,
        context.counters,
        crawling=True,
        destinations=context.ports.destinations,
    )
    stack.callback(writer.close, timeout=10.0)
    context.leases.renewed = writer.note_lease
    writer.commits.log, writer.commits.since = parts[CrawlLogs].open_feed_log(), context.clock()
    context.ports.endings = recorder_of(context)
    if parts.filtering is not None:
        parts.filtering.start()
    parts.build(Moment.BEGUN)
    pending = PendingDocuments(context.store, writer)
    parts.add_part(pending)
    context.ports.documents = Documents(
        context, writer, pending, parts[DisplayUrls], parts[Duplicates], parts[ChangeGuard]
    )
    waiting = writer.recover()
    if not context.run.replay:  # it fetches nothing; what is lost is left to the next crawl
        queue_lost(context.store, context.rules, context.store.documents.refetch_lost(waiting))
    return writer


def apply_definition(parts: Parts) -> None:
    """Open the rewriter and the limits, and apply changes of the definition."""
    context, run, rewriting = parts.context, parts.context.run, parts[SourceRewriter]
    if run.replay:
        run.rescan, rewriting.rewriter, run.recipe_changed = True, None, True
        return
    if rewriting.open():
        limits = parts[RunLimits]
        limits.open()
        follow_definition(context, rewriting.rewriter, refresh_only=limits.refresh_only)
        if context.source.crawling_mode != "examine":
            parts[PendingDocuments].approve()
    context.counters.count_scheduled(context.store.records.count_urls().queued)
    if context.counters.resumed:
        context.counters.note_before(context.store.records.count_visited(run.mark.started))


def open_features(parts: Parts) -> None:
    """Bind all hooks, and open the features."""
    bind_hooks(parts)
    for opened in parts.context.hooks[Feature.opened]:
        opened()


def close_features_with(stack: AsyncExitStack, context: CrawlContext) -> None:
    """Have a stack close the features that exist by then, each whatever becomes of the others."""

    async def close_all() -> None:
        async with AsyncExitStack() as each:
            for closed in context.hooks[Feature.closed]:
                each.push_async_callback(closed)

    stack.push_async_callback(close_all)


def _rules_of(source: DataSource, project: Project, hosts: HostAddresses) -> CompiledSource:
    """Return the compiled rules of a source, with the addresses to which its start hosts resolve now."""
    rules = compile_source(source, project, hosts)
    return replace(rules, addresses=rules.addresses.with_seeds(seed_addresses(rules.trusted_urls)))
