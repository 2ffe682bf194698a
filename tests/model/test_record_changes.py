"""What remains of the record of a URL whose document has left the index."""

from __future__ import annotations

import pytest

from ultracrawl.model import Cause, CauseCode, Removal, RemovalReason, UrlRecord
from ultracrawl.model.record_changes import without_document


@pytest.mark.parametrize(
    ("reason", "is_read_next"),
    [(RemovalReason.DUPLICATE, True), (RemovalReason.UNLISTED, True), (RemovalReason.NOT_INDEXED, False)],
)
def test_a_page_that_may_have_been_misjudged_is_read_again(reason: RemovalReason, is_read_next: bool) -> None:
    removal = Removal(reason, Cause(CauseCode.SAME_CONTENT, "http://h.test/other"))
    record = UrlRecord("http://h.test/", "site", etag='"1"', checksum=b"1", fingerprint=b"2", removal=removal)
    left = without_document(record)
    assert (left.removal, left.fingerprint) == (None, b"")
    assert (not left.etag, not left.checksum) == (is_read_next, is_read_next)
