"""Removal of known URLs that a changed definition excludes, without fetching them."""

from __future__ import annotations

from collections.abc import Container, Iterator

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model import (
    Cause,
    CauseCode,
    Decision,
    Removal,
    RemovalReason,
    UrlOutcome,
    UrlRecord,
)
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.rewriting.rewriter import RewriteOutcome, apply_rewriter
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.urls.canonical import UrlPolicy, url_key
from ultracrawl.rules.urls.site_table import NO_SITES, SiteTable
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.writing.writer import IndexWriter
from ultracrawl.sources import CompiledSource
from ultracrawl.stores import RunMark, Store

BATCH = 1000
"""URLs that are dropped per transaction, so that readers of the store never wait for long."""
OTHER_FORM = "urls: it has another canonical form now"
OTHER_URLS = "url rewriter: it gives other URLs now"
OUTSIDE = (RemovalReason.SCOPE, RemovalReason.FORM)
"""Why a changed definition removes documents."""
UNFOLLOWED = ".unfollowed"
"""Suffix of the mark of a run that did not follow links (crawling mode `index-only`)."""
KEPT_OUT = ".kept-out"
"""Suffix of the mark of a run that left links for later (refresh-only mode)."""
MIXED = "mixed"
"""In place of a recipe: documents were made by several. Before a scope: there are documents outside of it, which are
held back. Either differs from that of every definition."""
_WITH_OUTSIDE = f"{MIXED}-"


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """How a definition differs from that of the last run."""

    scope: bool
    """The scope changed: known URLs outside are removed, and every page is scanned."""
    recipe: bool
    """Documents are made differently: every page is processed again."""
    sites: SiteRecipes | None = None
    """Set if only pages of some sites are processed again, because documents are made differently there."""

    @property
    def rescan(self) -> bool:
        """Whether every page is fetched and scanned, changed or not."""
        return self.scope or self.recipe


@dataclass(frozen=True, slots=True)
class SiteRecipes:
    """The digests of sites with recipes of their own, before and now."""

    before: SiteTable[str]
    now: SiteTable[str]
    usual: str
    """The digest of all other sites, which has not changed."""

    def differ_at(self, site: str) -> bool:
        """Return whether documents of a site are made differently now."""
        return (self.before.find(site) or self.usual) != (self.now.find(site) or self.usual)

    @property
    def names(self) -> list[str]:
        """The sites, as `sites.overrides` names them, whose digest differs."""
        keys = {*self.before.values, *self.now.values}
        return sorted(
            key for key in keys if self.differ_at(f"x{key}" if key.startswith(".") else key.rstrip(":"))
        )


NO_CHANGE = DefinitionChange(False, False)


def definition_hash(rules: CompiledSource) -> str:
    """Return the digests of a definition that are stored with each run."""
    return f"{rules.scope}.{recipes_of(rules)}" + ("" if rules.follows_links else UNFOLLOWED)


def recipes_of(rules: CompiledSource) -> str:
    """Return the part of `definition_hash` that says how documents are made."""
    return rules.recipe + "".join(f" {key}={recipe}" for key, recipe in _own_recipes(rules).values.items())


def with_recipes(mark: str, recipes: str) -> str:
    """Return the mark of a run whose documents were made again since, by these recipes."""
    digests = _digests(mark)
    return f"{digests.partition('.')[0]}.{recipes}{mark.removeprefix(digests)}"


def with_documents_outside(mark: str) -> str:
    """Return the mark of a run that held back documents outside the scope: the next one looks at all URLs again."""
    return _WITH_OUTSIDE + without_documents_outside(mark)


def without_documents_outside(mark: str) -> str:
    """Return the mark of a run as if it had held back no documents outside the scope."""
    return mark.removeprefix(_WITH_OUTSIDE)


def _digests(mark: str) -> str:
    return mark.removesuffix(KEPT_OUT).removesuffix(UNFOLLOWED)


