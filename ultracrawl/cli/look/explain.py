"""`ultracrawl explain`: why a URL is crawled, or is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import click

from ultracrawl.cli.options import chosen_sources, config_option, json_option, open_project, print_json
from ultracrawl.cli.terminal import tell
from ultracrawl.crawl.discovery.new_urls import closing_rule, trap_guard
from ultracrawl.crawl.inspection.later_stages import later_stages
from ultracrawl.crawl.run.limits import keeps_new_out
from ultracrawl.crawl.transport.host_addresses import HostAddresses
from ultracrawl.crawl.user_code.rewriters import opened_rewriter
from ultracrawl.model import Decision, UrlRecord, status_text
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.rewriting.rewriter import apply_rewriter
from ultracrawl.rules.candidates.rules import CandidateRules, TrapGuard
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.stores import StoredRobots
from ultracrawl.stores.opening import open_state, state_exists


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
            "decisions": [
                {"stage": one.stage, "rule": one.rule, "accept": one.accept, "reason": one.reason}
                for one in self.decisions
            ],
            "record": self.record.as_json() if self.record else None,
            "duplicates": [{"url": one.url, "indexed": one.indexed} for one in self.duplicates],
        }


@click.command("explain")
@click.argument("url")
@config_option
@click.option("--source", metavar="S", default="", help="Explain for this source only.")
@click.option("--dns", is_flag=True, help="Look the host up, and judge its addresses.")
@json_option
def command(url: str, config: str | None, source: str, dns: bool, as_json: bool) -> None:
    """Show, stage by stage, which rule includes or excludes URL, and how its last visit ended.

    Nothing is fetched: robots.txt and the answer are shown as they were at the last visit. With --json one object
    a source.

    \b
    Example:
      ultracrawl explain https://docs.example.com/private/x --source handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    chosen = chosen_sources(project, [source] if source else [])
    for explanation in (explain(project, one, url, dns=dns) for one in chosen):
        if as_json:
            print_json(explanation.as_json())
        else:
            _print(explanation)


def explain(project: Project, source: DataSource, url: str, *, dns: bool = False) -> Explanation:
    """Put a URL through the rules of a source, as the crawl would a link. Raises `UserError`, `WorkError`."""
    hosts = HostAddresses()
    rules = compile_source(source, project, hosts)
    try:
        with opened_rewriter(source) as rewriter:
            found = _found(rules, rewriter, url)
        if not found.access_url:
            return Explanation(url, "", source.name, tuple(found.decisions), None)
        known = _known(project, source, rules, found.access_url)
        record = known.record
        decisions = known.rules.decisions(known.candidate)
        later = later_stages(source, rules, found.access_url, record, known.robots, dns=dns)
        stages = (*found.decisions, *decisions, *later)
        return Explanation(
            url, found.access_url, source.name, stages, record, found.display_url, known.duplicates
        )
    finally:
        hosts.close()


class _Found(NamedTuple):
    """The URLs of a link, and what made them."""

    decisions: list[Decision]
    access_url: str = ""
    display_url: str = ""


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
    """What the state knows of a URL, of its robots.txt, and of other URLs with the same content.

    `candidate` is the URL as a link to it would be judged now, `rules` are the stages that judge it.
    """

    rules: CandidateRules
    candidate: Candidate
    record: UrlRecord | None = None
    robots: StoredRobots | None = None
    duplicates: tuple[UrlRecord, ...] = ()


def _known(project: Project, source: DataSource, rules: CompiledSource, url: str) -> _Known:
    seed = url in rules.seeds
    if not state_exists(project, source.name):
        guard = TrapGuard(source.limits.urls_per_site, source.limits.query_variations, {})
        stages, closed = CandidateRules(rules.boundary, guard), closing_rule(rules, refresh_only=False)
        return _Known(stages, stages.candidate(url, 0, "", site_of(url), closed)._replace(seed=seed))
    state = open_state(project, source.name, read_only=True)
    try:
        stages = CandidateRules(rules.boundary, trap_guard(source.limits, state))
        refresh_only = keeps_new_out(source.limits, state, project.state.path)
        closed = closing_rule(rules, refresh_only=refresh_only)
        record = state.records.get_record(url_key(url))
        twins = state.records.same_content(record.fingerprint) if record else []
        candidate = stages.candidate(url, record.depth if record else 0, "", site_of(url), closed)
        candidate = candidate._replace(seed=seed, known=record is not None)
        others = sorted((one for one in twins if one.url != url), key=lambda one: (not one.indexed, one.url))
        return _Known(stages, candidate, record, state.sites.get_robots(origin_of(url)), tuple(others))
    finally:
        state.close()


def _print(explanation: Explanation) -> None:
    verdict = "would be crawled" if explanation.accept else "is excluded"
    tell(f"{explanation.source}: {explanation.canonical_url or explanation.url} {verdict}")
    if explanation.display_url != explanation.canonical_url:
        tell(f"  shown as {explanation.display_url}")
    for decision in explanation.decisions:
        mark = (
            "yes"
            if decision.accept and decision.index
            else "NO "
            if not decision.accept
            else "yes, not indexed"
        )
        tell(f"  {mark:<4} {decision.stage:<10} {decision.rule}: {decision.reason}")
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
