"""`ultracrawl explain`: why a URL is crawled, or is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import click

from ultracrawl.cli.options import chosen_sources, config_option, json_option, open_project, print_json
from ultracrawl.cli.terminal import tell
from ultracrawl.crawl.discovery.robots_answers import latest_answer
from ultracrawl.crawl.inspection.candidates import PastVerdict, judge_now, past_verdicts
from ultracrawl.crawl.inspection.later_stages import later_stages
from ultracrawl.crawl.transport.host_addresses import HostAddresses
from ultracrawl.crawl.user_code.rewriters import opened_rewriter
from ultracrawl.errors import UserError
from ultracrawl.model import Decision, UrlRecord, status_text
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.rewriting.rewriter import apply_rewriter
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.stores import StoredRobots
from ultracrawl.stores.opening import open_sites, state_to_read

NO_CANDIDATE = Candidate("")


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the rules of one source say of a URL, and what is known of it."""

    url: str
    canonical_url: str
    source: str
    decisions: tuple[Decision, ...]
    record: UrlRecord | None
    display_url: str = ""
    """The URL that would be shown, if the link were new."""
    duplicates: tuple[UrlRecord, ...] = ()
    """Other URLs with the same content, the one in the index first."""
    candidate: Candidate = NO_CANDIDATE
    """The URL as a link to it would be judged now."""

    @property
    def accept(self) -> bool:
        """Whether no rule excludes the URL."""
        return all(decision.accept for decision in self.decisions)

    def as_json(self) -> dict[str, Any]:
        """Return the explanation in the shape of `explain --json`."""
        return {
            "url": self.url,
            "canonical_url": self.canonical_url or None,
            "display_url": self.display_url or None,
            "source": self.source,
            "accept": self.accept,
            "decisions": [one.as_json() for one in self.decisions],
            "record": self.record.as_json() if self.record else None,
            "counters": self.candidate.counters,
            "duplicates": [{"url": one.url, "indexed": one.indexed} for one in self.duplicates],
        }


