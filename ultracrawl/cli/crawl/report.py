"""Prints the report of a run as text."""

from __future__ import annotations

from collections.abc import Sequence

import click

from ultracrawl.cli.options import first_and_count
from ultracrawl.cli.terminal import described_status, print_line
from ultracrawl.model import RunReport, StatusCode, UrlOutcome
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.system.nouns import counted, noun_of

MAX_RULES_SHOWN = 8
_NOT_ERRORS = (
    StatusCode.NOT_CRAWLED,
    StatusCode.CRAWLED,
    StatusCode.NOT_MODIFIED,
    StatusCode.NOT_FOUND,
    StatusCode.GONE,
    StatusCode.BLACKLISTED,
    StatusCode.DUPLICATE_DETECTED,
    StatusCode.DUPLICATE_IGNORED,
    StatusCode.META_REDIRECT,
    StatusCode.HTTP_REDIRECT,
)


def print_report(report: RunReport, *, verbose: bool = False, has_definition: bool = True) -> None:
    """Print the report of one run; with `verbose` also the crawler's own status codes."""
    if _print_refusal(report):
        return
    resumed = " (resumed)" if report.resumed else ""
    click.echo(
        f"{report.source}: run {report.run_id}{resumed}, {report.seconds:.1f} s, {_size(report.bytes)} read"
    )
    for outcome, number in sorted((+report.outcomes).items(), key=lambda item: (-item[1], item[0])):
        click.echo(f"  {number:>9,}  {outcome.value:<14} {outcome.meaning}")
    if report.queued > 0:
        click.echo(f"  {report.queued:>9,}  {'QUEUED':<14} still waiting; the next run fetches them")
    since = "since the interruption" if report.resumed else "in all"
    click.echo(
        f"  {report.scheduled:>9,}  {noun_of(report.scheduled, 'URL')} {since}; "
        f"{report.indexed:,} indexed, {report.deleted:,} deleted"
    )
    if report.outcomes_before:
        _print_before(report)
    if report.indexed_earlier:
        click.echo(f"  {report.indexed_earlier:>9,}  of the documents indexed were read by an earlier crawl")
    if report.not_asked and not report.sitemaps:
        click.echo(f"  {report.not_asked:>9,}  of them not fetched: their list says that they are unchanged")
    elif report.not_asked:
        click.echo(
            f"  Sitemaps: {report.sitemaps:,} read; {counted(report.not_asked, 'page')} skipped, unchanged by date"
        )
    _print_rendering(report)
    if report.orphans:
        click.echo(f"  {report.orphans:>9,}  of them orphans: no page links to them any more")
    if report.ended_by:
        click.echo(f"  Ended by {report.ended_by}; the next run resumes it")
    if report.refresh_only:
        limit = (
            report.left_out_by
            if has_definition
            else report.left_out_by.replace("limits.documents", "--limit")
        )
        click.echo(f"  New URLs were left out: `{limit}` is reached")
    _print_errors(report, verbose=verbose)
    _print_failed(report)
    _print_rejected(report)
    _print_omitted(report)
    _print_remarks(report)
    print_problems(report)


def _print_remarks(report: RunReport) -> None:
    for remark in report.remarks:
        print_line(f"  Note: {remark}")


def print_problems(report: RunReport) -> None:
    """Print the problems of one run, or why it could not be crawled, to standard error."""
    if not _print_refusal(report):
        for problem in report.problems:
            if any(problem != other and problem in other for other in report.problems):
                continue  # the other says it, and what follows from it
            print_line(f" {problem}", mark="  Problem:", color="red", err=True)


def print_total_and_next_step(reports: Sequence[RunReport], *, has_definition: bool) -> None:
    """Print the totals of several runs, and what to type after the first crawl of a source, or after a problem."""
    if len(reports) > 1:
        _print_total(reports)
    if any(_is_new(report) for report in reports):
        click.echo(
            "Next: `ultracrawl search WORDS`; `ultracrawl crawl` again fetches only what may have changed"
        )
    if any(report.begun and report.problems for report in reports):
        again = "`ultracrawl crawl` tries again; " if any(map(_lost_connections, reports)) else ""
        where = (
            ""
            if has_definition
            else "; `ultracrawl init --no-look URL` writes a definition file, the place for options"
        )
        click.echo(f"Next: {again}`ultracrawl urls` lists what became of each URL{where}")


def _is_new(report: RunReport) -> bool:
    return report.run_id == "1" and bool(report.indexed) and not (report.cause or report.interrupted)


