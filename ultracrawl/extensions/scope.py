"""What happens when the definition changed: known URLs outside the new scope leave without being fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ultracrawl.boundary import RewriteOutcome, UrlRewriter, apply_rewriter
from ultracrawl.extensions.feed import IndexFeed
from ultracrawl.model import RunReport, UrlRecord
from ultracrawl.sources import CompiledSource
from ultracrawl.state import RunMark, StateStore
from ultracrawl.urls import url_key

BATCH = 1000
OTHER_FORM = "urls: it has another canonical form now"
REWRITER = "url rewriter"


@dataclass(frozen=True, slots=True)
class Change:
    """How a definition differs from that of the last run."""

    scope: bool
    """Other URLs are let in: known ones outside leave, and every page is scanned."""
    recipe: bool
    """Other documents are made of the same pages: every page is processed again."""

    @property
    def rescan(self) -> bool:
        """Whether every page is fetched and scanned, changed or not."""
        return self.scope or self.recipe


def definition_mark(rules: CompiledSource) -> str:
    """Return what a run remembers of the definition that it followed."""
    return f"{rules.scope}.{rules.recipe}"


def change_since(before: RunMark | None, rules: CompiledSource) -> Change:
    """Compare the definition with that of an earlier run; without one nothing changed."""
    if before is None:
        return Change(False, False)
    scope, _, recipe = before.scope.partition(".")
    return Change(scope != rules.scope, recipe != rules.recipe)


def outside(
    state: StateStore, rules: CompiledSource, rewriter: UrlRewriter | None
) -> Iterator[tuple[UrlRecord, str]]:
    """Yield every known URL that the rules no longer admit, with the rule that turns it away."""
    for record in state.records():
        rule = _refusal(record, rules, rewriter)
        if rule is not None:
            yield record, rule


def _refusal(record: UrlRecord, rules: CompiledSource, rewriter: UrlRewriter | None) -> str | None:
    seed = record.url in rules.seeds
    if not seed and (rule := _other_form(record, rules, rewriter)) is not None:
        return rule
    return rules.boundary.rejects(record.url, 0 if seed else record.depth, seed=seed)


def _other_form(record: UrlRecord, rules: CompiledSource, rewriter: UrlRewriter | None) -> str | None:
    """Return the rule by which the URL of a record would be another one, if it were found in a page now."""
    policy = rules.url_policy if record.shown_url == record.url else rules.url_policy.without_rewriting
    canonical = policy.canonical(record.url)
    if canonical is None:
        return policy.canonicalise(record.url).decision.rule
    if canonical != record.url:
        return OTHER_FORM
    if rewriter is None:
        return None
    result = apply_rewriter(rewriter, record.shown_url, policy.without_rewriting)
    same = (result.display_url, result.access_url) == (record.shown_url, record.url)
    return None if same or result.outcome is RewriteOutcome.ERROR else f"{REWRITER}: it says otherwise now"


def drop_outside(
    state: StateStore,
    feed: IndexFeed,
    rules: CompiledSource,
    report: RunReport,
    rewriter: UrlRewriter | None = None,
) -> int:
    """Drop every known URL that the rules no longer admit from queue, table and index; returns how many.

    Source: Ultra Search 9.3, change of rules. The removals reach the durable cache before the records go.
    """
    dropped: list[int] = []
    counts: Counter[str] = Counter()
    for record, rule in outside(state, rules, rewriter):
        counts[rule] += 1
        key = url_key(record.url)
        if record.indexed or record.handed:
            feed.delete(key, record.shown_url)
        dropped.append(key)
    report.rejected_by.update(counts)
    feed.sync()
    for start in range(0, len(dropped), BATCH):
        state.drop(dropped[start : start + BATCH])
    return len(dropped)
