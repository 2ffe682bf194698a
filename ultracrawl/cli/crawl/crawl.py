"""`ultracrawl crawl`: crawls sources, updates the index and prints reports."""

from __future__ import annotations

import logging
import re
import shlex
import sys
from collections.abc import Callable
from functools import partial
from itertools import filterfalse

import click

from ultracrawl import stores
from ultracrawl.cli.audit import note_project
from ultracrawl.cli.crawl.progress import Progress
from ultracrawl.cli.crawl.report import print_problems, print_report, print_total_and_next_step
from ultracrawl.cli.mistakes import Mistake, is_path, with_scheme
from ultracrawl.cli.options import (
    SOURCE_NAME,
    Seconds,
    config_option,
    jobs_option,
    json_option,
    open_project,
    print_all,
    server_option,
)
from ultracrawl.cli.scope_options import refuse_scope, scope_options
from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, RunReport
from ultracrawl.service import supervisor
from ultracrawl.service.crawling import crawl_sources
from ultracrawl.settings.adhoc import AdhocScope, delay_of_one_site
from ultracrawl.settings.presets import REPORTED_SETTING
from ultracrawl.settings.projects import project_of_urls
from ultracrawl.sources import Catalog, DataSource, Project

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
"""The beginning of a URL; behind the colon of `localhost:8000` stands a port."""


