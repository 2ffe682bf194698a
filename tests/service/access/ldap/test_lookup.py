"""For how long groups of a directory count, and that an error never keeps them."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.access.ldap.lookup import RETRY, GroupLookup

EXPIRY = 900.0


class Answers:
    """A directory whose answers a test writes; an exception is raised."""

    def __init__(self) -> None:
        self.groups: dict[str, tuple[str, ...]] = {"ida": ("staff",)}
        self.error: Exception | None = None
        self.asked: list[str] = []
        self.now = 0.0
        self.takes = 0.0
        self.lookup = GroupLookup(self.ask, EXPIRY, lambda: self.now)

    def ask(self, name: str) -> tuple[str, ...]:
        self.asked.append(name)
        self.now += self.takes
        if self.error is not None:
            raise self.error
        return self.groups.get(name, ())


@pytest.fixture
def answers() -> Answers:
    return Answers()


def test_an_answer_counts_until_its_expiry(answers: Answers) -> None:
    answers.takes = 3
    assert answers.lookup.groups_of("ida") == ("staff",)
    answers.groups = {}
    answers.now = EXPIRY - 1
    assert (answers.lookup.groups_of("ida"), answers.asked) == (("staff",), ["ida"])
    answers.now = EXPIRY  # counted from the question, not from the answer
    assert (answers.lookup.groups_of("ida"), answers.asked) == ((), ["ida", "ida"])


def test_users_have_their_own_groups(answers: Answers) -> None:
    assert [answers.lookup.groups_of(one) for one in ("ida", "ben", "ida")] == [("staff",), (), ("staff",)]
    assert answers.asked == ["ida", "ben"], "that somebody is in no group is known, too"


@pytest.mark.parametrize("error", [WorkError("silent"), UserError("no such variable")])
def test_an_error_never_keeps_groups(answers: Answers, error: Exception) -> None:
    answers.lookup.groups_of("ida")
    answers.error = error
    answers.now = EXPIRY - 1
    assert answers.lookup.groups_of("ida") == ("staff",), "what is known counts until it expires"
    answers.now = EXPIRY
    assert answers.lookup.groups_of("ida") == ()
    answers.error = None
    assert answers.lookup.groups_of("ida") == (), "it is not asked for a while"
    answers.now += RETRY
    assert answers.lookup.groups_of("ida") == ("staff",)


def test_a_silent_directory_is_asked_once_in_a_while(answers: Answers) -> None:
    answers.error, answers.takes = WorkError("silent"), 5.0
    for _ in range(100):
        assert answers.lookup.groups_of("ida") == answers.lookup.groups_of("ben") == ()
    assert len(answers.asked) == 1
    answers.now += RETRY
    assert answers.lookup.groups_of("ben") == answers.lookup.groups_of("ida") == ()
    assert len(answers.asked) == 2


def test_while_it_fails_only_one_request_waits() -> None:
    begun, goes_on, asked = threading.Event(), threading.Event(), []
    now = [0.0]

    def ask(name: str) -> tuple[str, ...]:
        asked.append(name)
        if len(asked) > 1:
            begun.set()
            assert goes_on.wait(20)
        raise WorkError("silent")

    lookup = GroupLookup(ask, EXPIRY, lambda: now[0])
    lookup.groups_of("ida")
    now[0] += RETRY
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lookup.groups_of, "ida")
        assert begun.wait(20)
        assert [lookup.groups_of(f"user {number}") for number in range(50)] == [()] * 50
        goes_on.set()
        assert waiting.result(20) == ()
    assert asked == ["ida", "ida"]


def test_its_log_has_one_line_for_a_failure_and_one_for_its_end(
    answers: Answers, caplog: pytest.LogCaptureFixture
) -> None:
    answers.error = WorkError("silent")
    for _ in range(3):
        answers.lookup.groups_of("ida")
        answers.now += RETRY
    assert len(caplog.records) == 1
    answers.error = None
    answers.lookup.groups_of("ida")
    assert len(caplog.records) == 2
