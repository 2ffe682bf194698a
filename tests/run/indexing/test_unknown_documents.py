"""Documents that an index has although the document table does not count on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.indexing.unknown_documents import mark_unknown_documents
from ultracrawl.run.writing.writer import IndexWriter
from ultracrawl.stores import QueueEntry
from ultracrawl.stores.project_stores import store_engine

URL = "http://h/a"
LEAVE = {"GONE", "REJECTED", "ROBOTS", "NOT_INDEXED", "LIST", "REDIRECTED", "DUPLICATE"}


@pytest.mark.parametrize("outcome", [one for one in UrlOutcome if one is not UrlOutcome.REMOVED])
def test_the_last_visit_decides_whether_an_unknown_document_stays(
    tmp_path: Path, outcome: UrlOutcome
) -> None:
    state = store_engine("memory", None).open_store(tmp_path, "s")
    key = url_key(URL)
    state.records.discover_url(QueueEntry(key, URL, "h", 0, 1), 1.0)
    record = state.records.get_record(key)
    assert record is not None
    state.records.amend_record(key, replace(record, outcome=outcome))
    mark_unknown_documents(state, cast("IndexWriter", None), [URL], 2.0)
    (after,) = state.records.all_records()
    assert after.indexed
    assert (after.removal and after.removal.reason.value) == (outcome.value if outcome in LEAVE else None)
    state.close()
