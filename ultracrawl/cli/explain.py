"""`ultracrawl explain`: why a URL is crawled, or is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from ultracrawl.backends import open_state, state_exists
from ultracrawl.cli.options import chosen_sources, config_option, json_option, open_project, print_json
from ultracrawl.model import Decision, UrlRecord, status_text
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.urls import url_key


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the rules of one source say of a URL, and what is known of it."""

    url: str
    canonical_url: str
    source: str
    decisions: tuple[Decision, ...]
    record: UrlRecord | None

    @property
    def accept(self) -> bool:
        """Whether every rule lets the URL in."""
        return all(decision.accept for decision in self.decisions)

    def as_json(self) -> dict[str, Any]:
        """Return the explanation in the shape of `explain --json`."""
        return {
            "url": self.url,
            "canonical_url": self.canonical_url or None,
            "source": self.source,
            "accept": self.accept,
            "decisions": [
                {"stage": one.stage, "rule": one.rule, "accept": one.accept, "reason": one.reason}
                for one in self.decisions
            ],
            "record": self.record.as_json() if self.record else None,
        }


@click.command("explain")
@click.argument("url")
@config_option
@click.option("--source", metavar="S", default="", help="Explain for this source only.")
@json_option
def command(url: str, config: str | None, source: str, as_json: bool) -> None:
    """Say, stage by stage, which rule lets URL in or turns it away, and how its last visit ended.

    Nothing is fetched. What robots.txt says of a URL shows in its last visit. With --json one object a source.

    \b
    Example:
      ultracrawl explain https://docs.example.com/private/x --source handbook
    """  # noqa: D301 - click's mark for a block that keeps its lines
    project = open_project(config)
    chosen = chosen_sources(project, [source] if source else [])
    for explanation in (explain(project, one, url) for one in chosen):
        if as_json:
            print_json(explanation.as_json())
        else:
            _print(explanation)


def explain(project: Project, source: DataSource, url: str) -> Explanation:
    """Put a URL through the rules of a source, as the crawl would."""
    rules = compile_source(source, project)
    canonical = rules.url_policy.canonicalise(url)
    if not canonical.url:
        return Explanation(url, "", source.name, (canonical.decision,), None)
    record = _record(project, source, canonical.url)
    seed = canonical.url in rules.seeds
    depth = record.depth if record else 0
    decisions = rules.boundary.decisions(canonical.url, depth, seed=seed)
    return Explanation(url, canonical.url, source.name, (canonical.decision, *decisions), record)


def _record(project: Project, source: DataSource, url: str) -> UrlRecord | None:
    if not state_exists(project, source.name):
        return None
    state = open_state(project, source.name, read_only=True)
    try:
        return state.get(url_key(url))
    finally:
        state.close()


def _print(explanation: Explanation) -> None:
    verdict = "would be crawled" if explanation.accept else "is turned away"
    click.echo(f"{explanation.source}: {explanation.canonical_url or explanation.url} {verdict}")
    for decision in explanation.decisions:
        mark = (
            "yes"
            if decision.accept and decision.index
            else "NO "
            if not decision.accept
            else "yes, not indexed"
        )
        click.echo(f"  {mark:<4} {decision.stage:<10} {decision.rule}: {decision.reason}")
    record = explanation.record
    if record is None:
        click.echo("  not known yet: no page that was crawled links to it, or nothing was crawled")
    else:
        why = f" ({record.reason})" if record.reason else ""
        text = status_text(record.status_code)
        click.echo(
            f"  last visit: {record.outcome.value}, {record.status_code} {text}{why}; depth {record.depth}"
        )
        click.echo(f"  in the index: {'yes' if record.indexed else 'no'}")
