"""Hosts that belong together: named clusters, or all hosts of a domain (FAST 5.26)."""

from __future__ import annotations

import pytest

from ultracrawl.rules.frontier.grouping import Grouping


def domain(host: str) -> str:
    return ".".join(host.split(".")[-2:])


@pytest.mark.parametrize(
    ("grouping", "host", "group"),
    [
        (Grouping(), "www.a.example", "www.a.example"),
        (Grouping(domain_of=domain), "www.a.example", "a.example"),
        (Grouping({"c": ["WWW.a.example"]}), "www.a.example", "cluster c"),
        (Grouping({"c": ["www.a.example"]}, domain), "www.a.example", "cluster c"),
        (Grouping({"c": ["www.a.example"]}, domain), "b.a.example", "a.example"),
        (Grouping({"c": ["a.example"], "d": ["a.example"]}), "a.example", "cluster c"),
    ],
)
def test_the_group_of_a_host(grouping: Grouping, host: str, group: str) -> None:
    assert grouping.of(host) == group


def test_without_groups_every_host_stands_alone() -> None:
    assert [bool(one) for one in (Grouping(), Grouping(domain_of=domain), Grouping({"c": ["a"]}))] == [
        False,
        True,
        True,
    ]