@click.command("explain")
@click.argument("url")
@config_option
@click.option("--source", metavar="S", default="", help="Explain for this source only.")
@click.option("--dns", is_flag=True, help="Look the host up, and judge its addresses.")
@click.option(
    "--as-of-run",
    metavar="N",
    type=click.IntRange(min=1),
    help="Say what run N decided, by its log of candidates (`log: {candidates: true}`).",
)
@json_option
def command(
    url: str, config: str | None, source: str, dns: bool, as_of_run: int | None, as_json: bool
) -> None:
    """Show, stage by stage, which rule includes or excludes URL, and how its last visit ended.

    Nothing is fetched: robots.txt and the answer are shown as they were at the last visit; limits on the number of
    URLs count what is known now. With --as-of-run the verdict, the rule and the counters are those of a past run, and
    a verdict that the definition would not give any more is pointed out. With --json one object a source.

    \b
    Examples:
      ultracrawl explain https://docs.example.com/private/x --source handbook
      ultracrawl explain https://docs.example.com/calendar?m=7 --source handbook --as-of-run 3
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    chosen = chosen_sources(project, [source] if source else [])
    if as_of_run is not None:
        if len(chosen) > 1:
            raise UserError("each source counts its own runs; name one by --source")
        _tell_past(_past(project, chosen[0], url, as_of_run), as_json=as_json)
        return
    for explanation in (explain(project, one, url, dns=dns) for one in chosen):
        if as_json:
            print_json(explanation.as_json())
        else:
            _print(explanation)


def explain(project: Project, source: DataSource, url: str, *, dns: bool = False) -> Explanation:
    """Put a URL through the rules of a source, as the crawl would a link. Raises `UserError`, `WorkError`."""
    with _forms(project, source, url) as (rules, found):
        if not found.access_url:
            return Explanation(url, "", source.name, tuple(found.decisions), None)
        known = _known(project, source, rules, found.access_url)
        record = known.record
        later = later_stages(source, rules, found.access_url, record, known.robots, dns=dns)
        stages = (*found.decisions, *known.decisions, *later)
        return Explanation(
            url,
            found.access_url,
            source.name,
            stages,
            record,
            found.display_url,
            known.duplicates,
            known.candidate,
        )


class _Found(NamedTuple):
    """The URLs of a link, and what made them."""

    decisions: list[Decision]
    access_url: str = ""
    display_url: str = ""


@contextmanager
def _forms(project: Project, source: DataSource, url: str) -> Iterator[tuple[CompiledSource, _Found]]:
    """Give the rules of a source, and the URLs that a link has by them."""
    with closing(HostAddresses()) as hosts:
        rules = compile_source(source, project, hosts)
        with opened_rewriter(source) as rewriter:
            found = _found(rules, rewriter, url)
        yield rules, found


def _found(rules: CompiledSource, rewriter: UrlRewriter | None, url: str) -> _Found:
    canonical = rules.url_policy.canonicalise(url)
    decisions = [canonical.decision]
    if not canonical.url or rewriter is None:
        return _Found(decisions, canonical.url or "", canonical.url or "")
    if canonical.url in rules.seeds:
        not_asked = Decision(True, "rewrite", "url rewriter", "a start URL is not shown to it")
        return _Found([*decisions, not_asked], canonical.url, canonical.url)
    result = apply_rewriter(rewriter, canonical.url, rules.url_policy.without_rewriting)
    return _Found([*decisions, result.decision], result.access_url, result.display_url)


class _Known(NamedTuple):
    """What the stages say of a URL now, and what the state knows of it, its robots.txt, and of equal content."""

    candidate: Candidate
    decisions: tuple[Decision, ...]
    record: UrlRecord | None = None
    robots: StoredRobots | None = None
    duplicates: tuple[UrlRecord, ...] = ()


def _known(project: Project, source: DataSource, rules: CompiledSource, url: str) -> _Known:
    with state_to_read(project, source.name) as state:
        judge = judge_now(project, source, rules, state)
        record = state.records.get_record(url_key(url)) if state is not None else None
        candidate = judge.candidate(url, record)
        decisions = tuple(judge.rules.decisions(candidate))
        if state is None:
            return _Known(candidate, decisions)
        twins = state.records.same_content(record.fingerprint) if record else []
        others = sorted((one for one in twins if one.url != url), key=lambda one: (not one.indexed, one.url))
        with closing(open_sites(project, read_only=True)) as sites:
            robots = latest_answer(sites, rules, origin_of(url))
        return _Known(candidate, decisions, record, robots, tuple(others))


def _print(explanation: Explanation) -> None:
    verdict = "would be crawled" if explanation.accept else "is excluded"
    tell(f"{explanation.source}: {explanation.canonical_url or explanation.url} {verdict}")
    if explanation.display_url != explanation.canonical_url:
        tell(f"  shown as {explanation.display_url}")
    _print_decisions(explanation.decisions)
    for limit in explanation.candidate.over:
        tell(f"  counted now: {limit}")
    record = explanation.record
    if record is None:
        found = "no page that was crawled links to it, or nothing was crawled"
        click.echo(f"  not known yet: {found}" if explanation.accept else "  not known: it is excluded")
    else:
        why = f" ({record.reason})" if record.reason else ""
        text = status_text(record.status_code)
        tell(f"  last visit: {record.outcome.value}, {record.status_code} {text}{why}; depth {record.depth}")
        kept = "waits for an approval" if record.pending else "yes" if record.indexed else "no"
        click.echo(f"  in the index: {kept}")
        if record.removal:
            tell(f"  is to leave the index: {record.removal}")
    for one in explanation.duplicates:
        tell(f"  same content: {one.url}{' (in the index)' if one.indexed else ''}")


def _print_decisions(decisions: Iterable[Decision]) -> None:
    for one in decisions:
        mark = "NO " if not one.accept else "yes" if one.index else "yes, not indexed"
        tell(f"  {mark:<4} {one.stage:<10} {one.rule}: {one.reason}")


@dataclass(frozen=True, slots=True)
class PastExplanation:
    """What a run of a source decided about a URL, each time that it judged it."""

    url: str
    canonical_url: str
    source: str
    run: int
    verdicts: list[PastVerdict]

    @property
    def accept(self) -> bool:
        """Whether the run let the URL in; the last verdict counts."""
        return not self.verdicts[-1].judged.rule

    def as_json(self) -> dict[str, Any]:
        """Return the explanation in the shape of `explain --as-of-run --json`."""
        return {
            "url": self.url,
            "canonical_url": self.canonical_url or None,
            "source": self.source,
            "run": self.run,
            "accept": self.accept,
            "judged": [one.as_json() for one in self.verdicts],
        }


def _past(project: Project, source: DataSource, url: str, run: int) -> PastExplanation:
    with _forms(project, source, url) as (rules, found):
        forms = {url, found.access_url, rules.url_policy.canonical(url) or url}
        verdicts = past_verdicts(project, source, rules, run, forms)
        return PastExplanation(url, found.access_url, source.name, run, verdicts)


def _tell_past(past: PastExplanation, *, as_json: bool) -> None:
    if as_json:
        print_json(past.as_json())
        return
    verdict = "was let in" if past.accept else "was excluded"
    tell(f"{past.source}: {past.canonical_url or past.url} {verdict} in run {past.run}")
    for one in past.verdicts:
        _print_past(one)


def _print_past(one: PastVerdict) -> None:
    candidate, rule, now = one.judged.candidate, one.judged.rule, one.refusal
    where = (
        f"in {candidate.parent}"
        if candidate.parent
        else "as a start URL"
        if candidate.seed
        else "outside pages"
    )
    tell(f"  {one.judged.time}: found {where}, depth {candidate.depth}")
    if rule:
        tell(f"  NO   {one.judged.stage:<10} {rule}")
    site_urls, path_queries = candidate.counts
    if site_urls is not None:
        tell(f"  counted then: {site_urls:,} URLs of its site")
    if path_queries is not None:
        tell(f"  counted then: {path_queries:,} URLs of its path with another query")
    for limit in candidate.over:
        tell(f"  counted then: {limit}")
    if one.same:
        tell("  the definition as it is now decides the same of it:")
    elif now is None:
        tell("  it is another verdict than that of the definition as it is now, which lets it in:")
    else:
        tell(
            f"  it is another verdict than that of the definition as it is now, which excludes it by {now.rule}:"
        )
    _print_decisions(one.decisions)
