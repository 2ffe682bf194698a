"""Causes and removals as stores of earlier versions have them: sentences, which become codes with data."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlOutcome
from ultracrawl.stores.sqlite.former_causes import cause_of
from ultracrawl.stores.sqlite.migrations import MIGRATIONS
from ultracrawl.stores.sqlite.store import SqliteStore

HERE = next(number for number, step in enumerate(MIGRATIONS) if "former_cause" in step)
C = CauseCode

FORMER = {
    "to http://h/b": ("REDIRECTED", 954, Cause(C.REDIRECT, "http://h/b")),
    "has the content of http://h/b": ("DUPLICATE", 909, Cause(C.SAME_CONTENT, "http://h/b")),
    "http://h/x is the display URL of http://h/b": (
        "DUPLICATE", 956, Cause(C.SAME_DISPLAY_URL, "http://h/b", "http://h/x"),
    ),
    "takes the place of http://h/b when that leaves the index": ("DUPLICATE", 909, Cause(C.REPLACES, "http://h/b")),
    "it names the day on which it leaves the index": ("NEW", 200, Cause(C.EXPIRES)),
    "sitemap lastmod": ("NOT_MODIFIED", 304, Cause(C.SITEMAP_DATE)),
    "directory with 7 entries": ("NOT_INDEXED", 200, Cause(C.DIRECTORY, "7")),
    "feed with 7 entries, 3 of them inside; broken off": (
        "NOT_INDEXED", 200, Cause(C.FEED, "7", "3 of them inside; broken off"),
    ),
    "sitemap (urlset) with 3 entries": ("NOT_INDEXED", 200, Cause(C.SITEMAP, "urlset", "3 entries")),
    "30031 excluded by robots.txt: Disallow: /a (line 2)": ("ROBOTS", 951, Cause(C.ROBOTS, "Disallow: /a", "line 2")),
    "filter rules: h: paths": ("REJECTED", 951, Cause(C.FILTER, "filter rules", "h: paths")),
    "mine:no-drafts answered REQ_ABORTED": (
        "REJECTED", 951, Cause(C.FILTER, "mine:no-drafts answered REQ_ABORTED"),
    ),
    "not found": ("GONE", 404, Cause(C.STATUS, "404")),
    "HTTP status 299": ("NOT_INDEXED", 299, Cause(C.STATUS, "299")),
    "gone: error 3 by rule 410": ("GONE", 410, Cause(C.STATUS, "410", "error 3 by rule 410")),
    "30040 exclude domain x: http://h/a --[301]--> http://x/": (
        "REJECTED", 954, Cause(C.REDIRECT_OUTSIDE, "exclude domain x", "http://h/a --[301]--> http://x/"),
    ),
    "too many redirects: http://h/a --[301]--> http://x/": (
        "REJECTED", 1005, Cause(C.REDIRECT_REFUSED, "too many redirects", "http://h/a --[301]--> http://x/"),
    ),
    "30041 excluded by type: image/png is not accepted": ("NOT_INDEXED", 1001, Cause(C.TYPE, "image/png")),
    "30025 connection refused": ("NETWORK_ERROR", 906, Cause(C.CONNECTION_REFUSED)),
    "I/O error: disk": ("NETWORK_ERROR", 905, Cause(C.IO_ERROR, detail="disk")),
    "lost in its download: it does not come back": (
        "FAILED", 958, Cause(C.LOST, "its download", "it does not come back"),
    ),
    "only the first 9 bytes were read (cut_off)": (
        "NEW", 200, Cause(C.PART, detail="only the first 9 bytes were read (cut_off)"),
    ),
    "not found on this page": ("NOT_INDEXED", 200, Cause(C.STATED, "not found on this page")),
    "mine: it is a draft": ("NOT_INDEXED", 200, Cause(C.STATED, "mine", "it is a draft")),
    "see http://h/": ("NOT_INDEXED", 200, Cause(C.STATED, "see http://h/")),
}  # fmt: skip

LEAVING = {
    "GONE: not found": Removal(RemovalReason.GONE, Cause(C.STATUS, "404")),
    "REDIRECTED: to http://h/b": Removal(RemovalReason.REDIRECTED, Cause(C.REDIRECT, "http://h/b")),
    "NOT_INDEXED: mine: draft": Removal(RemovalReason.NOT_INDEXED, Cause(C.STATED, "mine", "draft")),
    "FILTERS: filter rules: h": Removal(RemovalReason.FILTERS, Cause(C.FILTER, "filter rules", "h")),
    "SCOPE: exclude path h/a: b": Removal(RemovalReason.SCOPE, Cause(C.RULE, "exclude path h/a: b")),
    "orphan": Removal(RemovalReason.ORPHAN),
    "orphan: nothing led to it for 3 cycles": Removal(RemovalReason.ORPHAN, Cause(C.UNLINKED, "3")),
    "EXPIRED: rd-expires 2026-01-01": Removal(RemovalReason.EXPIRED, Cause(C.DAY_OVER, "2026-01-01")),
    "feed: its time in the feed is over": Removal(RemovalReason.FEED, Cause(C.FEED_OVER)),
    "UNKNOWN: no page led to it since the state was lost": Removal(
        RemovalReason.UNKNOWN, Cause(C.STATE_LOST)
    ),
    "words of somebody": Removal(RemovalReason.OTHER, Cause(C.STATED, "words of somebody")),
}

REWORDED = {
    "takes the place of http://h/b when that leaves the index": "replaces http://h/b once that document is removed",
    "it names the day on which it leaves the index": "the page sets its own expiry date",
    "orphan: nothing led to it for 3 cycles": "orphan: no page linked to it for 3 cycles",
    "feed: its time in the feed is over": "feed: its feed entry has expired",
    "UNKNOWN: no page led to it since the state was lost": (
        "UNKNOWN: no page has linked to it since the state was lost"
    ),
}
"""The present sentences of causes that have been reworded since."""


@pytest.mark.parametrize("text", FORMER)
def test_a_sentence_is_understood_and_told_as_before(text: str) -> None:
    outcome, status, cause = FORMER[text]
    assert cause_of(text, outcome, status) == cause
    assert str(cause) == REWORDED.get(text, text)


@pytest.fixture
def former(tmp_path: Path) -> SqliteStore:
    """Return a store that was written before causes were codes, brought up to date."""
    path = tmp_path / "s.sqlite"
    db = sqlite3.connect(path)
    for step in MIGRATIONS[:HERE]:
        db.executescript(step)
    columns = "key, url, site, depth, handed, outcome, status, reason, leaving"
    insert = f"INSERT INTO url ({columns}) VALUES (?,?,'h',0,1,?,?,?,?)"
    rows = [(outcome, status, text, "") for text, (outcome, status, _) in FORMER.items()]
    rows += [("GONE", 404, "", text) for text in LEAVING]
    db.executemany(insert, [(key, f"http://h/{key:03}", *row) for key, row in enumerate(rows)])
    db.execute(f"PRAGMA user_version={HERE}")
    db.commit()
    db.close()
    return SqliteStore(path, "s")


def test_a_store_of_an_earlier_version_is_converted_as_a_whole(former: SqliteStore) -> None:
    records = list(former.records.all_records())
    removals = [one.removal for one in records[len(FORMER) :]]
    assert [one.cause for one in records[: len(FORMER)]] == [cause for _, _, cause in FORMER.values()]
    assert removals == list(LEAVING.values())
    assert list(map(str, removals)) == [REWORDED.get(text, text) for text in LEAVING]
    assert all(one.submitted for one in records)
    assert [one.outcome for one in former.records.redirecting_to("http://h/b")] == [UrlOutcome.REDIRECTED]
    assert len(list(former.records.records_to_remove())) == len(LEAVING)
    former.close()


def test_the_indexes_of_the_table_are_used(former: SqliteStore) -> None:
    for condition, index in (
        ("removal_code<>''", "url_removal"),
        ("outcome='REDIRECTED' AND subject='x'", "url_redirected"),
        ("submitted=1", "url_submitted"),
    ):
        plan = former._db.execute(f"EXPLAIN QUERY PLAN SELECT key FROM url WHERE {condition}").fetchall()
        assert index in plan[0][3]
    former.close()