def _own_recipes(rules: CompiledSource) -> SiteTable[str]:
    """Return the digests by site; sites that are made like the source are named if a larger part is not."""
    own = {key: overlay.recipe for key, overlay in sorted(rules.overlays.values.items())}
    return SiteTable(own) if any(recipe != rules.recipe for recipe in own.values()) else NO_SITES


def with_links_left(mark: str) -> str:
    """Return the mark of a run that left links for a later run."""
    return mark.removesuffix(KEPT_OUT) + KEPT_OUT


def mark_of_next(latest: RunMark | None, rules: CompiledSource, *, closed: bool) -> str:
    """Return the mark of a new run; that of `latest` if it continues by the same definition.

    Links that were left are followed by the first run that admits new URLs (not `closed`).
    """
    mark = definition_hash(rules)
    if latest is not None and latest.scope == with_links_left(mark) and (closed or not latest.finished):
        return latest.scope
    return mark


def change_since(before: RunMark | None, rules: CompiledSource, *, closed: bool = False) -> DefinitionChange:
    """Return how the definition differs from that of an earlier run; `NO_CHANGE` without one.

    Links that the earlier run left count as a change of scope, unless new URLs are excluded now, too (`closed`).
    """
    if before is None:
        return NO_CHANGE
    mark = _digests(before.scope)
    scope, _, recipes = mark.partition(".")
    recipe, *own = recipes.split(" ")
    has_links_left = mark != before.scope and rules.follows_links and not closed
    sites = SiteRecipes(SiteTable(dict(pair.split("=") for pair in own)), _own_recipes(rules), recipe)
    return DefinitionChange(
        scope != rules.scope or has_links_left,
        recipe != rules.recipe,
        sites if sites.names and recipe == rules.recipe else None,
    )


class ScopeCheck:
    """Finds known URLs that the rules of a source no longer admit, for a run to drop and for `plan` to show.

    Known URLs and start URLs pass the same stages as links, except those that count new URLs.
    """

    def __init__(self, state: Store, rules: CompiledSource, rewriter: UrlRewriter | None) -> None:
        self._state = state
        self._rules = rules
        self._rewriter = rewriter
        self._stages = CandidateRules(rules.boundary)
        self._seeds = frozenset(rules.seeds)
        self._exempt: frozenset[int] = frozenset()
        if rules.feeds_ignore_rules:
            self._exempt = frozenset(link.key for _, link in state.sites.all_feed_links())

    def outside(self) -> Iterator[tuple[UrlRecord, str]]:
        """Yield every known URL that is now excluded, with the rule that excludes it."""
        for record in self._records():
            other = self._other_form(record)
            rule = other.rule if other else self._stages.known_rejects(self._candidate(record))
            if rule is not None:
                yield record, rule

    def refusals(self) -> Iterator[tuple[UrlRecord, Decision]]:
        """Yield every known URL that is now excluded, with the decision of the stage that excludes it.

        Only for those the stages are run one by one, which takes ten times as long as the compiled check.
        """
        for record in self._records():
            candidate, refusal = self._candidate(record), self._other_form(record)
            if refusal is None and self._stages.known_rejects(candidate) is not None:
                refusal = self._stages.refusal(candidate)
            if refusal is not None:
                yield record, refusal

    def keeps_any(self, outside: Container[int]) -> bool:
        """Return whether a document stays that is not one of the URLs `outside`, nor inside only as a start URL."""
        for record in self._records():
            if record.searchable and url_key(record.url) not in outside:
                as_link = self._candidate(record)._replace(seed=False)
                if self._stages.known_rejects(as_link) is None:
                    return True
        return False

    def has_other_form(self, record: UrlRecord) -> bool:
        """Return whether a URL has another canonical form now; start URLs are requested as they are."""
        form = None if record.url in self._seeds else self._policy_of(record).canonical(record.url)
        return form is not None and form != record.url

    def _policy_of(self, record: UrlRecord) -> UrlPolicy:
        policy = self._rules.url_policy
        return policy.without_rewriting if record.display_url else policy

    def _records(self) -> Iterator[UrlRecord]:
        sitemaps = self._state.sites.sitemap_keys()
        for record in self._state.records.all_records():
            if not record.removed and not (sitemaps and url_key(record.url) in sitemaps):
                yield record

    def _candidate(self, record: UrlRecord) -> Candidate:
        seed, exempt = record.url in self._seeds, bool(self._exempt) and url_key(record.url) in self._exempt
        depth = 0 if seed else record.depth
        return Candidate(record.url, depth, seed=seed, known=True, rules_hold=seed or not exempt)

    def _other_form(self, record: UrlRecord) -> Decision | None:
        """Return the decision against a record whose URL would get another form if it were found in a page now."""
        if record.url in self._seeds:
            return None
        policy = self._policy_of(record)
        canonical = policy.canonical(record.url)
        if canonical is None:
            return policy.canonicalise(record.url).decision
        if canonical != record.url:
            return Decision(False, "url", OTHER_FORM, canonical)
        return self._rewriting_change(record, borrowed=bool(record.display_url))

    def _rewriting_change(self, record: UrlRecord, *, borrowed: bool) -> Decision | None:
        if borrowed and self._redirects(record.display_url):
            return None
        if self._rewriter is None:
            return Decision(False, "rewrite", OTHER_URLS, record.shown_url) if borrowed else None
        result = apply_rewriter(self._rewriter, record.shown_url, self._rules.url_policy.without_rewriting)
        if result.outcome is RewriteOutcome.ERROR:
            return None
        same = (result.display_url, result.access_url) == (record.shown_url, record.url)
        return None if same else Decision(False, "rewrite", OTHER_URLS, result.access_url)

    def _redirects(self, url: str) -> bool:
        record = self._state.records.get_record(url_key(url))
        return record is not None and record.outcome is UrlOutcome.REDIRECTED


