"""Address masks in all notations, and rules read from lines."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from support.until import bounded

from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.lines import LineError, parse_domain_lines, parse_uri_lines, plain_domain_rule
from ultracrawl.rules.boundary.masks import MaskTable, parse_mask
from ultracrawl.rules.boundary.matcher import check_rule
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, DomainRule, Kind, RuleError, UriRule

MASKS = [
    ("192.0.2.0-100", "192.0.2.0 192.0.2.100", "192.0.2.101 ::ffff:192.0.2.1"),
    ("192.0.10-12.7", "192.0.10.7 192.0.11.7 192.0.12.7", "192.0.10.8 192.0.13.7"),
    ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
    ("192.0.2.9 / 24", "192.0.2.255", "192.0.3.0"),
    ("192.0.2.0:255.255.255.0", "192.0.2.9", "192.0.3.9"),
    ("192.0.2.0:0xffffff00", "192.0.2.9", "192.0.3.9"),
    ("192.0.0.5:255.0.0.255", "192.7.8.5", "192.7.8.6"),
    ("192.0.2.1", "192.0.2.1", "192.0.2.2"),
    ("0.0.0.0/0", "8.8.8.8", "::1"),
    ("2001:db8:0:10-1f:0:0:0:0", "2001:db8:0:1a:0:0:0:0", "2001:db8:0:20:: 2001:db8:0:1a::1"),
    ("::ffff:192.0.2.0-100", "::ffff:192.0.2.50", "::ffff:192.0.2.101 192.0.2.50"),
    ("2001:db8:7::/48", "2001:db8:7:1::1", "2001:db8:8::1"),
    ("2001:db8::1- f", "2001:db8::a", "2001:db8::10"),
    ("::", "::", "::1"),
    ("::1", "::1", "::"),
]


@pytest.mark.parametrize(("mask", "inside", "outside"), MASKS, ids=str)
def test_masks(mask: str, inside: str, outside: str) -> None:
    table = MaskTable({mask: "rule"})
    for address in inside.split():
        assert table.find([address]) == table.find([ip_address(address)]) == "rule", address
    for address in outside.split():
        assert table.find([address, ip_address(address), "no address"]) is None, address


@pytest.mark.parametrize(
    "mask",
    [
        "192.0.2", "192.0.2.256", "192.0.2.0/33", "192.0.2.0/x", "192.0.2.0/-1", "192.0.2.9-1", "²", "",
        "192.0.2.0:255.0", "192.0.2.0:0xff", "192.0.2.0:", "a.b.c.d", "www.example.com", "2001:db8::- 1",
        "2001:db8::/129", "1:2:3", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "x::",
        ":::", "::1.2.3",
    ],
)  # fmt: skip
def test_bad_masks_are_refused(mask: str) -> None:
    with pytest.raises(RuleError, match="address mask"):
        parse_mask(mask)


FILE = """\ufeff# hosts
www.example.com
exact: a.example
PREFIX docs-

suffix\t.intranet.example.com
regexp: (shop|store)[0-9]+\\.example\\.com
ipmask 192.0.2.0 /25
ip6mask 2001:db8::/32
domain:example.org
regexp (a
ipmask 300.1.1.1
http://a.example/
prefixed.example
"""


def test_domain_lines() -> None:
    parsed = parse_domain_lines(FILE, Action.EXCLUDE)
    assert [(rule.kind.value, rule.text) for rule in parsed.rules] == [
        ("exact", "www.example.com"),
        ("exact", "a.example"),
        ("prefix", "docs-"),
        ("suffix", ".intranet.example.com"),
        ("regexp", r"(shop|store)[0-9]+\.example\.com"),
        ("ipmask", "192.0.2.0 /25"),
        ("ip6mask", "2001:db8::/32"),
        ("domain", "example.org"),
        ("exact", "prefixed.example"),
    ]
    assert {rule.action for rule in parsed.rules} == {Action.EXCLUDE}
    assert [error.line for error in parsed.errors] == [11, 12, 13]
    assert parsed.errors[0] == LineError(
        11, "regexp (a", "regular expression '(a': missing ) at position 0 ((a)"
    )
    Boundary(BoundaryRules(domains=parsed.rules))


def test_uri_lines() -> None:
    parsed = parse_uri_lines(
        "http://a.example/x\nprefix http://b.example/\nipmask 1.2.3.4\nexact:\nsuffix .html"
    )
    assert [(rule.kind.value, rule.text) for rule in parsed.rules] == [
        ("exact", "http://a.example/x"),
        ("prefix", "http://b.example/"),
        ("suffix", ".html"),
    ]
    assert [error.line for error in parsed.errors] == [3, 4]


def test_ultra_search_64_plain_lines_are_suffixes_or_with_a_star_prefixes() -> None:
    parsed = parse_domain_lines("oracle.com\nwww.*\nexact a.b", default=Kind.SUFFIX)
    assert [str(rule) for rule in parsed.rules] == [
        "include domain suffix oracle.com",
        "include domain prefix www.",
        "include domain exact a.b",
    ]
    assert plain_domain_rule("www.*").kind is Kind.PREFIX


@pytest.mark.parametrize(
    "rule", [DomainRule(Kind.SUFFIX, ""), UriRule(Kind.REGEXP, "(?!a"), UriRule(Kind.IPMASK, "x")]
)
def test_single_rules_are_checked(rule: DomainRule | UriRule) -> None:
    with pytest.raises(RuleError):
        check_rule(rule)


def test_ten_thousand_lines_are_read_and_compiled_in_time() -> None:
    with bounded():
        parsed = parse_domain_lines("\n".join(f"suffix .h{number}.example.com" for number in range(10_000)))
        Boundary(BoundaryRules(domains=parsed.rules))
    assert len(parsed.rules) == 10_000
