"""The visit history: tables `revisit` and `failure` of the SQLite store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from ultracrawl.rules.recrawl.adaptive import ChangeHistory, KnownPage, Observation, SiteSize
from ultracrawl.stores.caching.loaded_tables import FailureCounts
from ultracrawl.stores.port.visits import Advice, KnownUrl, LinkedUrl, UnseenUrl
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart

_ROW_ID = "(SELECT id FROM url WHERE key={})"
_INSERT_MISSING = "INSERT OR IGNORE INTO revisit (id) SELECT id FROM url WHERE key=?"
_MARK_SEEN = """
    INSERT INTO revisit (id, seen) SELECT id, ? FROM url WHERE key=?
    ON CONFLICT (id) DO UPDATE SET seen=excluded.seen WHERE seen<>excluded.seen"""
_MARK_NEW_SEEN = (
    "INSERT INTO revisit (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen=excluded.seen"
)
_UPDATE_HISTORY = f"""
    UPDATE revisit SET checks=checks+(first>0), changes=changes+(first>0 AND :changed),
    quiet=quiet+CASE WHEN first>0
        THEN max(0, min(:at-last,
            CASE WHEN coalesce(:modified, modified)>0 THEN :at-coalesce(:modified, modified) ELSE :at-last END))
        ELSE 0 END,
    first=CASE WHEN first>0 THEN first ELSE :at END, last=:at,
    modified=coalesce(:modified, modified), markup=coalesce(:markup, markup)
    WHERE id={_ROW_ID.format(":key")}"""  # noqa: S608 - constant texts
_SELECT_FIRST_MET = """
    SELECT u.key, u.url, u.site, u.depth, u.display_url FROM url u LEFT JOIN revisit r ON r.id=u.id
    WHERE u.key IN (SELECT value FROM json_each(?)) AND coalesce(r.seen, 0)<>?
    AND u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)"""
_SELECT_LINKED = """
    SELECT u.key, u.url, u.site, u.depth, u.display_url,
    coalesce(r.seen, 0)<>? AND u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
    FROM url u LEFT JOIN revisit r ON r.id=u.id WHERE u.key IN (SELECT value FROM json_each(?))"""
_SELECT_UNSEEN = """
    SELECT u.key, u.url, CASE u.display_url WHEN '' THEN u.url ELSE u.display_url END,
    u.indexed OR u.submitted FROM url u JOIN revisit r ON r.id=u.id
    WHERE r.seen<=? AND u.removal_code='' AND u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
    AND u.key NOT IN (SELECT key FROM pending) ORDER BY u.url"""


_COUNT_BY_SITE = """
    SELECT site, sum(last_fetched>0), sum(last_fetched=0) FROM url
    WHERE outcome<>'REMOVED' AND key NOT IN (SELECT key FROM sitemap) GROUP BY site"""
_COUNT_FETCHED_BY_SITE = """
    SELECT site, count(*) FROM url WHERE last_fetched>=? AND outcome IN
    ('NEW', 'MODIFIED', 'REINDEXED', 'UNMODIFIED', 'NOT_MODIFIED', 'NOT_INDEXED', 'LIST', 'DUPLICATE', 'FAILED',
    'PENDING')
    AND key NOT IN (SELECT key FROM sitemap) GROUP BY site"""
_COUNT_BY_PATH = """
    SELECT substr(url, 1, instr(url, '?') - 1) AS path, count(*) FROM url WHERE instr(url, '?')
    GROUP BY path ORDER BY count(*) DESC LIMIT ?"""
_SELECT_PAGES = """
    SELECT u.key, u.url, u.site, u.depth, u.last_fetched, coalesce(r.markup, 0), coalesce(r.changefreq, ''),
    r.priority, coalesce(r.told, 0), coalesce(r.first, 0), coalesce(r.last, 0), coalesce(r.checks, 0),
    coalesce(r.changes, 0), coalesce(r.quiet, 0), coalesce(r.modified, 0)
    FROM url u LEFT JOIN revisit r ON r.id=u.id
    WHERE u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)"""
_SELECT_PAGES_BY_KEYS = f"{_SELECT_PAGES} AND u.key IN (SELECT value FROM json_each(?))"  # noqa: S608 - constant texts
_SELECT_HISTORY = """
    SELECT r.first, r.last, r.checks, r.changes, r.quiet, r.modified
    FROM url u JOIN revisit r ON r.id=u.id WHERE u.key=?"""
_UPDATE_ADVICE = f"""
    UPDATE revisit SET changefreq=?, priority=?, told=? WHERE id={_ROW_ID.format("?")}"""  # noqa: S608 - constant texts


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
        """Keys of URLs that succeeded after errors."""
        self._errors = FailureCounts(lambda: self._read("SELECT key, rule, errors FROM failure"))
        self.changes = (self._seen, self._observed, self._advice, self._failures, self._recovered)

    def enter_cycle(self, number: int) -> None:
        """Set the current cycle."""
        self.cycle = number

    def note_seen(self, keys: Iterable[int]) -> None:
        """Record that URLs were seen in this cycle."""
        self._seen.update(keys)

    def note_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Record that URLs were linked to; returns the known ones seen for the first time in this cycle."""
        unmet = [key for key in keys if key not in self._seen]
        self._seen.update(unmet)
        rows = self._read(_SELECT_FIRST_MET, json.dumps(unmet), self.cycle) if unmet else []
        found = {row[0]: KnownUrl(*row) for row in rows}
        return [found[key] for key in unmet if key in found]

    def linked_urls(self, keys: Sequence[int]) -> dict[int, LinkedUrl]:
        """Return those of the keys that are known, and whether each is seen for the first time in this cycle."""
        rows = self._read(_SELECT_LINKED, self.cycle, json.dumps(keys))
        return {
            row[0]: LinkedUrl(KnownUrl(*row[:-1]), bool(row[-1]) and row[0] not in self._seen) for row in rows
        }

    def note_visit(self, observation: Observation) -> None:
        """Add a visit to the change history of a page."""
        self._observed.append(observation)

    def history_of(self, key: int) -> ChangeHistory:
        """Return the change history of a page."""
        return next((ChangeHistory(*row) for row in self._read(_SELECT_HISTORY, key)), ChangeHistory())

    def unseen_urls(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs that were last seen at least so many cycles ago."""
        rows = self._read(_SELECT_UNSEEN, self.cycle - cycles)
        return [UnseenUrl(key, url, shown, bool(has)) for key, url, shown, has in rows]

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
        query = (_SELECT_PAGES, ()) if keys is None else (_SELECT_PAGES_BY_KEYS, (json.dumps(keys),))
        rows = self._db.execute(*query)
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

    def write_new(self, ids: Iterable[int]) -> None:
        """Record that new URLs, by row id of table `url`, were seen."""
        self._db.executemany(_MARK_NEW_SEEN, [(row_id, self.cycle) for row_id in ids])

    def write_changes(self) -> None:
        """Write the unflushed changes; the URLs must be in table `url`."""
        run = self._db.executemany
        run("DELETE FROM failure WHERE key=?", [(key,) for key in self._recovered])
        run(
            "INSERT OR REPLACE INTO failure (key, rule, errors) VALUES (?,?,?)",
            [(key, rule, errors) for (key, rule), errors in self._failures.items()],
        )
        keys = {*self._advice, *(observation.key for observation in self._observed)}
        run(_INSERT_MISSING, [(key,) for key in keys - self._seen])
        run(_MARK_SEEN, [(self.cycle, key) for key in self._seen])
        run(_UPDATE_ADVICE, [(a.changefreq, a.priority, a.changed, a.key) for a in self._advice.values()])
        run(
            _UPDATE_HISTORY,
            [
                {"key": o.key, "at": o.at, "changed": o.changed, "modified": o.modified, "markup": o.markup}
                for o in self._observed
            ],
        )

    def forget_dropped(self) -> None:
        """Delete the errors of URLs that left the document table."""
        self._db.execute("DELETE FROM failure WHERE key NOT IN (SELECT key FROM url)")
        self._errors.read_again()
