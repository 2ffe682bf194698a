"""Causes and removals: their sentences, and the values that are stored."""

from __future__ import annotations

import re

import pytest
from support.sentences import sentence

from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.model.cause import RECHECKED_REMOVALS, truncation_cause

CODES = [
    "",
    "stated",
    "rule",
    "redirect",
    "redirect-outside",
    "redirect-refused",
    "same-content",
    "same-display-url",
    "replaces",
    "canonical",
    "canonical-kept",
    "robots",
    "robots-unknown",
    "noindex",
    "reserved",
    "unavailable-after",
    "expires",
    "language",
    "followed-type",
    "filter",
    "no-content",
    "no-description",
    "no-document",
    "dropped",
    "given",
    "removed-by-hand",
    "type",
    "type-not-converted",
    "binary-as-text",
    "header",
    "alike",
    "wall",
    "empty",
    "too-long",
    "part",
    "no-text",
    "nothing-listed",
    "no-start",
    "unrendered",
    "rendered",
    "directory",
    "feed",
    "no-feed",
    "sitemap",
    "no-sitemap",
    "no-sitemap-answer",
    "sitemap-date",
    "status",
    "ftp-reply",
    "timeout",
    "connection-refused",
    "connection-broken",
    "tls-failed",
    "certificate",
    "answer-malformed",
    "body-broken",
    "host-unknown",
    "login-failed",
    "proxy-login",
    "proxy-unreachable",
    "too-large",
    "scheme",
    "address",
    "io-error",
    "no-converter",
    "not-converted",
    "unreadable",
    "not-stored",
    "exception",
    "lost",
    "unlinked",
    "day-over",
    "feed-over",
    "unlisted",
    "state-lost",
]
REASONS = [
    "GONE",
    "REJECTED",
    "ROBOTS",
    "NOT_INDEXED",
    "LIST",
    "REDIRECTED",
    "DUPLICATE",
    "REMOVED",
    "FILTERS",
    "SCOPE",
    "form",
    "orphan",
    "EXPIRED",
    "feed",
    "UNLISTED",
    "UNKNOWN",
]

SENTENCES = {
    "": NO_CAUSE,
    "to http://h/a": Cause(CauseCode.REDIRECT, "http://h/a"),
    "no include domain: a --[301]--> b": Cause(
        CauseCode.REDIRECT_OUTSIDE, "no include domain", "a --[301]--> b"
    ),
    "http://h/a is the display URL of http://h/b": Cause(
        CauseCode.SAME_DISPLAY_URL, "http://h/b", "http://h/a"
    ),
    "excluded by robots.txt: Disallow: / (line 3)": Cause(CauseCode.ROBOTS, "Disallow: /", "line 3"),
    "excluded by type: image/png is not accepted": Cause(CauseCode.TYPE, "image/png"),
    "not found": Cause(CauseCode.STATUS, "404"),
    "HTTP status 909": Cause(CauseCode.STATUS, "909"),
    sentence("causes.server_accepts_no_connection"): Cause(CauseCode.CONNECTION_REFUSED),
    "I/O error: disk: error 2 by rule net": Cause(CauseCode.IO_ERROR, detail="disk").with_detail(
        "error 2 by rule net"
    ),
    "not found: error 2 by rule 404": Cause(CauseCode.STATUS, "404").with_detail("error 2 by rule 404"),
    sentence("causes.only_first_9_bytes_were"): truncation_cause(sentence("causes.only_first_9_bytes_were")),
    "what {braces} do": Cause(CauseCode.STATED, "what {braces} do"),
}


def test_values_are_stored_so_that_none_is_changed_or_taken_away() -> None:
    """A new one is added here; a data base of any version has the others."""
    assert [code.value for code in CauseCode] == CODES
    assert [reason.value for reason in RemovalReason] == REASONS


def test_a_cause_is_reported_in_one_sentence(subtests: pytest.Subtests) -> None:
    for told, cause in SENTENCES.items():
        with subtests.test(told):
            assert str(cause) == told
            assert bool(cause) is bool(told)


def test_all_that_a_code_has_data_for_is_reported() -> None:
    for code in CauseCode:
        used = set(re.findall(r"{(\w+)}", code.heading + code.rest))
        told = str(Cause(code, "77", "detail"))
        assert "detail" in Cause(code, "77", "detail").logged or not code
        assert ("77" in told, "detail" in told) == ("subject" in used, "detail" in used) or code in (
            CauseCode.STATUS,
        ), code


def test_logs_and_programs_get_the_number_of_the_message_and_all_details() -> None:
    assert Cause(CauseCode.ROBOTS, "Disallow: /", "line 3").logged == (
        "30031 excluded by robots.txt: Disallow: / (line 3)"
    )
    assert (
        Cause(CauseCode.REDIRECT_OUTSIDE, "no include domain", "to b").logged
        == "30040 no include domain: to b"
    )
    refused = Cause(CauseCode.CONNECTION_REFUSED, detail="connect to 127.0.0.1 port 9 failed")
    assert refused.logged.startswith("30025 ")
    assert refused.detail in refused.logged
    assert refused.detail not in str(refused)
    assert NO_CAUSE.logged == ""


def test_causes_of_one_heading_are_one_group() -> None:
    assert Cause(CauseCode.TYPE, "image/png").heading == Cause(CauseCode.TYPE_NOT_CONVERTED, "x").heading
    assert Cause(CauseCode.FILTER, "filter rules", "h: paths").heading == "filter rules"


def test_a_removal_names_its_reason_and_its_cause() -> None:
    removal = Removal(RemovalReason.GONE, Cause(CauseCode.STATUS, "404"))
    assert str(removal) == "GONE: not found"
    assert str(Removal(RemovalReason.ORPHAN)) == "orphan"
    record = UrlRecord("http://h/", "s", indexed=True, removal=removal)
    assert record.leaves_for(RemovalReason.SCOPE, RemovalReason.GONE)
    assert not record.leaves_for(RemovalReason.SCOPE)
    assert not record.retained


def test_every_outcome_after_which_a_document_leaves_is_a_reason_for_it() -> None:
    stays = {
        UrlOutcome.NEW,
        UrlOutcome.MODIFIED,
        UrlOutcome.REINDEXED,
        UrlOutcome.UNMODIFIED,
        UrlOutcome.NOT_MODIFIED,
        UrlOutcome.PENDING,
    }
    leaves = {one.value for one in UrlOutcome if not one.transient and one not in stays}
    assert leaves <= {reason.value for reason in RemovalReason}
    assert {reason.value for reason in RECHECKED_REMOVALS} == leaves - {"REMOVED"} | {"UNKNOWN"}


def test_only_a_redirect_that_was_recorded_as_one_leads_on() -> None:
    cause = Cause(CauseCode.REDIRECT, "http://h/b")
    assert (
        UrlRecord("http://h/a", "s", outcome=UrlOutcome.REDIRECTED, cause=cause).redirects_to == "http://h/b"
    )
    assert UrlRecord("http://h/a", "s", outcome=UrlOutcome.REJECTED, cause=cause).redirects_to == ""
