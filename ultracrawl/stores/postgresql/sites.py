"""The statements of sites, sitemaps and feeds of one source."""

from __future__ import annotations

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS
from ultracrawl.stores.state.sites import LINK, SITE, TO_RESET, Sites

_LINK = ", ".join([*LINK[:-1], "alone"])
_SITES = f"SELECT {SITE} FROM known_site WHERE {{own}}"  # noqa: S608 - constant texts
_FEEDS = f"SELECT feed, {_LINK} FROM feed_link WHERE {{own}}"  # noqa: S608 - constant texts


class PostgresSites(Sites):
    """The statements of `Sites`."""

    SELECT_SITE = f"{_SITES} AND site = %s"
    SPECIAL_SITES = f"{_SITES} AND (own_delay IS NOT NULL OR {TO_RESET}) ORDER BY site"
    PUT_SITE = f"""
        INSERT INTO known_site (source, part, {SITE})
        SELECT {{ids}}, * FROM unnest(%s::text[], %s::float8[], %s::float8[], %s::int[], %s::text[], %s::text[])
        ON CONFLICT (source, part, site) DO UPDATE SET seen = excluded.seen, own_delay = excluded.own_delay,
        given_up = excluded.given_up, robots = excluded.robots, stand_in = excluded.stand_in"""  # noqa: S608 - constant names
    SITEMAP_KEYS = "SELECT key FROM sitemap WHERE {own}"
    SELECT_SITEMAPS = """
        SELECT key, run, is_index, CASE WHEN key = %s OR octet_length(dates) <= %s THEN dates END FROM sitemap
        WHERE {own} AND key = ANY(%s)"""
    PUT_SITEMAP = """
        INSERT INTO sitemap (source, part, key, run, is_index, dates)
        SELECT {ids}, * FROM unnest(%s::bigint[], %s::int[], %s::bool[], %s::bytea[])
        ON CONFLICT (source, part, key) DO UPDATE SET run = excluded.run, is_index = excluded.is_index,
        dates = excluded.dates"""
    UNUSED_SITEMAPS = f"""
        SELECT key FROM sitemap m WHERE {{m}} AND (run < %s OR EXISTS (
            SELECT FROM url u WHERE {{u}} AND u.key = m.key AND u.outcome = {OUTCOME_NUMBERS[UrlOutcome.GONE]}))"""  # noqa: S608 - constant texts
    HAS_ANNOUNCED = "SELECT 1 FROM announced WHERE {own} LIMIT 1"
    SELECT_ANNOUNCED = "SELECT key, lastmod FROM announced WHERE {own} AND key = ANY(%s)"
    ANNOUNCE = """
        INSERT INTO announced (source, part, key, lastmod) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[])
        ON CONFLICT (source, part, key) DO UPDATE SET lastmod = greatest(announced.lastmod, excluded.lastmod)"""
    CLEAR_ANNOUNCED = "DELETE FROM announced WHERE {own}"
    FEED_KEYS = "SELECT DISTINCT feed FROM feed_link WHERE {own}"
    SELECT_FEEDS = f"{_FEEDS} AND feed = ANY(%s) ORDER BY feed, key"
    ALL_FEEDS = f"{_FEEDS} ORDER BY feed, key"
    PUT_LINK = f"""
        INSERT INTO feed_link (source, part, feed, {_LINK}) SELECT {{ids}}, * FROM unnest(
            %s::bigint[], %s::bigint[], %s::float8[], %s::float8[], %s::int[], %s::bool[], %s::bool[])
        ON CONFLICT (source, part, feed, key) DO UPDATE SET seen = excluded.seen, date = excluded.date,
        place = excluded.place, expired = excluded.expired, alone = excluded.alone"""  # noqa: S608 - constant names
    DELETE_FEED = "DELETE FROM feed_link WHERE {own} AND feed = ANY(%s)"
    SELECT_TO_RESET = f"SELECT site, stand_in FROM known_site WHERE {{own}} AND ({TO_RESET}) ORDER BY site"  # noqa: S608 - constant texts
    RESET_SITES = f"UPDATE known_site SET given_up = 0, stand_in = '' WHERE {{own}} AND ({TO_RESET})"  # noqa: S608 - constant texts
    DELETE_SITES = "DELETE FROM known_site WHERE {own} AND seen < %s"
