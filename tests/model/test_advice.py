"""What to do about causes: each cause has a sentence or needs none, and what it names exists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracrawl.model import NO_CAUSE, Cause, CauseCode, UrlOutcome, UrlRecord
from ultracrawl.model.advice import SCRIPTS, advice_at_wall, advice_for, advice_for_record, advice_on_scripts
from ultracrawl.sources import DataSource

WITHOUT = {
    "who reads it is the author of the rule": {
        CauseCode.RULE,
        CauseCode.FILTER,
        CauseCode.STATED,
        CauseCode.NO_DOCUMENT,
        CauseCode.NO_DESCRIPTION,
        CauseCode.DROPPED,
        CauseCode.GIVEN,
        CauseCode.REMOVED_BY_HAND,
        CauseCode.HEADER,
        CauseCode.LANGUAGE,
        CauseCode.FOLLOWED_TYPE,
    },
    "nothing is wrong": {
        CauseCode.SAME_CONTENT,
        CauseCode.SAME_DISPLAY_URL,
        CauseCode.REPLACES,
        CauseCode.CANONICAL,
        CauseCode.CANONICAL_KEPT,
        CauseCode.RESERVED,
        CauseCode.UNAVAILABLE_AFTER,
        CauseCode.EXPIRES,
        CauseCode.RENDERED,
        CauseCode.DIRECTORY,
        CauseCode.FEED,
        CauseCode.SITEMAP,
        CauseCode.SITEMAP_DATE,
        CauseCode.UNLINKED,
        CauseCode.DAY_OVER,
        CauseCode.FEED_OVER,
        CauseCode.UNLISTED,
        CauseCode.STATE_LOST,
        CauseCode.LOST,
        CauseCode.PART,
    },
    "the sentence, or a problem of the run, says it": {
        CauseCode.ALIKE,
        CauseCode.TOO_LONG,
        CauseCode.NOTHING_LISTED,
        CauseCode.NO_START,
        CauseCode.UNRENDERED,
        CauseCode.NO_FEED,
        CauseCode.NO_SITEMAP,
        CauseCode.NO_SITEMAP_ANSWER,
        CauseCode.NO_CONVERTER,
        CauseCode.UNREADABLE,
        CauseCode.NOT_STORED,
        CauseCode.EXCEPTION,
    },
}
STATUSES = (401, 403, 404, 407, 410, 429, 500, 502, 503, 520)
ROW = re.compile(r"^\| `([a-z0-9_.]+)` \|", re.MULTILINE)
PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_each_cause_has_advice_or_a_reason_why_not() -> None:
    without = {code for codes in WITHOUT.values() for code in codes}
    lacking = {
        code
        for code in CauseCode
        if code and code is not CauseCode.STATUS and not advice_for(Cause(code, "x"))
    }
    assert lacking == without
    assert not advice_for(NO_CAUSE)
    assert all(advice_for(Cause(CauseCode.STATUS, str(status))) for status in STATUSES)
    assert not advice_for(Cause(CauseCode.STATUS, "418"))


def test_options_that_advice_names_exist() -> None:
    options = set(ROW.findall(PAGE.read_text()))
    texts = [advice_for(Cause(code, "x")) for code in CauseCode if code is not CauseCode.STATUS]
    texts += [advice_for(Cause(CauseCode.STATUS, str(status))) for status in STATUSES]
    named = {path for text in texts for quoted in re.findall(r"`([^`]+)`", text) for path in _paths(quoted)}
    assert len(named) > 10
    assert named - options == set()


def test_what_has_to_be_installed_for_scripts_is_named_only_where_it_is_missing() -> None:
    for advice in (
        partial(advice_at_wall, has_logins=False),
        partial(advice_at_wall, has_logins=True),
        advice_on_scripts,
    ):
        assert advice(lacks="pip install it").startswith(advice(lacks=""))
        assert advice(lacks="pip install it").endswith("pip install it")
    assert advice_for(Cause(CauseCode.NO_TEXT, SCRIPTS)) == advice_on_scripts("")


def test_a_robots_txt_that_cannot_be_read_has_the_advice_of_its_network_error() -> None:
    unknown = Cause(CauseCode.ROBOTS_UNKNOWN, "robots.txt cannot be read")
    refused = Cause(CauseCode.ROBOTS_UNKNOWN, "robots.txt cannot be read", CauseCode.CONNECTION_REFUSED)
    assert advice_for(refused) == advice_for(Cause(CauseCode.CONNECTION_REFUSED)) != advice_for(unknown)


def test_what_the_next_run_does_is_only_said_of_a_run() -> None:
    for cause in (Cause(CauseCode.BODY_BROKEN), Cause(CauseCode.TIMEOUT), Cause(CauseCode.STATUS, "503")):
        assert advice_for(cause).endswith(advice_for(cause, in_run=False))
        assert advice_for(cause) != advice_for(cause, in_run=False)
    assert advice_for(Cause(CauseCode.CERTIFICATE)) == advice_for(Cause(CauseCode.CERTIFICATE), in_run=False)


def test_the_type_that_is_not_accepted_is_in_the_value_to_write() -> None:
    (written,) = re.findall(r"`([^`]+)`", advice_for(Cause(CauseCode.TYPE, "application/zip")))
    *default, added = yaml.safe_load(written)["types"]
    assert added == "application/zip"
    assert DataSource(name="s", type="web", types=default).types == DataSource(name="s", type="web").types


@pytest.mark.parametrize(
    ("outcome", "cause", "indexed", "advised"),
    [
        (UrlOutcome.GONE, Cause(CauseCode.STATUS, "404"), False, True),
        (UrlOutcome.HTTP_ERROR, Cause(CauseCode.STATUS, "503"), True, False),
        (UrlOutcome.REDIRECTED, Cause(CauseCode.REDIRECT, "http://h/b"), False, False),
    ],
    ids=lambda value: value.value if isinstance(value, UrlOutcome) else "",
)
def test_a_url_needs_advice_if_it_should_have_a_document(
    outcome: UrlOutcome, cause: Cause, indexed: bool, advised: bool
) -> None:
    record = UrlRecord("http://h/a", "s", outcome=outcome, cause=cause, indexed=indexed)
    assert bool(advice_for_record(record)) is advised


def _paths(quoted: str) -> Iterator[str]:
    """Yield the options that a text in code marks names; none if it is an address or a command."""
    if re.fullmatch(r"[a-z_.]+", quoted):
        yield quoted
    elif re.match(r"[a-z_]+: ", quoted):
        yield from _nested(yaml.safe_load(quoted))


def _nested(value: dict[str, Any], above: str = "") -> Iterator[str]:
    for name, one in value.items():
        path = above if name == "s" else f"{above}.{name}".strip(".")  # s: a name of one's own
        if isinstance(one, dict):
            yield from _nested(one, path)
        else:
            yield path
