"""The hooks of a visit and of a run, which the features of a crawl override."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Page, UrlOutcome, UrlRecord
    from ultracrawl.model.candidate import Candidate
    from ultracrawl.model.page import Link
    from ultracrawl.run.results import FetchedPart
    from ultracrawl.run.visit import Visit


P = ParamSpec("P")
R = TypeVar("R")

TICK_SECONDS = 0.1
"""Seconds between two calls of the hook `tick`."""


class Feature:
    """Base class of crawl features. Only overridden hooks are called; the others cost nothing.

    The hooks are listed in the order of a run. A feature acts only through the ports of its `CrawlContext` and does
    not know other features.
    """

    def opened(self) -> None:
        """Load and begin; called once, when the run has begun and the definition is applied. May raise `WorkError`."""

    def queue_opened(self) -> None:
        """Queue what the run starts with; called once, when the queue is open."""

    def seed_excluded(self, url: str, rule: str) -> None:
        """Handle a start URL that `rule` excludes."""

    def admit_new_url(self, site: str) -> bool:
        """Return whether a new URL of a site may be fetched in this cycle, and count it; else it is only recorded."""
        return True

    def candidate_judged(self, candidate: Candidate, rule: str) -> None:
        """Handle the decision on a new URL; `rule` excludes it, or is empty.

        `candidate` holds the counters of that moment. It is built only if a feature overrides this hook.
        """

    def candidate_excluded(self, url: str, rule: str, parent: str, message: str) -> None:
        """Handle a URL that `rule` excludes.

        `message` is the number and text for the log; empty if another log line reports the URL.
        """

    def response_received(self, visit: Visit) -> None:
        """Handle a response whose status, size and validators are set on the visit; nothing is decided yet."""

    def part_received(self, visit: Visit, part: FetchedPart) -> None:
        """Handle the response to a request of a page that is open in the browser, or the failure of that request."""

    def redirected(self, visit: Visit, target: str, shown: str) -> None:
        """Handle a redirect that is followed to the canonical URL `target`; `shown` is its display URL if different."""

    def visit_retried(self, visit: Visit, error: str) -> None:
        """Handle a failed visit that will be retried; `error` is the name that error rules match."""

    def page_read(self, visit: Visit, page: Page, base: str) -> None:
        """Handle a parsed page about which nothing is decided yet; `base` is the base URL of its links."""

    def links_found(self, visit: Visit, hrefs: Sequence[str], base: str) -> None:
        """Handle the links of a page as written, before any rule is applied."""

    def links_resolved(
        self, visit: Visit, located: Mapping[str, str], inside: array[int], named: Sequence[Link]
    ) -> None:
        """Handle the links of a page after the rules were applied.

        `located` maps each href to its canonical URL, `inside` holds the keys of the admitted ones, and `named` has all
        links with their anchor texts.
        """

    def document_made(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        """Return the completed form of a document that is about to be submitted or retained."""
        return document

    def visit_ending(self, visit: Visit, outcome: UrlOutcome) -> None:
        """Handle the outcome of a visit before its record is written."""

    def visit_ended(self, visit: Visit) -> None:
        """Handle a visit that ended; a tentative one has no outcome (`Visit.outcome` is None)."""

    def unchanged_skipped(self, record: UrlRecord) -> None:
        """Handle a known URL that is not requested because a sitemap says that it is unchanged."""

    def document_leaving(self, record: UrlRecord) -> None:
        """Handle a document that is to be removed from the index, so that a duplicate can replace it."""

    def cycle_ended(self) -> int:
        """Mark expired documents for removal and return their number; called when queue and flight are empty."""
        return 0

    def tick(self) -> None:
        """Do periodic work, ten times a second. May raise `WorkError`, which ends the run."""

    def before_flush(self) -> None:
        """Write to the store what a flush that begins now has to make durable."""

    def after_flush(self) -> None:
        """Act once documents and records are durable that existed at the last `before_flush`."""

    def limits_changed(self) -> None:
        """React to a limit of the run that was passed, or is respected again."""

    def resumed(self) -> None:
        """React to the end of a pause."""

    def run_ending(self, *, complete: bool) -> None:
        """Mark documents for removal; nothing more is fetched. `complete`: the run fetched all that it should."""

    async def after_deletions(self) -> None:
        """Submit again documents that the run and its deletions changed; may take long."""

    def run_committed(self) -> bool:
        """Mark further documents for removal when the run is complete and all is indexed; returns whether any is."""
        return False

    def run_ended(self) -> None:
        """Act at the end of the run, before its report is stored."""

    async def fetching_ended(self) -> None:
        """Give back threads and processes: nothing more is fetched. Also called for a crawl that could not begin."""

    async def closed(self) -> None:
        """Close what was opened; called after the last commit, while the stores are still open."""


_HOOKS = {name: hook for name, hook in vars(Feature).items() if not name.startswith("_")}


class Hooks(dict[Callable[..., Any], tuple[Callable[..., Any], ...]]):
    """The bound hooks of a crawl: `hooks[Feature.visit_ended]` has the methods to call, in the order of `add`.

    Only features that override a hook are called; a hook that none overrides is an empty tuple.
    """

    if TYPE_CHECKING:

        def __getitem__(  # typed as the hook is declared, without `self`
            self, hook: Callable[Concatenate[Any, P], R]
        ) -> tuple[Callable[P, R], ...]: ...

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(_HOOKS.values(), ()))

    def add(self, *features: object) -> None:
        """Register features for the hooks that their classes override; other objects and None are ignored."""
        for feature in features:
            if not isinstance(feature, Feature):
                continue
            for name, hook in _HOOKS.items():
                if getattr(type(feature), name) is not hook:
                    self.call(hook, getattr(feature, name))

    def bind(self, features: Iterable[object]) -> None:
        """Register features in place of all that were registered before."""
        self.update(dict.fromkeys(_HOOKS.values(), ()))
        self.add(*features)

    def call(self, hook: Callable[Concatenate[Any, P], R], method: Callable[P, R]) -> None:
        """Call one more method at a hook, after those that are bound."""
        self[hook] = (*self[hook], method)
