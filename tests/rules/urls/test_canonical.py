"""The canonical form of links, by table and by property."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.normalise import Normaliser

BASE = "https://docs.example.com/java/api/index.html?x=1"
POLICY = UrlPolicy()

TABLE = [
    ("relative", "../foo/Bar.html#top", "https://docs.example.com/java/foo/Bar.html"),
    ("fragment only", "#top", BASE),
    ("empty", "", BASE),
    ("query only", "?y", "https://docs.example.com/java/api/index.html?y"),
    ("no scheme", "//other.example/a", "https://other.example/a"),
    ("case and default port", "HTTPS://DOCS.Example.COM:443/A", "https://docs.example.com/A"),
    ("other port stays", "http://a.example:8080", "http://a.example:8080/"),
    ("user info goes", "http://user:secret@a.example/x", "http://a.example/x"),
    ("dot behind host goes", "http://a.example.:8080/x", "http://a.example:8080/x"),
    ("empty label", "http://a..example../", None),
    ("no host", "http://./", None),
    ("international host", "http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
    ("unreserved decoded, digits upper", "/%7euser/%2fa%41", "https://docs.example.com/~user/%2FaA"),
    ("stray percent", "/100%/%zz", "https://docs.example.com/100%25/%25zz"),
    ("double percent stays one form", "/%%36%31", "https://docs.example.com/%2561"),
    ("brackets", "/?x[y]=1", "https://docs.example.com/?x%5By%5D=1"),
    ("dot segments, also escaped", "/a/%2e%2E/./b", "https://docs.example.com/b"),
    ("empty query stays", "/a?", "https://docs.example.com/a?"),
    ("empty segments stay", "/a//b", "https://docs.example.com/a//b"),
    ("tabs and newlines inside", " /a\tb\n/c ", "https://docs.example.com/ab/c"),
    ("octal and short IPv4", "http://127.1/", "http://127.0.0.1/"),
    ("hexadecimal IPv4", "http://0x7f000001/", "http://127.0.0.1/"),
    ("decimal IPv4", "http://2130706433/", "http://127.0.0.1/"),
    ("mapped IPv6", "http://[::ffff:10.0.0.1]/", "http://[::ffff:a00:1]/"),
    ("full-width digits", "http://１２７.0.0.1/", "http://127.0.0.1/"),
    ("script", "javascript:void(0)", None),
    ("script in capitals", "JavaScript:void(0)", None),
    ("mail", "mailto:a@b.example", None),
    ("data", "data:text/html," + "x" * 5000, None),
    ("file", "file:///etc/passwd", None),
    ("ftp", "ftp://a.example/x", None),
    ("web socket", "ws://a.example/x", None),
    ("lone surrogate", "/\ud800", "https://docs.example.com/%EF%BF%BD"),
    ("NUL", "/a\0b", "https://docs.example.com/a%00b"),
    ("too long", "/" + "x" * 2083, None),
    ("long fragment", "/a#" + "x" * 5000, "https://docs.example.com/a"),
    ("bad port", "http://a.example:99999/", None),
]


@pytest.mark.parametrize(("href", "url"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_canonical_form(href: str, url: str | None) -> None:
    assert POLICY.canonical(href, BASE) == url
    explained = POLICY.canonicalise(href, BASE)
    assert explained.url == url
    assert explained.decision.accept is (url is not None)


@pytest.mark.parametrize(
    ("href", "base", "rule"),
    [
        ("a.html", None, "malformed URL"),
        ("a.html", "not a base", "malformed URL"),
        ("a.html", "http://\ud800:x/", "malformed URL"),
        ("http://a..b/", None, "malformed URL"),
        ("ftp://a/", None, "URL scheme"),
        ("http://a.example/" + "x" * 3000, None, "URL too long"),
        ("http://a.example/" + "ü" * 600, None, "URL too long"),
    ],
)
def test_refusal_names_its_rule(href: str, base: str | None, rule: str) -> None:
    url, decision = POLICY.canonicalise(href, base)
    assert url is None
    assert decision.rule == rule
    assert POLICY.canonical(href, base) is None


ORDERED = UrlPolicy(Normaliser(["query_order"]))
REMOVING = UrlPolicy(Normaliser(["query_order", "session_ids", "tracking"]))


@pytest.mark.parametrize(
    ("policy", "href", "url"),
    [
        (ORDERED, "http://h/p?b=2&a=1&b=1", "http://h/p?a=1&b=2&b=1"),
        (ORDERED, "http://h/p?b;c=1&a", "http://h/p?a;b;c=1"),
        (UrlPolicy(), "http://h/p?utm_source=x&sid=1", "http://h/p?utm_source=x&sid=1"),
        (REMOVING, "http://h/p?utm_source=x&z=1&PHPSESSID=1&a", "http://h/p?a&z=1"),
        (REMOVING, "http://h/p?sid=1", "http://h/p"),
        (REMOVING, "http://h/p?", "http://h/p?"),
        (REMOVING, "http://h/p;jsessionid=1A?b", "http://h/p?b"),
        (REMOVING, "http://h/a/..;jsessionid=1/b", "http://h/b"),
        (REMOVING, "http://h/a;v=1/b;sid", "http://h/a;v=1/b"),
        (UrlPolicy(keep_fragment=True), "http://h/a#!/x[1]", "http://h/a#!/x%5B1%5D"),
        (UrlPolicy(keep_fragment="routes"), "http://h/a#!/x[1]", "http://h/a#!/x%5B1%5D"),
        (UrlPolicy(keep_fragment="routes"), "http://h/a#/x#y", "http://h/a#/x%23y"),
        (UrlPolicy(keep_fragment="routes"), "http://h/a#part/x", "http://h/a"),
        (UrlPolicy(keep_fragment="routes"), "http://h/a#", "http://h/a"),
        (UrlPolicy(schemes={"ftp", "file"}), "ftp://u@h:21/a", "ftp://h/a"),
        (UrlPolicy(schemes={"ftp", "file"}), "file:/etc/./passwd", "file:///etc/passwd"),
        (UrlPolicy(schemes={"ftp", "file"}), "http://h/", None),
    ],
)
def test_policy_options(policy: UrlPolicy, href: str, url: str | None) -> None:
    assert policy.canonical(href) == url
    assert policy.canonical(href) == url, "the second time, with the origin remembered"


HOSTILE = st.text(st.sampled_from("ahtp:/.%2e25;&=?#@[]\\\0\t\ud800ü日0x7f "), max_size=60)
POLICIES = st.sampled_from(
    [
        POLICY,
        REMOVING,
        UrlPolicy(keep_fragment=True, schemes=frozenset({"http", "ftp", "file"})),
        UrlPolicy(Normaliser(remove={"*"}), max_length=40),
    ]
)


@settings(max_examples=600)
@given(
    POLICIES, st.one_of(st.text(), HOSTILE, HOSTILE.map("http://h/".__add__), HOSTILE.map("http://".__add__))
)
@example(POLICY, "http://h/%%36%31")
@example(REMOVING, "http://h/.;sid=1/..;sid;sid")
def test_never_raises_and_is_idempotent(policy: UrlPolicy, href: str) -> None:
    for base in (None, "http://base.example/a/b", href):
        url = policy.canonical(href, base)
        assert policy.canonicalise(href, base).url == url
        if url is not None:
            assert url.isascii()
            assert len(url) <= policy.max_length
            assert policy.canonical(url) == url
            assert policy.canonical(url, "http://other.example/") == url


def test_remembered_origins_are_bounded() -> None:
    policy = UrlPolicy()
    for number in range(10_000):
        policy.canonical(f"http://h{number}.example/")
    assert len(policy._origins) <= 4096


def test_policies_compare_by_their_options() -> None:
    used = UrlPolicy()
    used.canonical("http://a.example/")
    assert used == UrlPolicy()
    assert used != ORDERED


@pytest.mark.parametrize(("more", "accepted"), [(-1, True), (0, True), (1, False), (2, False)])
@pytest.mark.parametrize("fragment", ["", "#part"])
def test_the_longest_url_is_taken_by_both_ways(more: int, accepted: bool, fragment: str) -> None:
    policy = UrlPolicy(max_length=60)
    url = "http://a.example/".ljust(60 + more, "x")
    assert policy.canonical(url + fragment) == (url if accepted else None)
    assert policy.canonicalise(url + fragment).url == (url if accepted else None)
