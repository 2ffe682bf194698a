"""Rows of the document table lie in the order of discovery."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import QueueEntry, SqliteStore


def test_what_is_found_together_lies_together(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    state = SqliteStore(file, "s")
    state.begin_run(1.0, "")
    urls = [f"http://h/{number}" for number in range(50)]
    for number, url in enumerate(urls):
        entry = QueueEntry(url_key(url), url, "h", 1, number + 1)
        state.records.discover_url(entry, 1.0)
        if number % 7 == 0:
            state.records.finish_url(entry, UrlRecord(url, "s", outcome=UrlOutcome.NEW))
            state.flush()
    state.close()
    db = sqlite3.connect(file)
    assert [url for (url,) in db.execute("SELECT url FROM url ORDER BY id")] == urls
    db.close()
