"""The statements of the visit history: tables `revisit` and `failure`."""

from __future__ import annotations

from collections.abc import Collection

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, PURPOSE_NUMBERS, outcomes_in
from ultracrawl.stores.state.part import Writing
from ultracrawl.stores.state.visits import Visits

REMOVED = OUTCOME_NUMBERS[UrlOutcome.REMOVED]
"""The number of the outcome of URLs that a person removed."""
NO_SITEMAP = "NOT EXISTS (SELECT FROM sitemap x WHERE {x} AND x.key = u.key)"
"""The condition that the URL `u` is no sitemap."""
_IS_PAGE = f"u.outcome <> {REMOVED} AND {NO_SITEMAP}"
_IS_KNOWN = "EXISTS (SELECT FROM url u WHERE {u} AND u.key = t.key)"
_MARK_SEEN = """
    INSERT INTO revisit (source, part, key, seen) SELECT {{ids}}, t.key, %s FROM unnest(%s::bigint[]) t(key)
    {condition}
    ON CONFLICT (source, part, key) DO UPDATE SET seen = excluded.seen WHERE revisit.seen <> excluded.seen"""
_MARK_NEW_SEEN = _MARK_SEEN.format(condition="")
"""For URLs that the same transaction wrote: a check for each would take as long as the rest."""
_MARK_KNOWN_SEEN = _MARK_SEEN.format(condition=f"WHERE {_IS_KNOWN}")
_KNOWN = "SELECT u.key, u.url, w.name, u.depth, coalesce(u.display_url, '')"
_WITH_REVISIT = """
    FROM url u JOIN host w ON {w} AND w.site = u.site LEFT JOIN revisit r ON {r} AND r.key = u.key"""
_PAGES = f"""
    SELECT u.key, u.url, w.name, u.depth, coalesce(u.last_fetched, 0), coalesce(r.markup, false),
    coalesce(r.changefreq, ''), r.priority, coalesce(r.told, 0), coalesce(r.first_at, 0), coalesce(r.last_at, 0),
    coalesce(r.checks, 0), coalesce(r.changes, 0), coalesce(r.quiet, 0), coalesce(r.modified, 0) {_WITH_REVISIT}
    WHERE {{u}} AND {_IS_PAGE}"""
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


class PostgresVisits(Visits):
    """The statements of `Visits`."""

    SELECT_FIRST_MET = f"""
        {_KNOWN} {_WITH_REVISIT} WHERE {{u}} AND coalesce(r.seen, 0) <> %s AND u.key = ANY(%s) AND {_IS_PAGE}"""
    SELECT_LINKED = f"""
        {_KNOWN}, coalesce(r.seen, 0) <> %s AND {_IS_PAGE} {_WITH_REVISIT} WHERE {{u}} AND u.key = ANY(%s)"""
    SELECT_HISTORY = """
        SELECT r.first_at, r.last_at, r.checks, r.changes, r.quiet, r.modified FROM revisit r WHERE {r} AND r.key = %s"""  # noqa: E501
    SELECT_UNSEEN = f"""
        SELECT u.key, u.url, coalesce(u.display_url, u.url), u.indexed OR s.key IS NOT NULL FROM url u
        JOIN revisit r ON {{r}} AND r.key = u.key LEFT JOIN submitted s ON {{s}} AND s.key = u.key
        WHERE {{u}} AND r.seen <= %s AND {_IS_PAGE}
        AND NOT EXISTS (SELECT FROM removal m WHERE {{m}} AND m.key = u.key)
        AND NOT EXISTS (SELECT FROM retained p WHERE {{p}} AND p.purpose = {PURPOSE_NUMBERS[Retained.APPROVAL]}
            AND p.key = u.key) ORDER BY u.url"""  # noqa: S608 - constant texts
    COUNT_BY_SITE = f"""
        SELECT w.name, n.fetched, n.unfetched FROM (
            SELECT u.site, count(u.last_fetched) AS fetched, count(*) - count(u.last_fetched) AS unfetched FROM url u
            WHERE {{u}} AND {_IS_PAGE} GROUP BY u.site) n JOIN host w ON {{w}} AND w.site = n.site"""  # noqa: S608 - constant texts
    COUNT_FETCHED_BY_SITE = f"""
        SELECT w.name, n.fetched FROM (
            SELECT u.site, count(*) AS fetched FROM url u
            WHERE {{u}} AND u.last_fetched >= %s AND u.outcome IN ({_FETCHED}) AND {NO_SITEMAP} GROUP BY u.site) n
        JOIN host w ON {{w}} AND w.site = n.site"""  # noqa: S608 - constant texts
    COUNT_BY_PATH = """
        SELECT split_part(url, '?', 1) AS path, count(*) FROM url WHERE {own} AND strpos(url, '?') > 0
        GROUP BY path ORDER BY count(*) DESC, path LIMIT %s"""
    SELECT_PAGES = _PAGES
    SELECT_PAGES_BY_KEYS = f"{_PAGES} AND u.key = ANY(%s)"
    ADD_MISSING = f"""
        INSERT INTO revisit (source, part, key) SELECT {{ids}}, t.key FROM unnest(%s::bigint[]) t(key) WHERE {_IS_KNOWN}
        ON CONFLICT DO NOTHING"""  # noqa: S608 - constant texts
    UPDATE_ADVICE = """
        UPDATE revisit r SET changefreq = nullif(t.changefreq, ''), priority = t.priority, told = nullif(t.told, 0)
        FROM unnest(%s::bigint[], %s::text[], %s::float8[], %s::float8[]) t(key, changefreq, priority, told)
        WHERE {r} AND r.key = t.key"""
    UPDATE_HISTORY = """
        UPDATE revisit r SET checks = checks + (first_at > 0)::int, changes = changes + (first_at > 0 AND t.changed)::int,
        quiet = quiet + CASE WHEN first_at > 0 THEN greatest(0, least(t.at - last_at,
            CASE WHEN coalesce(t.modified, r.modified) > 0 THEN t.at - coalesce(t.modified, r.modified)
            ELSE t.at - last_at END)) ELSE 0 END,
        first_at = CASE WHEN first_at > 0 THEN first_at ELSE t.at END, last_at = t.at,
        modified = coalesce(t.modified, r.modified), markup = coalesce(t.markup, r.markup)
        FROM unnest(%s::bigint[], %s::float8[], %s::bool[], %s::float8[], %s::bool[]) t(key, at, changed, modified, markup)
        WHERE {r} AND r.key = t.key"""  # noqa: E501

    # ---- writing, inside a transaction of the store

    def write_new(self, to: Writing, keys: Collection[int]) -> None:
        """Record that URLs were seen: those of `keys`, which were written before in this transaction, and others."""
        for statement, seen in ((_MARK_NEW_SEEN, {*keys}), (_MARK_KNOWN_SEEN, self._seen.difference(keys))):
            if seen:
                to.execute(statement, (self.cycle, sorted(seen)))