def _lost_connections(report: RunReport) -> bool:
    return bool(report.outcomes[UrlOutcome.NETWORK_ERROR])


def _print_total(reports: Sequence[RunReport]) -> None:
    failed = [report.source for report in reports if report.failed]
    click.echo(
        f"{counted(len(reports), 'source')}: {counted(sum(report.scheduled for report in reports), 'URL')}, "
        f"{sum(report.fetched for report in reports):,} fetched, "
        f"{sum(report.indexed for report in reports):,} indexed, "
        f"{sum(report.deleted for report in reports):,} deleted"
        + (f"; with problems: {', '.join(failed)}" if failed else "")
    )


def print_remade(report: RunReport) -> None:
    """Print the report of a reindexing."""
    if _print_refusal(report):
        return
    click.echo(f"{report.source}: {counted(report.scheduled, 'stored document')}, {report.seconds:.1f} s")
    processed = sum(number for outcome, number in report.outcomes.items() if outcome in SUBMITTED)
    click.echo(f"  {processed:>9,}  {'MADE':<14} processed again and submitted to the index")
    for outcome, number in sorted(report.outcomes.items(), key=lambda item: (-item[1], item[0])):
        if outcome not in SUBMITTED:
            click.echo(f"  {number:>9,}  {outcome.value:<14} {outcome.meaning}")
    _print_failed(report)
    _print_remarks(report)
    print_problems(report)


def _print_refusal(report: RunReport) -> bool:
    """Print why a source could not be crawled; returns False if it was crawled."""
    if not report.begun:
        print_line(f"{report.source}: not crawled: {first_and_count(report.problems)}", err=True)
    return not report.begun


def _print_before(report: RunReport) -> None:
    """Print what a resumed run did before it was interrupted."""
    before = ", ".join(
        f"{number:,} {outcome.value}" for outcome, number in report.outcomes_before.most_common()
    )
    number = report.outcomes_before.total()
    click.echo(f"  {number:>9,}  URLs before it ({before}); {number + report.scheduled:,} in all")


def _print_rendering(report: RunReport) -> None:
    if report.opened:
        click.echo(
            f"  {report.opened:>9,}  {noun_of(report.opened, 'page')} opened in the browser, "
            f"with {counted(report.parts, 'request')} for parts"
        )
    for fault, number in report.unrendered.most_common():
        click.echo(f"  {number:>9,}  of the pages were not read after their scripts ({fault})")


def _print_errors(report: RunReport, *, verbose: bool) -> None:
    errors = {
        code: number
        for code, number in report.status_codes.items()
        if code >= 300 and code not in _NOT_ERRORS
    }
    if errors:
        shown = ", ".join(
            f"{number:,} × {described_status(code, verbose=verbose)}"
            for code, number in sorted(errors.items())
        )
        click.echo(f"  Errors: {shown}")


def _print_failed(report: RunReport) -> None:
    """Print which pages could not be processed, and why; what is indexed of them stays."""
    for url, cause in report.failed_pages.items():
        print_line(f"  Failed: {url}: {cause}")
    rest = report.outcomes[UrlOutcome.FAILED] - len(report.failed_pages)
    if rest > 0:
        click.echo(f"  Failed: {rest:,} more (`ultracrawl urls --outcome failed` shows all)")


def _print_rejected(report: RunReport) -> None:
    if not report.rejected_by:
        return
    click.echo(f"  Excluded links ({report.rejected_by.total():,}):")
    for rule, number in report.rejected_by.most_common(MAX_RULES_SHOWN):
        print_line(f"  {number:>9,}  {rule}")
    rest = len(report.rejected_by) - MAX_RULES_SHOWN
    if rest > 0:
        click.echo(f"             and {counted(rest, 'more rule')} (--json shows all)")


def _print_omitted(report: RunReport) -> None:
    if report.without_text:
        click.echo(
            f"  {report.without_text:>9,}  {noun_of(report.without_text, 'document')} without text, such as scans; "
            "found by title only"
        )
    if report.dropped_values:
        click.echo(
            f"  {report.dropped_values:>9,}  {noun_of(report.dropped_values, 'attribute value')} dropped: "
            "not of the type of the attribute"
        )
    if report.cut:
        click.echo(f"  Pages read in part ({report.cut.total():,}):")
    for reason, number in report.cut.most_common(MAX_RULES_SHOWN):
        example = report.cut_examples.get(reason, "")
        print_line(f"  {number:>9,}  {reason}" + (f": {example}" if number == 1 else f", such as {example}"))


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{count:,} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
