"""Counts the searches and clicks of a service in memory, and adds them to the files once in a while."""

from __future__ import annotations

import asyncio
import logging
import re
import time
import unicodedata
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from itertools import islice

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import WorkError
from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.service.statistics.counts import LAST_POSITION, PAGE, DayCounts, QueryCounts
from ultracrawl.service.statistics.report import frequent_queries
from ultracrawl.service.statistics.store import QueryStore
from ultracrawl.sources import Project
from ultracrawl.sources.sections.project import FormerQueries

logger = logging.getLogger(__name__)
FLUSH_INTERVAL = 45.0
"""Seconds between two writes: with `TYPING_SECONDS`, a killed service loses its last minute at most."""
TYPING_SECONDS = 10.0
"""Seconds within which a longer or shorter form of a query replaces it: it was still being typed."""
REPEAT_SECONDS = 600.0
"""Seconds within which the same query of the same visitor counts once: pages, filters, reloads."""
_MAX_VISITORS = 10_000
_REFRESH = 3600.0
"""Seconds after which frequent queries are read again."""


@dataclass(slots=True)
class _LastQuery:
    """The last query of a visitor; it is counted when no longer form of it can follow."""

    text: str
    has_answers: bool
    at: float
    is_counted: bool = False
    clicks: set[int] = field(default_factory=set)


