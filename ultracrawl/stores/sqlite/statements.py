"""The statements of visits and documents: tables of the SQLite store."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.state.documents import Documents
from ultracrawl.stores.state.part import Writing
from ultracrawl.stores.state.visits import Visits

_MARK_SEEN = """
    INSERT INTO revisit (id, seen) SELECT id, ? FROM url WHERE key=?
    ON CONFLICT (id) DO UPDATE SET seen=excluded.seen WHERE seen<>excluded.seen"""
_MARK_NEW_SEEN = (
    "INSERT INTO revisit (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen=excluded.seen"
)
_IS_PAGE = "u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)"
_KNOWN = "SELECT u.key, u.url, u.site, u.depth, u.display_url"
_WITH_REVISIT = "FROM url u LEFT JOIN revisit r ON r.id=u.id"
_PAGES = f"""
    SELECT u.key, u.url, u.site, u.depth, u.last_fetched, coalesce(r.markup, 0), coalesce(r.changefreq, ''),
    r.priority, coalesce(r.told, 0), coalesce(r.first_at, 0), coalesce(r.last_at, 0), coalesce(r.checks, 0),
    coalesce(r.changes, 0), coalesce(r.quiet, 0), coalesce(r.modified, 0) {_WITH_REVISIT} WHERE {_IS_PAGE}"""


class SqliteVisits(Visits):
    """The statements of `Visits`."""

    SELECT_FIRST_MET = f"""
        {_KNOWN} {_WITH_REVISIT}
        WHERE u.key IN (SELECT value FROM json_each(?2)) AND coalesce(r.seen, 0)<>?1 AND {_IS_PAGE}"""  # noqa: S608 - constant texts
    SELECT_LINKED = f"""
        {_KNOWN}, coalesce(r.seen, 0)<>? AND {_IS_PAGE} {_WITH_REVISIT}
        WHERE u.key IN (SELECT value FROM json_each(?))"""  # noqa: S608 - constant texts
    SELECT_HISTORY = """
        SELECT r.first_at, r.last_at, r.checks, r.changes, r.quiet, r.modified
        FROM url u JOIN revisit r ON r.id=u.id WHERE u.key=?"""
    SELECT_UNSEEN = f"""
        SELECT u.key, u.url, CASE u.display_url WHEN '' THEN u.url ELSE u.display_url END,
        u.indexed OR u.submitted FROM url u JOIN revisit r ON r.id=u.id
        WHERE r.seen<=? AND u.removal_code='' AND {_IS_PAGE}
        AND u.key NOT IN (SELECT key FROM pending) ORDER BY u.url"""  # noqa: S608 - constant texts
    COUNT_BY_SITE = f"""
        SELECT u.site, sum(u.last_fetched>0), sum(u.last_fetched=0) FROM url u WHERE {_IS_PAGE} GROUP BY u.site"""  # noqa: S608 - constant texts
    COUNT_FETCHED_BY_SITE = """
        SELECT site, count(*) FROM url WHERE last_fetched>=? AND outcome IN
        ('NEW', 'MODIFIED', 'REINDEXED', 'UNMODIFIED', 'NOT_MODIFIED', 'NOT_INDEXED', 'LIST', 'DUPLICATE', 'FAILED',
        'PENDING')
        AND key NOT IN (SELECT key FROM sitemap) GROUP BY site"""
    COUNT_BY_PATH = """
        SELECT substr(url, 1, instr(url, '?') - 1) AS path, count(*) FROM url WHERE instr(url, '?')
        GROUP BY path ORDER BY count(*) DESC, path LIMIT ?"""
    SELECT_PAGES = _PAGES
    SELECT_PAGES_BY_KEYS = f"{_PAGES} AND u.key IN (SELECT value FROM json_each(?))"  # noqa: S608 - constant texts
    ADD_MISSING = "INSERT OR IGNORE INTO revisit (id) SELECT id FROM url WHERE key=?"
    UPDATE_ADVICE = """
        UPDATE revisit SET changefreq=?2, priority=?3, told=?4 WHERE id=(SELECT id FROM url WHERE key=?1)"""
    UPDATE_HISTORY = """
        UPDATE revisit SET checks=checks+(first_at>0), changes=changes+(first_at>0 AND ?3),
        quiet=quiet+CASE WHEN first_at>0
            THEN max(0, min(?2-last_at,
                CASE WHEN coalesce(?4, modified)>0 THEN ?2-coalesce(?4, modified) ELSE ?2-last_at END))
            ELSE 0 END,
        first_at=CASE WHEN first_at>0 THEN first_at ELSE ?2 END, last_at=?2,
        modified=coalesce(?4, modified), markup=coalesce(?5, markup)
        WHERE id=(SELECT id FROM url WHERE key=?1)"""

    # ---- writing, inside a transaction of the store

    def write_new(self, to: Writing, ids: Iterable[int]) -> None:
        """Record that new URLs, by row id of table `url`, were seen."""
        to.run(_MARK_NEW_SEEN, [(row_id, self.cycle) for row_id in ids])

    def _mark_seen(self, to: Writing) -> None:
        to.run(_MARK_SEEN, [(self.cycle, key) for key in self._seen])


_KEPT = "SELECT key FROM url WHERE indexed=1 OR submitted=1"
_WAITING = "UNION SELECT key FROM pending UNION SELECT key FROM successor"
_MARK_SUBMITTED = "UPDATE url SET submitted=1, etag='', last_modified='', checksum=x'' WHERE key=?"


def _of_each(statement: str) -> dict[Retained, str]:
    """Return a statement about the table of each purpose, `TABLE` in it."""
    return {purpose: statement.replace("TABLE", purpose.value) for purpose in Retained}


class SqliteDocuments(Documents):
    """The statements of `Documents`."""

    SELECT_RETAINED = _of_each(
        "SELECT key, document FROM TABLE WHERE key IN (SELECT value FROM json_each(?))"
    )
    SELECT_AHEAD = _of_each("""
        SELECT key, CASE WHEN key=? OR length(document)<=? THEN document END FROM TABLE
        WHERE key IN (SELECT value FROM json_each(?))""")
    RETAINED_KEYS = _of_each("SELECT p.key FROM TABLE p JOIN url u ON u.key=p.key ORDER BY u.depth, u.url")
    PUT_RETAINED = _of_each("INSERT OR REPLACE INTO TABLE (key, document) VALUES (?,?)")
    DELETE_RETAINED = _of_each("DELETE FROM TABLE WHERE key=?")
    SELECT_KEPT = f"{_KEPT} {_WAITING}"
    SELECT_KEPT_AND_DUPLICATES = f"{_KEPT} OR (outcome='DUPLICATE' AND fingerprint<>x'') {_WAITING}"
    COUNT_BEFORE = """
        SELECT count(*) FROM url WHERE (indexed OR submitted) AND NOT (outcome='NEW' AND last_fetched>=?)"""
    SELECT_STAND = """
        SELECT key, submitted, id IN (SELECT id FROM queue) FROM url WHERE key IN (SELECT value FROM json_each(?))"""
    UPDATE_INDEXED = "UPDATE url SET indexed=?2, submitted=0 WHERE key=?1"
    CLEAR_VALIDATORS = "UPDATE url SET etag='', last_modified='', checksum=x'' WHERE indexed=1 OR submitted=1"
    MARK_LOST = "UPDATE url SET submitted=0, indexed=0, etag='', last_modified='', checksum=x'' WHERE key=?"
    MEET_AGAIN = "UPDATE revisit SET seen=0 WHERE id=(SELECT id FROM url WHERE key=?)"

    def open_place(self, name: str) -> bool:
        """Do nothing: there is one machine."""
        return False

    def submitted_here(self, keys: Collection[int]) -> frozenset[int]:
        """Return all keys."""
        return frozenset(keys)

    def keep_place(self) -> None:
        """Do nothing."""

    def note_submitted(self, key: int) -> None:
        """Do nothing."""

    def _lost_documents(self, waiting: frozenset[int]) -> list[int]:
        submitted = self._read("SELECT key FROM url WHERE submitted=1 ORDER BY key")
        return [key for (key,) in submitted if key not in waiting]

    def _mark_submitted(self, to: Writing, keys: list[int]) -> None:
        to.run(_MARK_SUBMITTED, [(key,) for key in keys])
