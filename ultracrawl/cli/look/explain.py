"""`ultracrawl explain`: shows why a URL is crawled or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urljoin, urlsplit

import click

from ultracrawl.cli.mistakes import Mistake, with_scheme
from ultracrawl.cli.options import (
    SOURCE_NAME,
    chosen_sources,
    config_option,
    json_option,
    numbers_option,
    open_project,
    print_json,
)
from ultracrawl.cli.terminal import described_status, escape_controls, print_line, wrapped
from ultracrawl.model import CauseCode, Decision, UrlRecord
from ultracrawl.model.advice import advice_for_record
from ultracrawl.rules.access.readers import NOBODY
from ultracrawl.run.inspection.candidates import PastVerdict
from ultracrawl.run.inspection.explanation import Explanation, PastExplanation, explain, explain_past
from ultracrawl.sources import DataSource
from ultracrawl.system.nouns import counted

_REASON_INDENT = " " * 18
_MOST_PAGES = 20
"""Linking pages that are named for people; JSON has all."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BEGINNINGS = ("/", "?", ".")
"""How a link begins that is relative to a start URL; a word alone is a mistake."""
_OTHER_SCHEME = re.compile(r"(?!(?:https?|ftp):)[A-Za-z][A-Za-z0-9+.-]*:", re.IGNORECASE)
"""A link of another scheme (`mailto:`) is excluded, and no mistake."""


