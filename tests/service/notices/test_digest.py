"""When what is told: no floods, and nothing is lost in them."""

from __future__ import annotations

from ultracrawl.service.notices.channels import MAX_LINES, text_of, title_of
from ultracrawl.service.notices.notice import Notice
from ultracrawl.service.notices.noticing import GATHER_SECONDS, NoticeDigest
from ultracrawl.sources.sections.notices import NoticeKind

FAILED, STALE = NoticeKind.RUN_FAILED, NoticeKind.SOURCE_STALE


def notice(at: float, source: str = "a", kind: NoticeKind = FAILED, text: str = "no answer") -> Notice:
    return Notice(kind, source, text, at)


def test_what_happens_together_is_one_message() -> None:
    digest = NoticeDigest(3600)
    for number in range(30):
        digest.add_notice(notice(100.0 + number / 10, f"s{number}"))
    assert digest.due_notices(100.0 + GATHER_SECONDS - 1) == []
    due = digest.due_notices(100.0 + GATHER_SECONDS)
    assert len(due) == 30
    assert title_of(due) == "ultracrawl: 30 notices"
    assert text_of(due).splitlines()[-1] == f"and {30 - MAX_LINES} more"
    assert digest.due_notices(1e9) == []


def test_the_same_is_reported_once_in_an_interval_and_then_as_a_number() -> None:
    digest = NoticeDigest(3600)
    digest.add_notice(notice(0))
    assert [one.times for one in digest.due_notices(10)] == [1]
    for minute in range(1, 50):
        digest.add_notice(notice(60.0 * minute, text=f"no answer {minute}"))
        assert digest.due_notices(60.0 * minute + 30) == []
    (again,) = digest.due_notices(3610)
    assert (again.times, again.text) == (49, "no answer 49")
    assert str(again) == "a: no answer 49 (49 times)"
    assert digest.due_notices(7300) == []
    digest.add_notice(notice(7400))
    assert digest.due_notices(7400 + GATHER_SECONDS) != []


def test_other_sources_and_kinds_are_reported_meanwhile() -> None:
    digest = NoticeDigest(3600)
    digest.add_notice(notice(0))
    digest.due_notices(10)
    digest.add_notice(notice(20, "b"))
    digest.add_notice(notice(21, kind=STALE))
    assert [(one.source, one.kind) for one in digest.due_notices(31)] == [("b", FAILED), ("a", STALE)]


def test_a_clock_that_was_wrong_silences_nothing() -> None:
    digest = NoticeDigest(3600)
    digest.add_notice(notice(1e9))
    assert len(digest.due_notices(1e9 + 10)) == 1
    digest.add_notice(notice(5000))
    assert [one.times for one in digest.due_notices(5010)] == [1], "it was set back by years"
    digest.add_notice(notice(5009))
    assert digest.due_notices(5030) == [], "a moment before the last message is no leap"
