"""The visit history: tables `revisit` and `failure`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import psycopg

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.recrawl.adaptive import ChangeHistory, KnownPage, Observation, SiteSize
from ultracrawl.stores.caching.loaded_tables import FailureCounts
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.visits import Advice, KnownUrl, LinkedUrl, UnseenUrl
from ultracrawl.stores.postgresql.access.database import Row
from ultracrawl.stores.postgresql.access.fencing import run_for
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, PURPOSE_NUMBERS, outcomes_in
from ultracrawl.stores.postgresql.part_base import PostgresPart, StoreAccess

REMOVED = OUTCOME_NUMBERS[UrlOutcome.REMOVED]
"""The number of the outcome of URLs that a person removed."""
NO_SITEMAP = "NOT EXISTS (SELECT FROM sitemap x WHERE {x} AND x.key = u.key)"
"""The condition that the URL `u` is no sitemap."""
_IS_PAGE = f"u.outcome <> {REMOVED} AND {NO_SITEMAP}"
_IS_KNOWN = "EXISTS (SELECT FROM url u WHERE {u} AND u.key = t.key)"

_ADD_MISSING = f"""
    INSERT INTO revisit (source, part, key) SELECT {{ids}}, t.key FROM unnest(%s::bigint[]) t(key) WHERE {_IS_KNOWN}
    ON CONFLICT DO NOTHING"""  # noqa: S608 - constant texts
_MARK_SEEN = """
    INSERT INTO revisit (source, part, key, seen) SELECT {{ids}}, t.key, %s FROM unnest(%s::bigint[]) t(key)
    {condition}
    ON CONFLICT (source, part, key) DO UPDATE SET seen = excluded.seen WHERE revisit.seen <> excluded.seen"""
_MARK_NEW_SEEN = _MARK_SEEN.format(condition="")
"""For URLs that the same transaction wrote: a check for each would take as long as the rest."""
_MARK_KNOWN_SEEN = _MARK_SEEN.format(condition=f"WHERE {_IS_KNOWN}")
_UPDATE_HISTORY = """
    UPDATE revisit r SET checks = checks + (first_at > 0)::int, changes = changes + (first_at > 0 AND t.changed)::int,
    quiet = quiet + CASE WHEN first_at > 0 THEN greatest(0, least(t.at - last_at,
        CASE WHEN coalesce(t.modified, r.modified) > 0 THEN t.at - coalesce(t.modified, r.modified)
        ELSE t.at - last_at END)) ELSE 0 END,
    first_at = CASE WHEN first_at > 0 THEN first_at ELSE t.at END, last_at = t.at,
    modified = coalesce(t.modified, r.modified), markup = coalesce(t.markup, r.markup)
    FROM unnest(%s::bigint[], %s::float8[], %s::bool[], %s::float8[], %s::bool[]) t(key, at, changed, modified, markup)
    WHERE {r} AND r.key = t.key"""
_UPDATE_ADVICE = """
    UPDATE revisit r SET changefreq = t.changefreq, priority = t.priority, told = t.told
    FROM unnest(%s::bigint[], %s::text[], %s::float8[], %s::float8[]) t(key, changefreq, priority, told)
    WHERE {r} AND r.key = t.key"""
_SELECT_FIRST_MET = f"""
    SELECT u.key, u.url, w.name, u.depth, coalesce(u.display_url, '') FROM url u
    JOIN host w ON {{w}} AND w.site = u.site LEFT JOIN revisit r ON {{r}} AND r.key = u.key
    WHERE {{u}} AND u.key = ANY(%s) AND coalesce(r.seen, 0) <> %s AND {_IS_PAGE}"""  # noqa: S608 - constant texts
_SELECT_LINKED = f"""
    SELECT u.key, u.url, w.name, u.depth, coalesce(u.display_url, ''), coalesce(r.seen, 0) <> %s AND {_IS_PAGE}
    FROM url u JOIN host w ON {{w}} AND w.site = u.site LEFT JOIN revisit r ON {{r}} AND r.key = u.key
    WHERE {{u}} AND u.key = ANY(%s)"""  # noqa: S608 - constant texts
_SELECT_UNSEEN = f"""
    SELECT u.key, u.url, coalesce(u.display_url, u.url), u.indexed OR s.key IS NOT NULL FROM url u
    JOIN revisit r ON {{r}} AND r.key = u.key LEFT JOIN submitted s ON {{s}} AND s.key = u.key
    WHERE {{u}} AND r.seen <= %s AND {_IS_PAGE}
    AND NOT EXISTS (SELECT FROM removal m WHERE {{m}} AND m.key = u.key)
    AND NOT EXISTS (SELECT FROM retained p WHERE {{p}} AND p.purpose = {PURPOSE_NUMBERS[Retained.APPROVAL]}
        AND p.key = u.key) ORDER BY u.url"""  # noqa: S608 - constant texts
_COUNT_BY_SITE = f"""
    SELECT w.name, n.fetched, n.unfetched FROM (
        SELECT u.site, count(u.last_fetched) AS fetched, count(*) - count(u.last_fetched) AS unfetched FROM url u
        WHERE {{u}} AND {_IS_PAGE} GROUP BY u.site) n JOIN host w ON {{w}} AND w.site = n.site"""  # noqa: S608 - constant texts
_FETCHED = outcomes_in(
    map(
        UrlOutcome,
        [
            "NEW",
            "MODIFIED",
            "REINDEXED",
            "UNMODIFIED",
            "NOT_MODIFIED",
            "NOT_INDEXED",
            "LIST",
            "DUPLICATE",
            "FAILED",
            "PENDING",
        ],
    )
)
_COUNT_FETCHED_BY_SITE = f"""
    SELECT w.name, n.fetched FROM (
        SELECT u.site, count(*) AS fetched FROM url u
        WHERE {{u}} AND u.last_fetched >= %s AND u.outcome IN ({_FETCHED}) AND {NO_SITEMAP} GROUP BY u.site) n
    JOIN host w ON {{w}} AND w.site = n.site"""  # noqa: S608 - constant texts
_COUNT_BY_PATH = """
    SELECT split_part(url, '?', 1) AS path, count(*) FROM url WHERE {own} AND strpos(url, '?') > 0
    GROUP BY path ORDER BY count(*) DESC, path LIMIT %s"""
_SELECT_PAGES = f"""
    SELECT u.key, u.url, w.name, u.depth, coalesce(u.last_fetched, 0), coalesce(r.markup, false),
    coalesce(r.changefreq, ''), r.priority, coalesce(r.told, 0), coalesce(r.first_at, 0), coalesce(r.last_at, 0),
    coalesce(r.checks, 0), coalesce(r.changes, 0), coalesce(r.quiet, 0), coalesce(r.modified, 0)
    FROM url u JOIN host w ON {{w}} AND w.site = u.site LEFT JOIN revisit r ON {{r}} AND r.key = u.key
    WHERE {{u}} AND {_IS_PAGE}"""  # noqa: S608 - constant texts
_SELECT_HISTORY = """
    SELECT r.first_at, r.last_at, r.checks, r.changes, r.quiet, r.modified FROM revisit r WHERE {r} AND r.key = %s"""
_PUT_FAILURES = """
    INSERT INTO failure (source, part, key, rule, errors)
    SELECT {ids}, * FROM unnest(%s::bigint[], %s::text[], %s::int[])
    ON CONFLICT (source, part, key, rule) DO UPDATE SET errors = excluded.errors"""


class PostgresVisits(PostgresPart):
    """The tables `revisit` and `failure`; see `VisitPart`."""

    def __init__(self, access: StoreAccess) -> None:
        super().__init__(access)
        self.cycle = 0
        self._errors = FailureCounts(lambda: self._read("SELECT key, rule, errors FROM failure WHERE {own}"))

    def begin_generation(self) -> None:
        """Begin without visits."""
        self._seen: set[int] = set()
        self._observed: list[Observation] = []
        self._advice: dict[int, Advice] = {}
        self._failures: dict[tuple[int, str], int] = {}
        self._recovered: set[int] = set()
        """Keys of URLs that succeeded after errors."""
        self.changes = (self._seen, self._observed, self._advice, self._failures, self._recovered)

    def enter_cycle(self, number: int) -> None:
        """Set the current cycle."""
        self.cycle = number

    def note_seen(self, keys: Iterable[int]) -> None:
        """Record that URLs were seen in this cycle."""
        self._seen.update(keys)

    def note_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Record that URLs were linked to; returns the known ones seen for the first time in this cycle."""
        unmet = [key for key in keys if key not in self._seen and key not in self.frozen._seen]
        self._seen.update(unmet)
        rows = self._read(_SELECT_FIRST_MET, unmet, self.cycle) if unmet else []
        found = {row[0]: KnownUrl(*row) for row in rows}
        return [found[key] for key in unmet if key in found]

    def linked_urls(self, keys: Sequence[int]) -> dict[int, LinkedUrl]:
        """Return those of the keys that are known, and whether each is seen for the first time in this cycle."""
        rows, seen = self._read(_SELECT_LINKED, self.cycle, list(keys)), self._seen | self.frozen._seen
        return {row[0]: LinkedUrl(KnownUrl(*row[:-1]), row[-1] and row[0] not in seen) for row in rows}

    def note_visit(self, observation: Observation) -> None:
        """Add a visit to the change history of a page."""
        self._observed.append(observation)

    def history_of(self, key: int) -> ChangeHistory:
        """Return the change history of a page."""
        return next((ChangeHistory(*row) for row in self._read(_SELECT_HISTORY, key)), ChangeHistory())

    def unseen_urls(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs that were last seen at least so many cycles ago."""
        return [UnseenUrl(*row) for row in self._read(_SELECT_UNSEEN, self.cycle - cycles)]

    def note_advice(self, advice: Iterable[Advice]) -> None:
        """Store what a sitemap says about URLs."""
        self._advice.update((hint.key, hint) for hint in advice)

    def site_sizes(self) -> dict[str, SiteSize]:
        """Return the numbers of known URLs by site."""
        return {site: SiteSize(fetched, new) for site, fetched, new in self._read(_COUNT_BY_SITE)}

    def fetched_since(self, at: float) -> dict[str, int]:
        """Return the number of pages fetched since a time by site."""
        return dict(self._read(_COUNT_FETCHED_BY_SITE, at))

    def path_sizes(self, limit: int) -> dict[str, int]:
        """Return the number of known URLs with a query string by path."""
        return dict(self._read(_COUNT_BY_PATH, limit))

    def known_pages(self, keys: Sequence[int] | None = None) -> Iterator[KnownPage]:
        """Yield all known URLs, or those of some keys."""
        rows: Iterable[Row]
        if keys is None:
            rows = self._database.stream(self._sql(_SELECT_PAGES))
        else:
            rows = self._read(f"{_SELECT_PAGES} AND u.key = ANY(%s)", list(keys))
        for row in rows:
            key, url, site, depth, fetched, markup, changefreq, priority, told, *history = row
            seen = ChangeHistory(*history)
            page = (key, url, site, depth, fetched, markup, changefreq, priority)
            yield KnownPage(*page, seen, told)

    # ---- errors

    def count_failure(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a rule."""
        errors = self._failures[key, rule] = self._errors.count_error(key, rule)
        return errors

    def forget_failures(self, key: int) -> None:
        """Reset the error counts of a URL."""
        for rule, _ in self._errors.drop_url(key):
            self._recovered.add(key)
            self._failures.pop((key, rule), None)

    # ---- writing, inside a transaction of the store

    def write_new(self, db: psycopg.Connection, keys: Collection[int]) -> None:
        """Record that URLs were seen: those of `keys`, which were written before in this transaction, and others."""
        for statement, seen in ((_MARK_NEW_SEEN, {*keys}), (_MARK_KNOWN_SEEN, self._seen.difference(keys))):
            if seen:
                db.execute(self._sql(statement), [self.cycle, sorted(seen)])

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the unflushed changes, after the records, which call `write_new`."""
        if self._recovered:
            db.execute(
                self._sql("DELETE FROM failure WHERE {own} AND key = ANY(%s)"),
                [sorted(self._recovered)],
            )
        failures = [(*pair, errors) for pair, errors in sorted(self._failures.items())]
        run_for(db, self._sql(_PUT_FAILURES), failures)
        missing = {*self._advice, *(observation.key for observation in self._observed)} - self._seen
        if missing:
            db.execute(self._sql(_ADD_MISSING), [sorted(missing)])
        advice = [
            (a.key, a.changefreq or None, a.priority, float(a.changed) or None) for a in self._advice.values()
        ]
        run_for(db, self._sql(_UPDATE_ADVICE), advice)
        rounds: defaultdict[int, int] = defaultdict(int)
        turns: defaultdict[int, list[tuple[object, ...]]] = defaultdict(list)
        for o in self._observed:  # a statement updates a row once
            modified = None if o.modified is None else float(o.modified)
            turns[rounds[o.key]].append((o.key, float(o.at), o.changed, modified, o.markup))
            rounds[o.key] += 1
        for rows in turns.values():
            run_for(db, self._sql(_UPDATE_HISTORY), rows)

    def forget_dropped(self) -> None:
        """Forget what was read of URLs that left the document table."""
        self._errors.read_again()
