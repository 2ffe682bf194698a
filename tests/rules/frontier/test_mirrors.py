"""Which copy of a host is asked: pure policy."""

from __future__ import annotations

import pytest
from support.frontier import delay_of, made_frontier

from ultracrawl.rules.boundary.rewriting.rewriting_policy import AliasPolicy
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.site import Waiting
from ultracrawl.rules.urls.canonical import UrlPolicy

ALIASES = {"two.example": "one.example", "three.example": "one.example", "b": "a"}


def test_fast_10_copies_stand_in_one_after_the_other_in_their_order() -> None:
    mirrors = Mirrors(ALIASES)
    url = "https://one.example:8443/x?u=one.example"
    assert (mirrors.request_url(url), mirrors.active_mirror("one.example:8443")) == (url, "")
    assert mirrors.switch_mirror("one.example:8443") == "two.example:8443"
    assert mirrors.request_url(url) == "https://two.example:8443/x?u=one.example"
    assert mirrors.request_url("https://one.example/x") == "https://one.example/x", (
        "ports are sites of their own"
    )
    assert mirrors.switch_mirror("one.example:8443") == "three.example:8443"
    assert mirrors.switch_mirror("one.example:8443") == ""
    assert mirrors.active_mirror("one.example:8443") == "three.example:8443"
    assert mirrors.switch_mirror("other.example") == ""


@pytest.mark.parametrize(
    ("site", "queue"), [("two.example:80", "one.example:80"), ("one.example", "one.example"), ("x", "x")]
)
def test_a_copy_shares_the_queue_of_its_main_host(site: str, queue: str) -> None:
    assert Mirrors(ALIASES).queue_site(site) == queue


def test_what_the_definition_no_longer_names_is_forgotten() -> None:
    mirrors = Mirrors(ALIASES)
    mirrors.restore_mirror("a", "c")
    assert mirrors.active_mirror("a") == ""
    mirrors.restore_mirror("a", "b")
    assert mirrors.request_url("http://a/a") == "http://b/a"


def test_a_host_that_is_part_of_its_scheme_is_replaced_in_its_place() -> None:
    policy = AliasPolicy.around(UrlPolicy(), {"h": "main", "t": "x"})
    assert policy.canonical("http://h:81/h") == "http://main:81/h"
    assert policy.canonical("http://t/t") == "http://x/t"


def test_a_renewed_site_begins_without_errors() -> None:
    class Entry(Waiting):
        site = "a"

    frontier: Frontier[Entry] = made_frontier(Pace(1.0, 1, backoff=BackOff(limit=2)))
    frontier.add_entry(Entry())
    assert [frontier.note_failure("a"), frontier.note_failure("a")] == [False, True]
    frontier.set_delay("a", 50.0)
    frontier.hold_site("a", 1000.0)
    frontier.reset_site("a")
    assert (delay_of(frontier, "a"), frontier.note_failure("a")) == (1.0, False)
    assert frontier.pop_entry(10.0) is not None
