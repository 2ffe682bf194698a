import hashlib
from dataclasses import replace

import pytest

from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.change import (
    checksum,
    classify,
    conditional_headers,
    has_same_page,
    is_unread,
    live_checksum,
    outcome_of_status,
    stays_unread,
    unread_checksum,
)

OLD, NEW = checksum(b"old"), checksum(b"new")
LM = "Wed, 01 May 2024 10:00:00 GMT"


def record(**changes):
    return UrlRecord("https://a.example/", "s", **{"checksum": OLD, **changes})


def test_checksum_is_sha256_of_the_body():
    assert checksum(b"abc") == hashlib.sha256(b"abc").digest()


@pytest.mark.parametrize(
    ("known", "value", "force", "outcome"),
    [
        pytest.param(None, NEW, False, UrlOutcome.NEW, id="never seen"),
        pytest.param(record(checksum=b""), NEW, False, UrlOutcome.NEW, id="queued, never read"),
        pytest.param(
            record(checksum=b"", first_seen=1.0), OLD, True, UrlOutcome.NEW, id="lost before the commit"
        ),
        pytest.param(
            record(outcome=UrlOutcome.GONE, checksum=b""), OLD, False, UrlOutcome.NEW, id="was gone"
        ),
        pytest.param(record(indexed=True), OLD, False, UrlOutcome.UNMODIFIED, id="ultra_search_16 equal"),
        pytest.param(record(indexed=True), NEW, False, UrlOutcome.MODIFIED, id="ultra_search_18 differs"),
        pytest.param(
            record(indexed=True), OLD, True, UrlOutcome.MODIFIED, id="ultra_search_23 equal but forced"
        ),
        pytest.param(
            record(outcome=UrlOutcome.NOT_INDEXED),
            OLD,
            False,
            UrlOutcome.UNMODIFIED,
            id="noindex page, unchanged",
        ),
        pytest.param(
            record(outcome=UrlOutcome.HTTP_ERROR, indexed=True),
            OLD,
            False,
            UrlOutcome.UNMODIFIED,
            id="back after a 500",
        ),
    ],
)
def test_classify(known, value, force, outcome):
    assert classify(known, value, force) is outcome


BOTH = {"If-None-Match": '"v1"', "If-Modified-Since": LM}


@pytest.mark.parametrize(
    ("known", "force", "headers"),
    [
        pytest.param(None, False, {}, id="unknown URL"),
        pytest.param(
            record(etag='"v1"', last_modified=LM), False, BOTH, id="ultra_search_15 both validators"
        ),
        pytest.param(record(etag='W/"v1"'), False, {"If-None-Match": 'W/"v1"'}, id="weak tag as received"),
        pytest.param(record(etag="v1"), False, {"If-None-Match": "v1"}, id="unquoted tag as received"),
        pytest.param(record(last_modified=LM), False, {"If-Modified-Since": LM}, id="date alone"),
        pytest.param(record(), False, {}, id="no validators"),
        pytest.param(record(etag='"v1"'), True, {}, id="ultra_search_23 forced"),
        pytest.param(record(etag='"v1"', checksum=b""), False, {}, id="content never read"),
        pytest.param(record(etag='"v1"\r\nCookie: x'), False, {}, id="line end in a validator"),
        pytest.param(record(etag='"\u20ac"'), False, {}, id="character no header can hold"),
        pytest.param(
            record(etag="x" * 5000, last_modified=LM), False, {"If-Modified-Since": LM}, id="endless tag"
        ),
        pytest.param(record(etag="  "), False, {}, id="blank tag"),
        pytest.param(
            record(etag='"v1"', outcome=UrlOutcome.HTTP_ERROR, indexed=True),
            False,
            {"If-None-Match": '"v1"'},
            id="content is known although the last visit failed",
        ),
    ],
)
def test_conditional_headers(known, force, headers):
    assert conditional_headers(known, force) == headers


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        pytest.param(304, UrlOutcome.NOT_MODIFIED, id="ultra_search_15 304"),
        pytest.param(404, UrlOutcome.GONE, id="ultra_search_19 404"),
        pytest.param(410, UrlOutcome.GONE, id="ultra_search_19 410"),
        pytest.param(500, UrlOutcome.HTTP_ERROR, id="ultra_search_22 500"),
        (503, UrlOutcome.HTTP_ERROR),
        (401, UrlOutcome.HTTP_ERROR),
        (403, UrlOutcome.HTTP_ERROR),
        (429, UrlOutcome.HTTP_ERROR),
        (999, UrlOutcome.HTTP_ERROR),
        (301, UrlOutcome.REDIRECTED),
        (302, UrlOutcome.REDIRECTED),
        (308, UrlOutcome.REDIRECTED),
        pytest.param(204, UrlOutcome.NOT_INDEXED, id="ultra_search_12 204"),
        (201, UrlOutcome.NOT_INDEXED),
        (206, UrlOutcome.NOT_INDEXED),
        (299, UrlOutcome.NOT_INDEXED),
        (300, UrlOutcome.HTTP_ERROR),
    ],
)
def test_outcome_of_status(status, outcome):
    assert outcome_of_status(status) is outcome


def test_ultra_search_22_no_error_but_404_and_410_takes_a_document_away():
    errors = [status for status in range(400, 600) if status not in (404, 410)]
    assert all(outcome_of_status(status).transient for status in errors)


def test_the_outcome_of_200_is_decided_by_the_content():
    with pytest.raises(ValueError, match="content"):
        outcome_of_status(200)


def test_the_checksum_of_a_document_with_data_names_its_page_too() -> None:
    page, other = checksum(b"page"), checksum(b"other page")
    one, two = (live_checksum(page, checksum(data)) for data in (b"one", b"two"))
    assert one != two
    assert len(one) == len(page)
    for known in (page, one, two):
        record = UrlRecord("http://h/", "s", checksum=known)
        assert (has_same_page(record, page), has_same_page(record, other)) == (True, False)
    assert classify(UrlRecord("http://h/", "s", checksum=one), page) is UrlOutcome.MODIFIED


def test_content_that_no_converter_reads_is_known_again_by_the_same_version_alone() -> None:
    body, other, version = checksum(b"body"), checksum(b"other body"), b"version1"
    failed = UrlRecord(
        "http://h/",
        "s",
        outcome=UrlOutcome.FAILED,
        status_code=StatusCode.CONVERSION_FAILED,
        etag='"a"',
        checksum=unread_checksum(body, version),
    )
    assert len(failed.checksum) == len(body)
    assert (is_unread(failed.checksum), is_unread(body)) == (True, False)
    assert stays_unread(failed, version)
    assert stays_unread(failed, version, body)
    assert not stays_unread(failed, version, other)
    assert not stays_unread(failed, b"version2", body)
    assert not stays_unread(replace(failed, outcome=UrlOutcome.HTTP_ERROR), version, body)
    assert classify(failed, other) is UrlOutcome.NEW
    assert classify(replace(failed, indexed=True), other) is UrlOutcome.MODIFIED, (
        "an older version is in the index"
    )
    assert not stays_unread(replace(failed, status_code=StatusCode.READ_ERROR), version, body)
    assert classify(failed, body) is UrlOutcome.NEW
    assert conditional_headers(failed) == {}, "unless the version is known to be the same"