def drop_outside(
    state: Store,
    writer: IndexWriter,
    rules: CompiledSource,
    counters: RunCounters,
    rewriter: UrlRewriter | None = None,
) -> int:
    """Remove every known URL that the rules no longer admit from queue, table and index; returns how many.

    Source: Ultra Search 9.3, change of rules. Deletions are durable in the document cache before the records are
    dropped. A document with a duplicate inside the scope is removed at the end of the run, after the duplicate was
    indexed; so is one whose URL has another form now. If no document stays, all wait for the end of the run, which
    deletes them if it has found others.
    """
    check = ScopeCheck(state, rules, rewriter)
    outside = list(check.outside())
    keys = {url_key(record.url) for record, _ in outside}
    waiting = _back_inside(state, keys)
    keeps_none = waiting or not check.keeps_any(keys)
    dropped: list[int] = []
    held: list[int] = []
    for record, rule in outside:
        counters.count_excluded(rule)
        key = url_key(record.url)
        moves = check.has_other_form(record)
        if record.searchable and (keeps_none or moves or _has_copy(state, record, keys)):
            reason = RemovalReason.FORM if moves else RemovalReason.SCOPE
            removal = Removal(reason, Cause(CauseCode.RULE, rule))
            state.records.amend_record(key, replace(record, removal=removal))
            held.append(key)
            continue
        if record.searchable:
            writer.delete(key, record)
        dropped.append(key)
    writer.sync()
    state.queue.dequeue_urls(held)
    for start in range(0, len(dropped), BATCH):
        state.drop_urls(dropped[start : start + BATCH])
    return len(outside)


def _back_inside(state: Store, outside: Container[int]) -> bool:
    """Let documents stay that an earlier run marked, and that are inside now; returns whether others are marked."""
    marked = [record for record in state.records.records_to_remove() if record.leaves_for(*OUTSIDE)]
    back = [record for record in marked if url_key(record.url) not in outside]
    for record in back:
        state.records.amend_record(url_key(record.url), replace(record, removal=None))
    return len(back) < len(marked)


def _has_copy(state: Store, record: UrlRecord, outside: Container[int]) -> bool:
    """Return whether a duplicate inside the scope, which this run fetches, can take the place of a document."""
    return any(
        other.url != record.url and not other.removed and url_key(other.url) not in outside
        for other in state.records.with_fingerprint(record.fingerprint)
    )