@click.command("crawl")
@server_option("crawl")
@click.argument("sources", type=SOURCE_NAME, nargs=-1, metavar="[SOURCES|URL]...")
@config_option
@click.option(
    "--url", "urls", multiple=True, metavar="URL", help="Crawl the site of this URL; the same as URL alone."
)
@scope_options
@click.option("--delay", type=Seconds(min=0), help="Seconds between requests to a site, for this run.")
@jobs_option
@click.option("--continuous", is_flag=True, help="Stay, and begin each cycle when it is due, until Ctrl-C.")
@click.option("--force", is_flag=True, help="Fetch and index every page again, changed or not.")
@click.option("-v", "--verbose", is_flag=True, help="Log what the crawler does to standard error.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but problems.")
@json_option
def command(
    sources: tuple[str, ...],
    config: str | None,
    urls: tuple[str, ...],
    scope: AdhocScope,
    delay: float | None,
    jobs: int | None,
    continuous: bool,
    force: bool,
    verbose: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Crawl SOURCES (without any: all of the definition file), or the site of a URL, and bring the index up to date.

    A later run requests only what may have changed, and removes from the index what is gone. A run that was stopped or
    killed is resumed. The exit code is 1 if a source could not be crawled; single pages that failed, also in a class of
    yours, are counted in the report. Of several sources, --jobs are crawled at the same time, besides those that only
    wait, each in a process of its own. With --continuous the command stays and begins the next cycle of each source
    when `refresh` of its definition says so; --json then prints one object for each run.

    --path, --exclude, --depth and --limit restrict the crawl of a URL, now and later: they are stored. Given again, an
    option replaces what is stored; `none` drops it.

    \b
    Examples:
      ultracrawl crawl https://docs.example.com/
      ultracrawl crawl https://docs.example.com/ --path /guide/ --exclude /guide/archive/ --limit 500
      ultracrawl crawl --jobs 8 handbook intranet
      ultracrawl crawl -c conf/ultracrawl.yaml --force --json
      ultracrawl crawl --continuous handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if quiet and (verbose or as_json):
        raise Mistake.EXCLUDE_EACH_OTHER.error(options="--quiet and --verbose or --json")
    urls, sources = (*urls, *filter(_URL.match, sources)), tuple(filterfalse(_URL.match, sources))
    project, chosen, refused = _select_sources(sources, config, urls, scope)
    chosen = [_with_delay(source, delay) for source in chosen]
    level = _log_level(verbose)
    show = print_problems if quiet else partial(print_report, verbose=verbose, has_definition=not urls)
    if continuous:
        return _crawl_continuously(project, chosen, refused, jobs, level, force, as_json, show)
    if len(chosen) == 1:
        _prestart_indexer(project, chosen[0], force=force)
    try:
        with Progress(enabled=not (verbose or quiet), delay=delay_of_one_site(chosen)) as progress:
            reports = crawl_sources(
                project,
                chosen,
                jobs=jobs,
                force=force,
                settings={"LOG_LEVEL": level, REPORTED_SETTING: not as_json},
                given_urls=_given_urls(chosen, urls),
                watcher=progress.update,
                show=lambda done, going: progress.update_all(done, len(chosen), going),
            )
    except KeyboardInterrupt:  # before a run has begun, which ends cleanly
        reports = []
    unfinished = _unfinished(chosen, reports)
    reports += refused
    print_all("runs", reports, show, as_json=as_json)
    if not (as_json or quiet):
        print_total_and_next_step(reports, has_definition=not urls)
    if unfinished:
        raise Mistake.INTERRUPTED.failure(again=_again(urls or unfinished, config))
    raise SystemExit(0 if _is_complete(chosen, reports) else 1)


def _select_sources(
    sources: tuple[str, ...], config: str | None, urls: tuple[str, ...], scope: AdhocScope
) -> tuple[Project, list[DataSource], list[RunReport]]:
    """Return the project, the sources to crawl, and a report for each source that cannot be crawled."""
    if urls and (config or sources):
        raise Mistake.URL_AND_DEFINITION.error()
    if urls:
        project, source = project_of_urls(urls, scope)
        note_project(project)
        return project, [source], []
    refuse_scope(scope)
    try:
        project = open_project(config)
        return project, *Catalog(project).select_for_crawl(sources)
    except UserError as error:
        if isinstance(error, DefinitionError):
            raise
        if path := next(filter(is_path, sources), ""):
            raise Mistake.FILES_AS_SITE.error(name=path) from None
        root = click.get_current_context().find_root()
        assert isinstance(root.command, click.Group)
        if sources and sources[0] in root.command.list_commands(root):
            raise Mistake.VERB_AS_SOURCE.error(
                name=sources[0], instead=f"ultracrawl {' '.join(sources)}"
            ) from None
        host = next(filter(with_scheme, sources), "")
        if not host:
            raise
        raise Mistake.NO_SCHEME.error(name=host, instead=f"ultracrawl crawl {with_scheme(host)}") from None


def _unfinished(chosen: list[DataSource], reports: list[RunReport]) -> tuple[str, ...]:
    """Return the sources whose run was stopped, or whose crawl was stopped before it had begun."""
    ended = {report.source for report in reports if not report.interrupted}
    return tuple(source.name for source in chosen if source.name not in ended)


def _again(names: tuple[str, ...], config: str | None) -> str:
    """Return the command that continues the crawl of sources or URLs."""
    return shlex.join(["ultracrawl", "crawl", *names, *(("-c", config) if config else ())])


def _is_complete(chosen: list[DataSource], reports: list[RunReport]) -> bool:
    """Return whether each source has a report, and none failed."""
    names = {source.name for source in chosen}
    return names == {report.source for report in reports} and not any(report.failed for report in reports)


def _given_urls(chosen: list[DataSource], urls: tuple[str, ...]) -> tuple[str, ...]:
    return chosen[0].start_urls if urls and chosen[0].only else urls  # those outside of --path were replaced


def _prestart_indexer(project: Project, source: DataSource, *, force: bool) -> None:
    """Start the index process of a source whose first documents come soon, or whose index has to be looked at."""
    from ultracrawl.index.writing import project_outputs  # noqa: PLC0415 - only crawls need it

    if (
        force
        or not stores.state_exists(project, source.name)
        or project_outputs.is_asked_first(project, source)
    ):
        project_outputs.prestart_indexer(project, source)


def _log_level(verbose: bool) -> str:
    if not verbose:
        logging.getLogger("scrapy").setLevel(logging.ERROR)
    return "DEBUG" if verbose else "ERROR"


def _crawl_continuously(
    project: Project,
    chosen: list[DataSource],
    refused: list[RunReport],
    jobs: int | None,
    log_level: str,
    force: bool,
    as_json: bool,
    show: Callable[[RunReport], None],
) -> None:
    def print_run(report: RunReport) -> None:
        print_all("runs", [report], show, as_json=as_json)
        sys.stdout.flush()

    def print_to_stderr(line: str) -> None:
        click.echo(line, err=True)

    for report in refused:
        print_run(report)
    options = supervisor.CrawlOptions(jobs, log_level)
    supervisor.crawl_continuously(
        project, chosen, options, on_report=print_run, write_line=print_to_stderr, force=force
    )


def _with_delay(source: DataSource, delay: float | None) -> DataSource:
    return source if delay is None else source.with_delay(delay)
