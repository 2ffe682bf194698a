"""The statements of links of pages and anchor texts: tables `anchor...` and `depth_due`."""

from __future__ import annotations

from ultracrawl.content.anchors import SHARED
from ultracrawl.model import UrlOutcome
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS
from ultracrawl.stores.state.links import Links
from ultracrawl.stores.state.part import Writing

_MARK_DUE = """
    WITH RECURSIVE reached(key, by_text) AS (
        SELECT t.key, t.by_text FROM unnest(%s::bigint[], %s::bool[]) t(key, by_text)
        UNION SELECT r.target, reached.by_text FROM reached JOIN anchor_redirect r ON {r} AND r.key = reached.key)
    UPDATE anchor_document d SET due = true FROM reached
    WHERE {d} AND d.key = reached.key AND NOT d.due AND (reached.by_text OR d.crowded)"""


class PostgresLinks(Links):
    """The statements of `Links`; documents that wait in the cache of another machine are delivered from there."""

    PAGE_LINKS = "SELECT key, links FROM url WHERE {own} AND links IS NOT NULL ORDER BY number"
    LINKED_PAGES = "SELECT key, depth, links FROM url WHERE {own} AND links IS NOT NULL ORDER BY number"
    REDIRECTS = f"""
        SELECT key, depth, coalesce(subject, '') FROM url
        WHERE {{own}} AND outcome = {OUTCOME_NUMBERS[UrlOutcome.REDIRECTED]} ORDER BY number"""  # noqa: S608 - a constant
    NOTE_DEPTH_DUE = """
        INSERT INTO depth_due AS d (source, part, key, dropped) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bytea[])
        ON CONFLICT (source, part, key) DO UPDATE SET dropped = d.dropped || excluded.dropped"""
    SELECT_TEXTS = f"""
        WITH RECURSIVE ask(key, target) AS (
            SELECT t.key, t.key FROM unnest(%s::bigint[]) t(key)
            UNION SELECT ask.key, r.key FROM ask JOIN anchor_redirect r ON {{r}} AND r.target = ask.target)
        SELECT ask.key, a.fragment, a.text, a.pages FROM ask JOIN anchor a
            ON {{a}} AND a.mark BETWEEN ask.target & -4294967296 AND ask.target | 4294967295 AND a.target = ask.target
            LEFT JOIN anchor_text n ON {{n}} AND n.text = a.text
        WHERE a.pages > 0 AND coalesce(n.targets, 0) <= {SHARED} ORDER BY ask.key"""  # noqa: S608 - a constant
    SET_PAGES = """
        UPDATE anchor a SET pages = t.pages FROM unnest(%s::bigint[], %s::int[]) t(mark, pages)
        WHERE {a} AND a.mark = t.mark"""
    MARK_TURNED = """
        WITH RECURSIVE turned(target) AS (
            SELECT a.target FROM anchor_text t JOIN anchor a ON {a} AND a.text = t.text WHERE {t} AND t.turned
            UNION SELECT r.target FROM turned JOIN anchor_redirect r ON {r} AND r.key = turned.target)
        UPDATE anchor_document d SET due = true WHERE {d} AND NOT due AND key IN (SELECT target FROM turned)"""
    asks_early = True

    # ---- writing, inside a transaction of the store

    def _mark_due(self, to: Writing, texts: set[int], counts: set[int], crowded: set[int]) -> None:
        due = dict.fromkeys(counts, False) | dict.fromkeys(texts, True)
        to.run(_MARK_DUE, list(due.items()))
