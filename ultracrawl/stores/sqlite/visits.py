"""When each URL was seen last, how often it changed and failed, durable: the tables `revisit` and `failure`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ultracrawl.rules.recrawl.adaptive import ChangeHistory, KnownPage, Observation, SiteSize
from ultracrawl.stores.port.visits import Advice, KnownUrl, UnseenUrl
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart

_ID = "(SELECT id FROM url WHERE key={})"
_UNKNOWN = "INSERT OR IGNORE INTO revisit (id) SELECT id FROM url WHERE key=?"
_SAW = """
    INSERT INTO revisit (id, seen) SELECT id, ? FROM url WHERE key=?
    ON CONFLICT (id) DO UPDATE SET seen=excluded.seen WHERE seen<>excluded.seen"""
_SAW_NEW = "INSERT INTO revisit (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen=excluded.seen"
_OBSERVE = f"""
    UPDATE revisit SET checks=checks+(first>0), changes=changes+(first>0 AND :changed),
    quiet=quiet+CASE WHEN first>0
        THEN max(0, min(:at-last,
            CASE WHEN coalesce(:modified, modified)>0 THEN :at-coalesce(:modified, modified) ELSE :at-last END))
        ELSE 0 END,
    first=CASE WHEN first>0 THEN first ELSE :at END, last=:at,
    modified=coalesce(:modified, modified), markup=coalesce(:markup, markup)
    WHERE id={_ID.format(":key")}"""  # noqa: S608 - constant texts
_FIRST_MET = """
    SELECT u.key, u.url, u.site, u.depth, u.display_url FROM url u LEFT JOIN revisit r ON r.id=u.id
    WHERE u.key IN (SELECT value FROM json_each(?)) AND coalesce(r.seen, 0)<>?
    AND u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)"""
_UNSEEN = """
    SELECT u.key, u.url, CASE u.display_url WHEN '' THEN u.url ELSE u.display_url END,
    u.indexed OR u.submitted, u.outcome='GONE' FROM url u JOIN revisit r ON r.id=u.id
    WHERE r.seen<=? AND u.removal_code='' AND u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
    AND u.key NOT IN (SELECT key FROM pending) ORDER BY u.url"""


_SIZES = """
    SELECT site, sum(last_fetched>0), sum(last_fetched=0) FROM url
    WHERE outcome<>'REMOVED' AND key NOT IN (SELECT key FROM sitemap) GROUP BY site"""
_FETCHED = """
    SELECT site, count(*) FROM url WHERE last_fetched>=? AND outcome IN
    ('NEW', 'MODIFIED', 'UNMODIFIED', 'NOT_MODIFIED', 'NOT_INDEXED', 'DUPLICATE', 'FAILED', 'PENDING')
    AND key NOT IN (SELECT key FROM sitemap) GROUP BY site"""
_PATH_SIZES = """
    SELECT substr(url, 1, instr(url, '?') - 1) AS path, count(*) FROM url WHERE instr(url, '?')
    GROUP BY path ORDER BY count(*) DESC LIMIT ?"""
_PAGES = """
    SELECT u.key, u.url, u.site, u.depth, u.last_fetched, coalesce(r.markup, 0), coalesce(r.changefreq, ''),
    r.priority, coalesce(r.told, 0), coalesce(r.first, 0), coalesce(r.last, 0), coalesce(r.checks, 0),
    coalesce(r.changes, 0), coalesce(r.quiet, 0), coalesce(r.modified, 0)
    FROM url u LEFT JOIN revisit r ON r.id=u.id
    WHERE u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)"""
_SOME_PAGES = f"{_PAGES} AND u.key IN (SELECT value FROM json_each(?))"  # noqa: S608 - constant texts
_HISTORY = """
    SELECT r.first, r.last, r.checks, r.changes, r.quiet, r.modified
    FROM url u JOIN revisit r ON r.id=u.id WHERE u.key=?"""
_ADVISE = f"""
    UPDATE revisit SET changefreq=?, priority=?, told=? WHERE id={_ID.format("?")}"""  # noqa: S608 - constant texts


class SqliteVisits(SqlitePart):
    """The tables `revisit` and `failure`; see `VisitPart`."""

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self.cycle = 0
        self._seen: set[int] = set()
        self._observed: list[Observation] = []
        self._advice: dict[int, Advice] = {}
        self._failures: dict[tuple[int, str], int] = {}
        self._recovered: set[int] = set()
        """URLs that answered well after errors."""
        self._failing: set[int] | None = None
        self.changes = (self._seen, self._observed, self._advice, self._failures, self._recovered)

    def enter_cycle(self, number: int) -> None:
        """Count what is seen for a cycle."""
        self.cycle = number

    def note_seen(self, keys: Iterable[int]) -> None:
        """Note that URLs were seen in this cycle."""
        self._seen.update(keys)

    def note_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Note that URLs were seen; returns the known ones that were not, yet."""
        unmet = [key for key in keys if key not in self._seen]
        self._seen.update(unmet)
        rows = self._read(_FIRST_MET, json.dumps(unmet), self.cycle) if unmet else []
        found = {row[0]: KnownUrl(*row) for row in rows}
        return [found[key] for key in unmet if key in found]

    def note_visit(self, observation: Observation) -> None:
        """Store what a visit shows."""
        self._observed.append(observation)

    def history_of(self, key: int) -> ChangeHistory:
        """Return the change history of a page."""
        return next((ChangeHistory(*row) for row in self._read(_HISTORY, key)), ChangeHistory())

    def unseen_urls(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs that were last seen at least so many cycles ago."""
        rows = self._read(_UNSEEN, self.cycle - cycles)
        return [UnseenUrl(key, url, shown, bool(has), bool(gone)) for key, url, shown, has, gone in rows]

    def note_advice(self, advice: Iterable[Advice]) -> None:
        """Note what a sitemap says about URLs."""
        self._advice.update((one.key, one) for one in advice)

    def site_sizes(self) -> dict[str, SiteSize]:
        """Return how many URLs of each site are known."""
        return {site: SiteSize(fetched, new) for site, fetched, new in self._read(_SIZES)}

    def fetched_since(self, at: float) -> dict[str, int]:
        """Return how many pages of each site were fetched since a time."""
        return dict(self._read(_FETCHED, at))

    def path_sizes(self, limit: int) -> dict[str, int]:
        """Return how many URLs with a query are known of each path."""
        return dict(self._read(_PATH_SIZES, limit))

    def known_pages(self, keys: Sequence[int] | None = None) -> Iterator[KnownPage]:
        """Yield all known URLs, or those of some keys."""
        some = (_PAGES, ()) if keys is None else (_SOME_PAGES, (json.dumps(keys),))
        rows = self._db.execute(*some)
        for key, url, site, depth, fetched, markup, changefreq, priority, told, *history in rows:
            yield KnownPage(
                key,
                url,
                site,
                depth,
                fetched,
                bool(markup),
                changefreq,
                priority,
                ChangeHistory(*history),
                told,
            )

    # ---- errors

    def _known_failing(self) -> set[int]:
        """Return the keys of all URLs that have errors; read once, so that good answers cost no query."""
        if self._failing is None:
            self._failing = {key for (key,) in self._read("SELECT DISTINCT key FROM failure")}
        return self._failing

    def count_failure(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a rule."""
        known = self._failures.get((key, rule))
        if known is None:
            known = 0
            if key in self._known_failing() and key not in self._recovered:
                rows = self._read("SELECT errors FROM failure WHERE key=? AND rule=?", key, rule)
                known = rows[0][0] if rows else 0
        self._failures[(key, rule)] = known + 1
        self._known_failing().add(key)
        return known + 1

    def forget_failures(self, key: int) -> None:
        """Set the errors of a URL to 0."""
        if key in self._known_failing():
            self._known_failing().discard(key)
            self._recovered.add(key)
            for counted in [one for one in self._failures if one[0] == key]:
                del self._failures[counted]

    # ---- writing, inside a transaction of the store

    def write_new(self, places: Iterable[int]) -> None:
        """Note that the URLs at these places of the document table were seen."""
        self._db.executemany(_SAW_NEW, [(place, self.cycle) for place in places])

    def write_changes(self) -> None:
        """Write what waits, when the URLs are in their table."""
        run = self._db.executemany
        run("DELETE FROM failure WHERE key=?", [(key,) for key in self._recovered])
        run(
            "INSERT OR REPLACE INTO failure (key, rule, errors) VALUES (?,?,?)",
            [(key, rule, errors) for (key, rule), errors in self._failures.items()],
        )
        told = {*self._advice, *(one.key for one in self._observed)}
        run(_UNKNOWN, [(key,) for key in told - self._seen])
        run(_SAW, [(self.cycle, key) for key in self._seen])
        run(_ADVISE, [(one.changefreq, one.priority, one.changed, one.key) for one in self._advice.values()])
        run(
            _OBSERVE,
            [
                {"key": o.key, "at": o.at, "changed": o.changed, "modified": o.modified, "markup": o.markup}
                for o in self._observed
            ],
        )

    def forget_dropped(self) -> None:
        """Forget the errors of URLs that left the document table."""
        self._db.execute("DELETE FROM failure WHERE key NOT IN (SELECT key FROM url)")
        self._failing = None
