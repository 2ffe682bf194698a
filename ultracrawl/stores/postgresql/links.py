"""The statements of links of pages and anchor texts: tables `anchor...` and `depth_due`."""

from __future__ import annotations

from ultracrawl.content.anchors import SHARED
from ultracrawl.model import UrlOutcome
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS
from ultracrawl.stores.postgresql.part_base import StoreAccess
from ultracrawl.stores.state.links import LOWEST_KEY, Links
from ultracrawl.stores.state.part import Writing

_SELECT_DUE = """
    SELECT key FROM anchor_document WHERE {own} AND due AND key >= %s AND key <> ALL(%s::bigint[])
    ORDER BY key LIMIT %s"""
_CLEAR_DUE = """
    UPDATE anchor_document SET due = false WHERE {own} AND due AND told IS NOT NULL AND key <> ALL(%s::bigint[])"""
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
    SELECT_DEPTHS_DUE = "SELECT key, dropped FROM depth_due WHERE {own}"
    NOTE_DEPTH_DUE = """
        INSERT INTO depth_due AS d (source, part, key, dropped) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bytea[])
        ON CONFLICT (source, part, key) DO UPDATE SET dropped = d.dropped || excluded.dropped"""
    CLEAR_DEPTHS_DUE = "DELETE FROM depth_due WHERE {own}"
    SELECT_TEXTS = f"""
        WITH RECURSIVE ask(key, target) AS (
            SELECT t.key, t.key FROM unnest(%s::bigint[]) t(key)
            UNION SELECT ask.key, r.key FROM ask JOIN anchor_redirect r ON {{r}} AND r.target = ask.target)
        SELECT ask.key, a.fragment, a.text, a.pages FROM ask JOIN anchor a
            ON {{a}} AND a.mark BETWEEN ask.target & -4294967296 AND ask.target | 4294967295 AND a.target = ask.target
            LEFT JOIN anchor_text n ON {{n}} AND n.text = a.text
        WHERE a.pages > 0 AND coalesce(n.targets, 0) <= {SHARED} ORDER BY ask.key"""  # noqa: S608 - a constant
    SELECT_TOLD = "SELECT key, told FROM anchor_document WHERE {own} AND key = ANY(%s)"
    FORGET_TOLD = "UPDATE anchor_document SET told = NULL, due = true WHERE {own}"
    FORGET_TOLD_DUE = "UPDATE anchor_document SET told = NULL WHERE {own} AND due AND told IS NOT NULL"
    STORE_SUBMITTED = """
        INSERT INTO anchor_document (source, part, key, told, crowded, due)
        SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[], %s::bool[], %s::bool[])
        ON CONFLICT (source, part, key) DO UPDATE
        SET told = excluded.told, crowded = excluded.crowded, due = excluded.due"""
    MARK_TEXTS_DUE = """
        INSERT INTO anchor_document (source, part, key, due) SELECT {ids}, t.key, true FROM unnest(%s::bigint[]) t(key)
        ON CONFLICT (source, part, key) DO UPDATE SET told = NULL, due = true"""
    DELETE_DOCUMENT = "DELETE FROM anchor_document WHERE {own} AND key = ANY(%s)"
    SELECT_LEFT = "SELECT number, marks, target FROM anchor_left WHERE {own}"
    DELETE_LEFT = "DELETE FROM anchor_left WHERE {own} AND number = ANY(%s)"
    SELECT_TARGETS = "SELECT key, target FROM anchor_redirect WHERE {own} AND key = ANY(%s)"
    PUT_TARGET = """
        INSERT INTO anchor_redirect (source, part, key, target) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[])
        ON CONFLICT (source, part, key) DO UPDATE SET target = excluded.target"""
    DELETE_TARGET = "DELETE FROM anchor_redirect WHERE {own} AND key = ANY(%s)"
    SELECT_PAGES = "SELECT key, marks FROM anchor_page WHERE {own} AND key = ANY(%s)"
    PUT_PAGE = """
        INSERT INTO anchor_page (source, part, key, marks) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bytea[])
        ON CONFLICT (source, part, key) DO UPDATE SET marks = excluded.marks"""
    SELECT_MARKS = "SELECT mark, target, pages, fragment, text FROM anchor WHERE {own} AND mark = ANY(%s)"
    ADD_MARK = """
        INSERT INTO anchor (source, part, mark, target, fragment, text, pages)
        SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::int[])
        ON CONFLICT DO NOTHING"""
    SET_PAGES = """
        UPDATE anchor a SET pages = t.pages FROM unnest(%s::bigint[], %s::int[]) t(mark, pages)
        WHERE {a} AND a.mark = t.mark"""
    COUNT_TEXT = f"""
        INSERT INTO anchor_text AS a (source, part, text, targets) SELECT {{ids}}, * FROM unnest(%s::text[], %s::int[])
        ON CONFLICT (source, part, text) DO UPDATE SET targets = a.targets + excluded.targets,
        turned = a.turned OR a.targets + excluded.targets <= 0
            OR (a.targets > {SHARED}) <> (a.targets + excluded.targets > {SHARED})"""  # noqa: S608 - a constant
    SWEEP = (
        """
            WITH RECURSIVE turned(target) AS (
                SELECT a.target FROM anchor_text t JOIN anchor a ON {a} AND a.text = t.text WHERE {t} AND t.turned
                UNION SELECT r.target FROM turned JOIN anchor_redirect r ON {r} AND r.key = turned.target)
            UPDATE anchor_document d SET due = true WHERE {d} AND NOT due AND key IN (SELECT target FROM turned)""",
        "DELETE FROM anchor_text WHERE {own} AND turned AND targets <= 0",
        "UPDATE anchor_text SET turned = false WHERE {own} AND turned",
        "DELETE FROM anchor WHERE {own} AND pages = 0",
    )
    asks_early = True
    _access: StoreAccess

    def documents_due(self, after: int | None, number: int) -> list[int]:
        """Return documents whose texts may differ from the submitted ones."""
        first = LOWEST_KEY if after is None else after + 1
        return [key for (key,) in self._read(_SELECT_DUE, first, sorted(self._access.elsewhere), number)]

    def note_texts_arrived(self) -> None:
        """Record that nothing waits for an index."""
        elsewhere = sorted(self._access.elsewhere)
        self._access.write(lambda to: to.execute(_CLEAR_DUE, (elsewhere,)))

    # ---- writing, inside a transaction of the store

    def _mark_due(self, to: Writing, texts: set[int], counts: set[int], crowded: set[int]) -> None:
        due = dict.fromkeys(counts, False) | dict.fromkeys(texts, True)
        to.run(_MARK_DUE, list(due.items()))
