"""The life of a visit, and of the run around it, as hooks: what a feature of the crawl may take part in."""

from __future__ import annotations

from array import array
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.visit import Visit
    from ultracrawl.index import IndexDocument
    from ultracrawl.model import Page, UrlOutcome, UrlRecord
    from ultracrawl.model.candidate import Candidate
    from ultracrawl.model.page import Link


TICK = 0.1
"""Seconds between two calls of the hook `tick`."""


class Feature:
    """A feature of a crawl, in the hooks that it overrides; the others cost nothing.

    The hooks stand here in the order of a run. A feature acts through the ports of its `CrawlContext` alone, and knows
    no other feature.
    """

    def queue_opened(self) -> None:
        """Give the queue what the run begins with; called once, when the queue takes links."""

    def seed_excluded(self, url: str, rule: str) -> None:
        """Take note of a start URL that no rule lets in."""

    def new_url_admitted(self, site: str) -> bool:
        """Say whether a new URL of a site may be fetched in this cycle, and count it; if not, it is known only."""
        return True

    def candidate_judged(self, candidate: Candidate, rule: str) -> None:
        """Take note of a new URL that was judged, with the rule that keeps it out (empty for none).

        It comes with what was counted then; making it costs something only if a feature overrides this.
        """

    def candidate_excluded(self, url: str, rule: str, parent: str, message: str) -> None:
        """Take note of a URL that no rule lets in.

        `message` is the number and text of its message, empty where the log of the run tells of it otherwise.
        """

    def answered(self, visit: Visit) -> None:
        """Take note of an answer: status, size and validators are those of the visit, and nothing was decided yet."""

    def redirected(self, visit: Visit, target: str, shown: str) -> None:
        """Take note of a redirect that is followed, to a canonical URL; `shown` is its display URL, if that differs."""

    def visit_retried(self, visit: Visit, error: str) -> None:
        """Take note of a visit that failed and is made once more; `error` is the name by which error rules know it."""

    def page_read(self, visit: Visit, page: Page, base: str) -> None:
        """Take note of a page of which nothing was decided yet; `base` is what its links are relative to."""

    def links_found(self, visit: Visit, hrefs: Sequence[str], base: str) -> None:
        """Take note of the links of a page that is followed, as written, before any rule is asked."""

    def links_placed(
        self, visit: Visit, located: Mapping[str, str], inside: array[int], named: Sequence[Link]
    ) -> None:
        """Take note of the links of a page: canonical URLs by what is written, and the keys of those inside.

        `named` are all links of the page with what they are called.
        """

    def document_made(self, visit: Visit, document: IndexDocument) -> IndexDocument:
        """Complete a document that is about to be handed over, or kept; returns it as it is to be."""
        return document

    def visit_ending(self, visit: Visit, outcome: UrlOutcome) -> None:
        """Take note of the outcome that a visit is about to get; its record is not written yet."""

    def visit_ended(self, visit: Visit) -> None:
        """Take note of a visit that has its outcome; a tentative one has none (`Visit.outcome` is None)."""

    def vouched(self, record: UrlRecord) -> None:
        """Take note of a known URL that is not asked for, because a sitemap says that it is as it was."""

    def document_leaving(self, record: UrlRecord) -> None:
        """Take note of a document that is to leave the index, so that a copy may take its place."""

    def cycle_ended(self) -> int:
        """Mark the documents whose time is over as leaving; called when nothing is left to do; returns how many."""
        return 0

    def tick(self) -> None:
        """Look after what time brings; called ten times a second. May raise `WorkError`, which ends the run."""

    def before_flush(self) -> None:
        """Write into the store what is to become durable with the next flush."""

    def flushed(self) -> None:
        """Take note that documents and records are durable."""

    def limits_changed(self) -> None:
        """Take note that a limit of the run was passed, or is kept again."""

    def resumed(self) -> None:
        """Take note that a crawl that was paused goes on."""

    def run_ending(self, *, complete: bool) -> None:
        """Mark what is to leave the index; nothing more is fetched. `complete`: the run fetched all that it should."""

    async def deletions_done(self) -> None:
        """Have documents indexed anew that the rest of the run and its deletions changed; may take its time."""

    def report_written(self) -> None:
        """Take note that the run is over, and its report is about to be stored."""


class Hooks:
    """Calls the features of a crawl, hook by hook, in the order in which they were added.

    An attribute a hook: what is called, bound once, so that a hook that nobody overrides is an empty list.
    """

    def __init__(self) -> None:
        self.queue_opened: list[Callable[[], None]] = []
        self.seed_excluded: list[Callable[[str, str], None]] = []
        self.new_url_admitted: list[Callable[[str], bool]] = []
        self.candidate_judged: list[Callable[[Candidate, str], None]] = []
        self.candidate_excluded: list[Callable[[str, str, str, str], None]] = []
        self.answered: list[Callable[[Visit], None]] = []
        self.redirected: list[Callable[[Visit, str, str], None]] = []
        self.visit_retried: list[Callable[[Visit, str], None]] = []
        self.page_read: list[Callable[[Visit, Page, str], None]] = []
        self.links_found: list[Callable[[Visit, Sequence[str], str], None]] = []
        self.links_placed: list[Callable[[Visit, Mapping[str, str], array[int], Sequence[Link]], None]] = []
        self.document_made: list[Callable[[Visit, IndexDocument], IndexDocument]] = []
        self.visit_ending: list[Callable[[Visit, UrlOutcome], None]] = []
        self.visit_ended: list[Callable[[Visit], None]] = []
        self.vouched: list[Callable[[UrlRecord], None]] = []
        self.document_leaving: list[Callable[[UrlRecord], None]] = []
        self.cycle_ended: list[Callable[[], int]] = []
        self.tick: list[Callable[[], None]] = []
        self.before_flush: list[Callable[[], None]] = []
        self.flushed: list[Callable[[], None]] = []
        self.limits_changed: list[Callable[[], None]] = []
        self.resumed: list[Callable[[], None]] = []
        self.run_ending: list[Callable[..., None]] = []
        self.deletions_done: list[Callable[[], Awaitable[None]]] = []
        self.report_written: list[Callable[[], None]] = []

    def add(self, *features: Feature | None) -> None:
        """Have features take part from now on, each in the hooks that its class overrides; None is none."""
        for feature in features:
            if feature is None:
                continue
            for name, called in vars(self).items():
                if getattr(type(feature), name) is not getattr(Feature, name):
                    called.append(getattr(feature, name))