class QueryRecorder:
    """Counts queries; used by one thread, apart from writing. Nothing is counted with `search_page.statistics` off."""

    def __init__(self, project: Callable[[], Project], clock: Callable[[], float] = time.time) -> None:
        self._project = project
        self._clock = clock
        self._waiting: dict[date, DayCounts] = {}
        """What is not written yet."""
        self._written = DayCounts()
        """What the files have of today, when they were written last."""
        self._last: dict[tuple[str, str], _LastQuery] = {}
        """By name and address of the visitor, in memory only."""
        self._cleaned: date | None = None
        self._has_failed = False
        self._writing = asyncio.Lock()
        self._frequent: Sequence[str] = ()
        self._frequent_at = 0.0

    def note_search(self, requester: Requester, text: str, total: int, address: str = "") -> None:
        """Count a search for the first page of the results of a query; `total` is the number of hits."""
        if not self._project().search_page.statistics:
            return
        now, origin = self._clock(), origin_of(requester)
        shown, has_answers = counted_text(text), total > 0
        if requester.kind is RequesterKind.TOKEN:  # a program, behind which there are many people
            self._count(origin, shown, QueryCounts(1, int(not has_answers)), now)
            return
        visitor = requester.name, address
        last = self._last.pop(visitor, None)
        following = _LastQuery(shown, has_answers, now)
        if last is not None:
            is_typed = now - last.at < TYPING_SECONDS and not last.is_counted
            if shown == last.text and now - last.at < REPEAT_SECONDS:
                last.at = now
                following = last
            elif not (is_typed and (shown.startswith(last.text) or last.text.startswith(shown))):
                self._count_last(origin, last)
        self._last[visitor] = following
        if len(self._last) > _MAX_VISITORS:
            oldest = next(iter(self._last))
            self._count_last(_origin_of_name(oldest[0]), self._last.pop(oldest))

    def note_click(self, requester: Requester, text: str, position: int, address: str = "") -> None:
        """Count the hit that a visitor chose, by its position from 1; ignored unless the query was counted before."""
        if not self._project().search_page.statistics:
            return
        origin, shown = origin_of(requester), counted_text(text)
        if requester.kind is not RequesterKind.TOKEN:
            last = self._last.get((requester.name, address))
            if last is None or last.text != shown or position in last.clicks:
                return
            last.clicks.add(position)
            self._count_last(origin, last)
        now = self._clock()
        is_known = self._written.has_query(origin, shown) or self._day(now).has_query(origin, shown)
        if shown and is_known:
            self._count(origin, shown, QueryCounts(clicks=Counter({min(position, LAST_POSITION): 1})), now)

    def frequent_beginning_with(self, text: str, most: int) -> list[str]:
        """Return frequent queries that complete a text; none unless the definition has them suggested."""
        typed = " ".join(text.split()).casefold()
        found = (one for one in self._frequent if typed and one.startswith(typed) and one != typed)
        return list(islice(found, most)) if self._suggests_frequent else []

    @property
    def _suggests_frequent(self) -> bool:
        return FormerQueries.FREQUENT in self._project().search_page.former_queries

    async def flush(self, *, everything: bool = False) -> None:
        """Write what was counted; `everything` includes queries that may still be typed. Errors are logged."""
        self._settle(everything=everything)
        async with self._writing:
            waiting, self._waiting = self._waiting, {}
            try:
                await asyncio.to_thread(self._write, waiting)
                self._has_failed = False
            except WorkError as error:
                for day, counts in waiting.items():
                    self._waiting.setdefault(day, DayCounts()).add(counts)
                if not self._has_failed:
                    logger.warning("query statistics are kept in memory until they can be written: %s", error)
                self._has_failed = True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write regularly inside the block, and everything at its end."""

        async def write_regularly() -> None:
            while True:
                await asyncio.sleep(FLUSH_INTERVAL)
                await self.flush()

        task = asyncio.ensure_future(write_regularly())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await self.flush(everything=True)

    def _settle(self, *, everything: bool) -> None:
        """Count the last queries of visitors who do not type any more, and forget visitors after a while."""
        now = self._clock()
        for visitor, last in list(self._last.items()):
            if everything or abs(now - last.at) >= TYPING_SECONDS:
                self._count_last(_origin_of_name(visitor[0]), last)
            if abs(now - last.at) >= REPEAT_SECONDS:
                del self._last[visitor]

    def _count_last(self, origin: str, last: _LastQuery) -> None:
        if not last.is_counted:
            last.is_counted = True
            self._count(origin, last.text, QueryCounts(1, int(not last.has_answers)), last.at)

    def _count(self, origin: str, text: str, counts: QueryCounts, at: float) -> None:
        self._day(at).add_query(origin, text, counts)

    def _day(self, at: float) -> DayCounts:
        day = datetime.fromtimestamp(at, UTC).date()
        return self._waiting.setdefault(day, DayCounts())

    def _write(self, waiting: dict[date, DayCounts]) -> None:
        store, today = (
            QueryStore.of_project(self._project()),
            datetime.fromtimestamp(self._clock(), UTC).date(),
        )
        if self._cleaned != today:
            store.delete_before(today - timedelta(days=self._project().search_page.statistics_days - 1))
            self._cleaned, self._written = today, DayCounts()
        for day in list(waiting):
            if not waiting[day]:
                continue
            written = store.add(day, waiting[day])
            waiting[day] = DayCounts()  # an error on a later day must not count this one twice
            if day == today:
                self._written = written
        if self._suggests_frequent and self._clock() - self._frequent_at >= _REFRESH:
            self._frequent, self._frequent_at = frequent_queries(store, today), self._clock()


def origin_of(requester: Requester) -> str:
    """Return where a query comes from: `page`, `api` for tokens, or `key:NAME` for the public key of a site."""
    match requester.kind:
        case RequesterKind.TOKEN:
            return "api"
        case RequesterKind.KEY:
            return requester.name
        case _:
            return PAGE


def _origin_of_name(name: str) -> str:
    return name if name.startswith("key:") else PAGE


LONGEST = 120
"""Characters of a query; longer ones are pasted texts."""
_SECRETS = re.compile(
    r"""
      [^\s@]+@[^\s@]+\.\w                                         # a mail address
    | ://[^\s/@]*:[^\s/@]*@                                       # a URL with a password
    | \beyj[\w-]{10,}\.                                           # a JSON Web Token
    | \b(?:bearer|basic)\s+[\w+/=.-]{8,}
    | \b\w*(?:passw(?:or)?d|pwd|passwort|kennwort|secret|token|api[_-]?key)\s*[:=]\s*\S
    | (?:\d[ ().-]?){9,}                                          # a number of a phone, an account or a card
    | \b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b             # a UUID
    | \b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\b          # hexadecimal digits of a key
    """,
    re.VERBOSE,
)
_RUN = re.compile(r"[a-z0-9+/=]{16,}", re.IGNORECASE)
_CHANGES = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", re.IGNORECASE)
_MANY_CHANGES = 4
"""Changes between letters and digits in a run of characters from which it looks random."""


def counted_text(text: str) -> str:
    """Return the form in which a query is counted; empty if its text must not be stored.

    Case and blanks make no difference. Not stored are texts of more than `LONGEST` characters, with control
    characters, without a letter or digit, and those that look like a secret or like data of a person: mail addresses,
    long numbers, passwords, keys and tokens.
    """
    shown = " ".join(unicodedata.normalize("NFC", text[: 4 * LONGEST]).split())
    plain = shown.casefold()
    if len(plain) > LONGEST or len(text) > 4 * LONGEST or not any(map(str.isalnum, plain)):
        return ""
    if not plain.isprintable() or _SECRETS.search(plain) or any(map(_looks_random, _RUN.findall(shown))):
        return ""
    return plain


def _looks_random(run: str) -> bool:
    return len(_CHANGES.findall(run)) >= _MANY_CHANGES