@click.command("explain")
@click.argument("url")
@config_option
@click.option("--source", type=SOURCE_NAME, metavar="S", default="", help="Explain for this source only.")
@click.option("--dns", is_flag=True, help="Look the host up, and judge its addresses.")
@click.option(
    "--as-of-run",
    metavar="N",
    type=click.IntRange(min=1),
    help="Show what run N decided, by its log of candidates (`log: {candidates: true}`).",
)
@numbers_option
@json_option
def command(
    url: str,
    config: str | None,
    source: str,
    dns: bool,
    as_of_run: int | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """Show, stage by stage, which rule includes or excludes URL, and how its last visit ended.

    Nothing is fetched: robots.txt and the response are shown as they were at the last visit; limits on the number of
    URLs count what is known now. With --as-of-run the verdict, the rule and the counters are those of a past run, and
    a verdict that the definition would not give any more is pointed out. Documents of sources that are listed are
    known by the URL that hits show, too. A path is joined to the first start URL. Sources that know the URL are shown
    first. With --json one object a source.

    \b
    Examples:
      ultracrawl explain https://docs.example.com/private/x --source handbook
      ultracrawl explain /private/x
      ultracrawl explain https://docs.example.com/calendar?m=7 --source handbook --as-of-run 3
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    chosen = chosen_sources(project, [source] if source else [])
    if as_of_run is not None:
        if len(chosen) > 1:
            raise Mistake.RUN_OF_SEVERAL.error()
        past = explain_past(project, chosen[0], _whole_url(chosen[0], url), as_of_run)
        _print_past_verdicts(past, as_json=as_json)
        return
    if url in project.known_sources:
        raise Mistake.SOURCE_FOR_URL.error(name=url, instead=f"ultracrawl explain /x --source {url}")
    if not _SCHEME.match(url) and (instead := with_scheme(url)):
        raise Mistake.URL_WITHOUT_SCHEME.error(url=url, instead=f"ultracrawl explain {instead}")
    if not (_SCHEME.match(url) or url.startswith(_BEGINNINGS)):
        raise Mistake.NO_URL_OR_PATH.error(url=url)
    whole = {one.name: _whole_url(one, url) for one in chosen}
    if not (_OTHER_SCHEME.match(url) or any(map(_has_host, whole.values()))):
        raise Mistake.NO_URL_OR_PATH.error(url=url)
    found = [explain(project, one, whole[one.name], dns=dns) for one in chosen]
    for explanation in sorted(found, key=lambda one: one.record is None):
        if as_json:
            print_json(explanation.as_json())
        else:
            _print(explanation, project.known_sources[explanation.source], verbose=verbose)


def _has_host(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname)
    except ValueError:
        return False


def _whole_url(source: DataSource, text: str) -> str:
    """Return a URL as it is, and a path joined to the first start URL of a source."""
    if _SCHEME.match(text):
        return text
    try:
        return urljoin(next(iter(source.seed_urls), ""), text)
    except ValueError:
        return text


def _print(explanation: Explanation, source: DataSource, *, verbose: bool) -> None:
    verdict = "would be crawled" if explanation.accept else "is excluded"
    record = explanation.record
    if explanation.accept and record and record.last_fetched and not (record.searchable or record.pending):
        verdict += ", but gave no document at its last visit"
    print_line(f"{explanation.source}: {explanation.canonical_url or explanation.url} {verdict}")
    if explanation.display_url != explanation.canonical_url:
        print_line(f"  shown as {explanation.display_url}")
    is_kept = record is not None and record.searchable
    _print_decisions(explanation.decisions, is_kept=is_kept)
    for limit in explanation.candidate.over:
        print_line(f"  counted now: {limit}")
    if record is None:
        why = "no crawled page links to it, or nothing has been crawled"
        click.echo(f"  not known yet: {why}" if explanation.accept else "  not known: it is excluded")
    else:
        reason = record.cause.logged if verbose else record.reason
        status = described_status(record.status_code, verbose=verbose)
        why = f"{status} ({reason})" if reason else status
        if record.cause.code is CauseCode.SITEMAP_DATE and not verbose:
            why = reason  # no server has answered
        print_line(f"  last visit: {record.outcome.value}, {why}; depth {record.depth}")
        _print_linking(explanation.linked_from or ())
        if record.removed:
            back = f"`ultracrawl approve {explanation.source} --restore {record.url}`"
            print_line(f"  what to do: {back} has the next crawl fetch it again")
        elif advice := advice_for_record(record):
            print_line(f"  what to do: {advice}")
        indexed = "waits for approval" if record.pending else "yes" if record.indexed else "no"
        click.echo(f"  in the index: {indexed}")
        if source.acl or source.acl_paths or source.derives_readers:
            print_line(f"  who may see it, by the definition: {_readers(source, record)}")
        if record.removal:
            print_line(f"  is to be deleted from the index: {record.removal}")
    for duplicate in explanation.duplicates:
        shown = f"{duplicate.url}{' (in the index)' if duplicate.indexed else ''}"
        print_line(f"  {_relation(record, duplicate)}: {shown}")


def _print_linking(pages: Sequence[str]) -> None:
    for page in pages[:_MOST_PAGES]:
        print_line(f"  linked from: {page}")
    if others := pages[_MOST_PAGES:]:
        print_line(
            f"  linked from: {counted(len(others), 'more page')}; `ultracrawl explain URL --json` names all"
        )


def _readers(source: DataSource, record: UrlRecord) -> str:
    """Return who may see a document that the definition of now is applied to, in words."""
    readers = source.readers_of(record.url, record.shown_url)
    names = "nobody" if readers == (NOBODY,) else f"only {', '.join(readers)}" if readers else "everybody"
    return f"{names}, unless the document names its readers itself"


def _relation(record: UrlRecord | None, duplicate: UrlRecord) -> str:
    """Return what a URL of the same document is to the explained one."""
    if duplicate.cause.code is CauseCode.CANONICAL:
        return "alias"
    if record is not None and record.cause.code is CauseCode.CANONICAL:
        return "alias of"
    return "same content"


def _print_decisions(decisions: Iterable[Decision], *, is_kept: bool = False) -> None:
    """Print decisions; `is_kept`: the document is in the index, whatever the last answer was."""
    for decision in decisions:
        mark = "NO " if decision.refuses else "yes"
        color = "red" if decision.refuses else "green" if decision.index else "yellow"
        kept_out = "" if decision.index or is_kept or not decision.accept else " (not indexed)"
        line = escape_controls(f"{decision.stage:<10} {decision.rule}{kept_out}: {decision.reason}")
        first = f"  {mark:<4} "
        shown = wrapped(line, _REASON_INDENT, first=first)
        click.echo(click.style(first, fg=color) + shown[len(first) :])


def _print_past_verdicts(past: PastExplanation, *, as_json: bool) -> None:
    if as_json:
        print_json(past.as_json())
        return
    verdict = "was included" if past.accept else "was excluded"
    print_line(f"{past.source}: {past.canonical_url or past.url} {verdict} in run {past.run}")
    for past_verdict in past.verdicts:
        _print_past(past_verdict)


def _print_past(verdict: PastVerdict) -> None:
    candidate, rule, now = verdict.judged.candidate, verdict.judged.rule, verdict.refusal
    where = (
        f"in {candidate.parent} ({candidate.kind.option})"
        if candidate.parent
        else "as a start URL"
        if candidate.seed
        else "outside pages"
    )
    print_line(f"  {verdict.judged.time}: found {where}, depth {candidate.depth}")
    if rule:
        print_line(f"  NO   {verdict.judged.stage:<10} {rule}")
    site_urls, path_queries = candidate.counts
    if site_urls is not None:
        print_line(f"  counted then: {counted(site_urls, 'URL')} of its site")
    if path_queries is not None:
        print_line(f"  counted then: {counted(path_queries, 'URL')} of its path with another query")
    for limit in candidate.over:
        print_line(f"  counted then: {limit}")
    if verdict.same:
        print_line("  the current definition gives the same verdict:")
    elif now is None:
        print_line("  the verdict has changed: the current definition includes the URL:")
    else:
        print_line(f"  the verdict has changed: the current definition excludes the URL by {now.rule}:")
    _print_decisions(verdict.decisions)
