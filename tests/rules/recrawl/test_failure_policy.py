"""What errors mean: rules, counting, and the guard against deleting much."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.recrawl.failure_policy import (
    DEFAULT_HTTP,
    INTERNAL,
    NET,
    TIMEOUT,
    FailurePolicy,
    FailureRule,
    FailureRuleError,
    rules_of,
)
from ultracrawl.rules.recrawl.guard import LossGuard

FAST_HTTP = {
    "4xx": "DELETE:0",
    "5xx": "DELETE:10",
    INTERNAL: "KEEP:0",
    NET: "DELETE:3, RETRY:1",
    TIMEOUT: "DELETE:3",
}
"""The defaults of FAST collections for HTTP (FAST 5.12, 135 to 139)."""

FAST_FTP = {
    "4xx": "DELETE:3",
    "550": "DELETE:0",
    "5xx": "DELETE:3",
    INTERNAL: "KEEP:0",
    NET: "DELETE:3, RETRY:1",
    TIMEOUT: "DELETE:3",
}
"""The defaults of FAST collections for FTP (FAST 5.13, 141 to 146)."""

ACTIONS = {
    "keep": ("KEEP", None, None),
    "keep with a number": ("KEEP:0", None, None),
    "delete at the first": ("DELETE", 1, None),
    "fast_135-delete 0 is the first": ("DELETE:0", 1, None),
    "fast_136-delete at the tenth": ("DELETE:10", 10, None),
    "fast_138-delete and retry": ("DELETE:3, RETRY:1", 3, 1),
    "other order, case and blanks": ("retry:2  delete:4", 4, 2),
    "retry alone is one, and keeps": ("RETRY", None, 1),
    "no retry": ("KEEP, RETRY:0", None, 0),
    "the comma of the far east": ("DELETE:3、RETRY:1", 3, 1),
}


@pytest.mark.parametrize(("action", "delete_after", "retries"), ACTIONS.values(), ids=ACTIONS)
def test_actions(action: str, delete_after: int | None, retries: int | None) -> None:
    rule = FailureRule.parse("503", action)
    assert (rule.pattern, rule.delete_after, rule.retries) == ("503", delete_after, retries)
    assert FailureRule.parse("503", str(rule).partition(" ")[2]) == rule


@pytest.mark.parametrize(
    "action", ["", "DROP", "KEEP DELETE", "DELETE:-1", "DELETE:x", "RETRY RETRY", "KEEP:"]
)
def test_no_actions(action: str) -> None:
    with pytest.raises(FailureRuleError, match="write KEEP or DELETE"):
        FailureRule.parse("404", action)


@pytest.mark.parametrize("pattern", ["", "40", "4040", "abc", "4x4x", "dns"])
def test_no_patterns(pattern: str) -> None:
    with pytest.raises(FailureRuleError, match="is no error"):
        FailureRule.parse(pattern, "KEEP")


POLICY = FailurePolicy(rules_of({"404": "DELETE:2", "40x": "DELETE:3", "4XX": "DELETE:4", "net": "DELETE:5"}))
FOUND = {
    "fast_140-most digits win": ("404", "404"),
    "two digits": ("403", "40x"),
    "one digit": ("429", "4xx"),
    "no rule is KEEP": ("503", "503"),
    "by name": ("net", "net"),
    "a name fits no digits": ("ttl", "ttl"),
}


@pytest.mark.parametrize(("error", "pattern"), FOUND.values(), ids=FOUND)
def test_which_rule_counts(error: str, pattern: str) -> None:
    rule = POLICY.rule_for(error)
    assert rule.pattern == pattern
    assert (rule.delete_after is None) is (error in ("503", "ttl"))


JUDGED = {
    "fast_138-first error of the first cycle": (1, 0, False, True),
    "fast_138-second error of the first cycle": (2, 1, False, False),
    "fast_138-first error of the second cycle": (3, 0, True, False),
}


@pytest.mark.parametrize(("errors", "attempts", "delete", "again"), JUDGED.values(), ids=JUDGED)
def test_a_url_that_always_fails_goes_in_the_second_cycle(
    errors: int, attempts: int, delete: bool, again: bool
) -> None:
    verdict = FailurePolicy(rules_of(FAST_HTTP)).judge("net", errors, attempts, 0)
    assert (verdict.delete, verdict.retry) == (delete, again)


def test_without_a_word_about_it_the_limit_says_how_often() -> None:
    policy = FailurePolicy({})
    assert [policy.judge("503", 1, attempts, 2).retry for attempts in range(4)] == [True, True, False, False]


VENDOR = {
    "fast_135": (FAST_HTTP, "404", 1),
    "fast_136": (FAST_HTTP, "503", 10),
    "fast_137": (FAST_HTTP, "int", None),
    "fast_138": (FAST_HTTP, "net", 3),
    "fast_139": (FAST_HTTP, "ttl", 3),
    "fast_141": (FAST_FTP, "421", 3),
    "fast_142": (FAST_FTP, "550", 1),
    "fast_143": (FAST_FTP, "551", 3),
    "fast_144": (FAST_FTP, "int", None),
    "fast_145": (FAST_FTP, "net", 3),
    "fast_146": (FAST_FTP, "ttl", 3),
    "ours-404": (DEFAULT_HTTP, "404", 1),
    "ours-410": (DEFAULT_HTTP, "410", 1),
    "ours-ultra_search_22": (DEFAULT_HTTP, "500", None),
    "ours-network": (DEFAULT_HTTP, "net", None),
}


@pytest.mark.parametrize(("actions", "error", "delete_after"), VENDOR.values(), ids=VENDOR)
def test_defaults(actions: dict[str, str], error: str, delete_after: int | None) -> None:
    assert FailurePolicy(rules_of(actions)).rule_for(error).delete_after == delete_after


@pytest.mark.parametrize(
    ("error", "delete_after", "retries"),
    [
        ("421", None, 3),
        ("425", 5, None),
        ("550", 1, None),
        ("553", 2, None),
        ("net", 3, 1),
        ("226", None, None),
    ],
)
def test_fast_147_further_codes_and_patterns_of_ftp(
    error: str, delete_after: int | None, retries: int | None
) -> None:
    own = {"421": "KEEP, RETRY:3", "4xx": "DELETE:5", "550": "DELETE:1", "5XX": "DELETE:2"}
    rule = FailurePolicy(
        rules_of({**FAST_FTP, **{name.lower(): what for name, what in own.items()}})
    ).rule_for(error)
    assert (rule.delete_after, rule.retries) == (delete_after, retries)


@given(st.text(max_size=12), st.text(max_size=30))
def test_no_text_raises_anything_else(pattern: str, action: str) -> None:
    with contextlib.suppress(FailureRuleError):
        FailureRule.parse(pattern, action)


GUARDED = {
    "a tenth": (100, 1000, True),
    "one more": (101, 1000, False),
    "small sources": (10, 10, True),
    "small, but more than that": (11, 20, False),
    "nothing": (0, 0, True),
}


@pytest.mark.parametrize(("leaving", "indexed", "allowed"), GUARDED.values(), ids=GUARDED)
def test_the_guard(leaving: int, indexed: int, allowed: bool) -> None:
    assert LossGuard().allows(leaving, indexed) is allowed


def test_the_guard_can_be_opened_and_closed() -> None:
    assert LossGuard(percent=100).allows(1000, 1000)
    assert not LossGuard(percent=0, always=0).allows(1, 1000)
