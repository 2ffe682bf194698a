"""Decides which canonical links are followed: whether a page is an alias of the page that it names (RFC 6596)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.content.languages import same_language
from ultracrawl.model import CauseCode, Page, UrlOutcome, UrlRecord
from ultracrawl.rules.boundary.redirects import Redirect
from ultracrawl.rules.duplicates.home_pages import names_home_page
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.placement.new_versions import unpack_version
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.placement.holders import ContentHolders
    from ultracrawl.run.visit import Visit

MAX_ENTRY_PAGES = 10
"""Start URLs are home pages if there are at most this many; a longer list is one of documents."""
_PERMANENT = 301
_STANDS_FOR_ANOTHER = frozenset(
    {CauseCode.CANONICAL, CauseCode.SAME_CONTENT, CauseCode.SAME_DISPLAY_URL, CauseCode.REPLACES}
)
"""Causes of duplicates; their subject is the URL in whose favour they are not indexed."""

OUTSIDE = "outside the boundary"
HOME_PAGE = "a home page, which is not likely to be the same page"
LOOP = "the links form a loop"
ABSENT = "not in the index"
LANGUAGE = "in another language"
UNAPPROVED = "not approved yet"


class Fate(Enum):
    """What becomes of a page that names another."""

    ALIAS = "alias"
    WAIT = "wait"
    KEEP = "keep"


class LinkVerdict(NamedTuple):
    """The answer about a canonical link."""

    fate: Fate
    holder: UrlRecord | None = None
    """The document that stands for an alias."""
    refusal: str = ""
    """Why a page is kept as a document of its own."""
    awaited: str = ""
    """The URL whose visit decides."""


NAMES_NO_OTHER = LinkVerdict(Fate.KEEP)


class CanonicalLinks:
    """Judges canonical links, and knows the pages that wait until the page they name has been visited.

    A page is an alias only of a document that is in the index, or waits for approval, so that nothing is lost if the
    other page is gone, outside, forbidden, not to be indexed, in another language, or names a page that leads back.
    """

    def __init__(self, context: CrawlContext, holders: ContentHolders, *, items_have_readers: bool) -> None:
        rules = context.rules
        self._context = context
        self._holders = holders
        self.on = (
            context.source.duplicates.follows_canonical
            and rules.fingerprints is not None
            and not (rules.listed or items_have_readers)
        )
        self._waiting: dict[int, str] = {}
        """The URL that is named, by the key of each page that waits."""
        self._awaited: dict[str, set[int]] = {}
        """Keys of pages that wait, by the URL whose visit decides."""
        self._ready: deque[tuple[int, bool]] = deque()
        """Keys that can be decided about, and whether nothing more is fetched for them."""

    def opened(self) -> None:
        """Load the pages that a killed run left waiting."""
        if self._context.run.replay:
            return
        documents = self._context.store.documents
        for key in documents.retained_keys(Retained.DEFERRED):
            data = documents.retained_document(Retained.DEFERRED, key)
            found = unpack_version(data) if data else None
            if found is not None and not found[0].waits_for_others:
                self._context.counters.count_scheduled()
                self.wait(key, found[0].canonical, found[0].canonical)

    def named_by(self, visit: Visit, page: Page) -> str:
        """Return the other URL that a page names; empty if it names none, or links are not followed."""
        if not (self.on and page.canonical):
            return ""
        url = self._context.rules.url_policy.canonical(page.canonical, page.base or visit.url)
        return "" if url in (None, visit.url, visit.display_url) else url or ""

    # ---- verdicts

    def judge_visit(self, visit: Visit, *, final: bool = False) -> LinkVerdict:
        """Decide about the page of a visit; with `final` it does not wait."""
        target = visit.page.canonical
        if not (target and self.on):
            return NAMES_NO_OTHER
        hops = Redirect(_PERMANENT, visit.url, target, hops=visit.entry.hops, depth=visit.depth)
        verdict = self._judge(hops, visit.page.language)
        if final and verdict.fate is Fate.WAIT:
            return LinkVerdict(Fate.KEEP, refusal=ABSENT)
        holder = verdict.holder
        if holder is not None and visit.record.searchable and not holder.searchable:
            return LinkVerdict(Fate.KEEP, refusal=UNAPPROVED)
        return verdict

    def may_follow_now(self, record: UrlRecord) -> bool:
        """Return whether a page whose canonical link was not followed would be an alias by now."""
        if record.cause.code is not CauseCode.CANONICAL_KEPT or not self.on:
            return False
        hops = Redirect(_PERMANENT, record.url, record.cause.subject, hops=record.hops, depth=record.depth)
        holder = self._judge(hops, record.language).holder
        return holder is not None and (holder.searchable or not record.searchable)

    def _judge(self, link: Redirect, language: str) -> LinkVerdict:
        rules, target = self._context.rules, link.target or ""
        if not rules.redirects.decide(link, rules.boundary).accept:
            return LinkVerdict(Fate.KEEP, refusal=OUTSIDE)
        if names_home_page(link.source, target, self._entry_pages()):
            return LinkVerdict(Fate.KEEP, refusal=HOME_PAGE)
        verdict = self._trace(link.source, target)
        holder = verdict.holder
        if (
            holder is not None
            and language
            and holder.language
            and not same_language(language, holder.language)
        ):
            return LinkVerdict(Fate.KEEP, refusal=LANGUAGE)
        return verdict

    def _entry_pages(self) -> frozenset[str]:
        seeds = self._context.rules.seeds
        if len(seeds) > MAX_ENTRY_PAGES:
            return frozenset()
        return frozenset(url for seed in seeds for url in (seed, self._holders.landing_of(seed)))

    def _trace(self, url: str, target: str) -> LinkVerdict:
        """Follow redirects and aliases from the URL that a page names to the document that stands for it."""
        seen, holder, awaited = {url}, None, ""
        while target not in seen:
            seen.add(target)
            key = url_key(target)
            if key in self._waiting:
                awaited, target = awaited or target, self._waiting[key]
                continue
            record = self._context.store.records.get_record(key)
            if record is not None and record.retained and record.fingerprint and holder is None:
                holder = record
            leads_to = "" if record is None else _leads_to(record)
            if not leads_to:
                if holder is None and self._is_to_come(key, record):
                    awaited = awaited or target
                break
            target = leads_to
        else:
            if target == url:
                return LinkVerdict(Fate.KEEP, refusal=LOOP)
        if awaited:
            return LinkVerdict(Fate.WAIT, awaited=awaited)
        return LinkVerdict(Fate.KEEP, refusal=ABSENT) if holder is None else LinkVerdict(Fate.ALIAS, holder)

    def _is_to_come(self, key: int, record: UrlRecord | None) -> bool:
        """Return whether a URL has still to be visited in this run, as far as is known."""
        if record is None or key in self._context.visits:
            return True
        return not record.removed and record.last_fetched < self._context.mark.started

    # ---- pages that wait

    def wait(self, key: int, target: str, awaited: str) -> None:
        """Note that a page waits for the visit of a URL."""
        self._waiting[key] = target
        self._awaited.setdefault(awaited, set()).add(key)

    def is_waiting(self, key: int) -> bool:
        """Return whether a page waits."""
        return key in self._waiting

    def stop_waiting(self, key: int) -> None:
        """Forget a page that waited."""
        self._waiting.pop(key, None)

    def note_visited(self, url: str) -> None:
        """Note that a visit ended: what waited for it can be decided about."""
        if self._awaited:
            self._ready.extend((key, False) for key in sorted(self._awaited.pop(url, ())))

    @property
    def has_ready(self) -> bool:
        """Whether something can be decided about."""
        return bool(self._ready)

    def end_waiting(self, is_open: Callable[[int], bool]) -> None:
        """Decide about all that wait; a page comes after the one that it names.

        Those that lead to a page about which the run does not decide (`is_open`, by key) wait until it is resumed.
        """
        self._awaited.clear()
        left = {
            key: target for key, target in self._waiting.items() if not self._leads_to_open(target, is_open)
        }
        while left:
            free = [key for key, target in left.items() if url_key(target) not in left] or list(left)
            self._ready.extend((key, True) for key in free)
            for key in free:
                del left[key]

    def _leads_to_open(self, target: str, is_open: Callable[[int], bool]) -> bool:
        seen = set[str]()
        while target and target not in seen:
            seen.add(target)
            key = url_key(target)
            if is_open(key):
                return True
            target = self._waiting.get(key, "")
        return False

    def ready(self, limit: int) -> Iterator[tuple[int, bool]]:
        """Yield keys that can be decided about, each with whether nothing more is fetched for it."""
        for _ in range(min(limit, len(self._ready))):
            key, final = self._ready.popleft()
            if key in self._waiting:
                yield key, final


def _leads_to(record: UrlRecord) -> str:
    """Return the URL that a record refers to: of a redirect, a duplicate, or a canonical link not followed."""
    cause = record.cause
    if record.retained:
        return cause.subject if cause.code is CauseCode.CANONICAL_KEPT else ""
    if record.outcome is UrlOutcome.DUPLICATE and cause.code in _STANDS_FOR_ANOTHER:
        return cause.subject
    return record.redirects_to
