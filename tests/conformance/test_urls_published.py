"""Published tables of URL parsing; each answer of ours that differs is listed with its reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ultracrawl.rules.urls.canonical import UrlPolicy, display_url
from ultracrawl.rules.urls.normalise import Normaliser, Step

TABLES = Path(__file__).parent / "tables"
WEB = frozenset({"http", "https", "ftp", "file"})

USER_INFO = (
    "user info never becomes part of a canonical URL: credentials belong to the source, not into reports"
)
EMPTY_LABEL = "a host name with an empty label cannot be resolved"
NOT_RFC_3986 = "characters that RFC 3986 has no place for are percent-encoded"
STRAY_PERCENT = "a percent sign that begins no escape becomes %25, so that the form is stable"
PERCENT_CASE = "RFC 3986 6.2.2: upper-case digits, unreserved characters decoded"
NO_GUESSING = "a text without a scheme is a relative link; only a seed list may add a scheme"
NO_HOST = "a web URL without a host leads nowhere"
FILE_FORM = "file URLs are written with an empty host (RFC 8089), empty segments stay"
EMPTY_QUERY = "RFC 3986 6.2.3: an empty query is not the same as none"
IPV6_FORM = "the URL standard writes IPv6 addresses in hexadecimal only"
HALF_IDN = "all labels of a host are in DNS form"
EMPTY_SEGMENT = "RFC 3986 6.2.2.3 removes dot segments only; //a and /a are different paths"
SEMICOLON = "FAST 5.1 B8: a semicolon separates parameters as well"
EMPTY_PAIR = "sorting moves parameters, it neither edits nor drops them"

WPT: dict[str, dict[Any, str | None]] = {
    USER_INFO: {
        ("http://user:pass@foo:21/bar;par?b#c", "http://example.org/foo/bar"): "http://foo:21/bar;par?b#c",
        ("https://test:@test", None): "https://test/",
        ("http://a:b@c:29/d", "http://example.org/foo/bar"): "http://c:29/d",
        ("http://\xe9@\xe9", None): "http://xn--9ca/",
        ("http://\xe9@example.com", None): "http://example.com/",
        ("http://&a:foo(b]c@d:2/", "http://example.org/foo/bar"): "http://d:2/",
        ("http://::@c@d:2", "http://example.org/foo/bar"): "http://d:2/",
        ("http://foo.com:b@d/", "http://example.org/foo/bar"): "http://d/",
        ("http://a:b@c\\", None): "http://c/",
        ("http://%25DOMAIN:foobar@foodomain.com/", None): "http://foodomain.com/",
        ("http:a:b@www.example.com", None): "http://www.example.com/",
        ("http:/a:b@www.example.com", None): "http://www.example.com/",
        ("http://a:b@www.example.com", None): "http://www.example.com/",
        ("http::b@www.example.com", None): "http://www.example.com/",
        ("http:/:b@www.example.com", None): "http://www.example.com/",
        ("http://:b@www.example.com", None): "http://www.example.com/",
        ("http:a:@www.example.com", None): "http://www.example.com/",
        ("http:/a:@www.example.com", None): "http://www.example.com/",
        ("http://a:@www.example.com", None): "http://www.example.com/",
        ("http://www.@pple.com", None): "http://pple.com/",
        ("http://foo:\U0001f4a9@example.com/bar", "http://other.com/"): "http://example.com/bar",
        ("http://\U0001f600x@host/", None): "http://host/",
        ("http://a:\U0001f600x@host/", None): "http://host/",
        ("http://\U0001f600@host/", None): "http://host/",
        ("https://@test@test@example:800/", "http://doesnotmatter/"): "https://example:800/",
        ("https://@@@example", "http://doesnotmatter/"): "https://example/",
        ("http://`{}:`{}@h/`{}?`{}", "http://doesnotmatter/"): "http://h/%60%7B%7D?%60%7B%7D",
        ("/some/path", "http://user@example.org/smth"): "http://example.org/some/path",
        ("", "http://user:pass@example.org:21/smth"): "http://example.org:21/smth",
        ("/some/path", "http://user:pass@example.org:21/smth"): "http://example.org:21/some/path",
        ("https://user:pass[\x7f@foo/bar", "http://example.org"): "https://foo/bar",
    },
    NOT_RFC_3986: {
        ("#\\", "http://example.org/foo/bar"): "http://example.org/foo/bar#%5C",
        ("http://foo/path;a??e#f#g", "http://example.org/foo/bar"): "http://foo/path;a??e#f%23g",
        ("[61:24:74]:98", "http://example.org/foo/bar"): "http://example.org/foo/%5B61:24:74%5D:98",
        ("http:[61:27]/:foo", "http://example.org/foo/bar"): "http://example.org/foo/%5B61:27%5D/:foo",
    },
    PERCENT_CASE: {
        ("/a%2fc", "http://example.org/foo/bar"): "http://example.org/a%2Fc",
        ("/a/%2f/c", "http://example.org/foo/bar"): "http://example.org/a/%2F/c",
        ("http://example.com/foo/%2e./%2e%2e/.%2e/%2e.bar", None): "http://example.com/..bar",
        ("http://example.com/foo%41%7a", None): "http://example.com/fooAz",
        ("http://example.com/foo%00%51", None): "http://example.com/foo%00Q",
        ("http://example.com/%3A%3a%3C%3c", None): "http://example.com/%3A%3A%3C%3C",
        ("http://www/foo%2Ehtml", None): "http://www/foo.html",
    },
    STRAY_PERCENT: {
        ("http://example.com/foo/%2e%2", None): "http://example.com/foo/.%252",
        ("http://example.com/foo%", None): "http://example.com/foo%25",
        ("http://example.com/foo%2", None): "http://example.com/foo%252",
        ("http://example.com/foo%2zbar", None): "http://example.com/foo%252zbar",
        ("http://example.com/foo%2\xc2\xa9zbar", None): "http://example.com/foo%252%C3%82%C2%A9zbar",
        ("http://example.org/test?%GH", None): "http://example.org/test?%25GH",
        ("http://example.org/test?a#%GH", None): "http://example.org/test?a#%25GH",
    },
    EMPTY_LABEL: {
        ("http://./", None): None,
        ("http://../", None): None,
        ("http://foo.09..", None): None,
    },
}

TO_ASCII: dict[str, dict[Any, str | None]] = {
    EMPTY_LABEL: {"x..xn--zca": None, "x..\xdf": None},
}

CRAWLER_COMMONS: dict[str, dict[Any, str | None]] = {
    NO_GUESSING: {
        "www.example.com/": None,
        "www.example.com/catalog?item=1": None,
        "foo.com/index.html": None,
    },
    EMPTY_SEGMENT: {
        "http://foo.com//aa/bb/foo.html": "http://foo.com//aa/bb/foo.html",
        "http://foo.com/aa//bb/foo.html": "http://foo.com/aa//bb/foo.html",
        "http://foo.com/aa/bb//foo.html": "http://foo.com/aa/bb//foo.html",
        "http://foo.com//aa//bb//foo.html": "http://foo.com//aa//bb//foo.html",
        "http://foo.com////aa////bb//foo.html": "http://foo.com////aa////bb//foo.html",
        "http://foo.com////aa////bb////foo.html": "http://foo.com////aa////bb////foo.html",
        "https://www.example.com////disallowed/bar.html": "https://www.example.com////disallowed/bar.html",
    },
    NO_HOST: {
        "ftp:/": None,
        "http:////": None,
        "http:///////": None,
    },
    EMPTY_QUERY: {
        "http://example.com?": "http://example.com/?",
        "http://example.com/?": "http://example.com/?",
    },
    FILE_FORM: {
        "file:/path/index.html": "file:///path/index.html",
        "file:/var/www/html/////./bar/index.html": "file:///var/www/html/////bar/index.html",
        "file:/var/www/html/foo/../bar/index.html": "file:///var/www/html/bar/index.html",
    },
    SEMICOLON: {
        "https://foo.com/search?q=tl;dr": "https://foo.com/search?dr;q=tl",
    },
    EMPTY_PAIR: {
        "http://foo.com/index?a=1&b=": "http://foo.com/index?a=1&b=",
        "http://foo.com/index?b=&a=1": "http://foo.com/index?a=1&b=",
        "http://foo.com/index?b=1&a=1&": "http://foo.com/index?&a=1&b=1",
        "http://foo.com/index?&b=1&a=1": "http://foo.com/index?&a=1&b=1",
        "http://foo.com/index?&=1&a=1": "http://foo.com/index?&=1&a=1",
        "http://foo.com/index?=1&b=1&a=1": "http://foo.com/index?=1&a=1&b=1",
    },
    IPV6_FORM: {
        "http://[::ffff:127.0.0.1]/": "http://[::ffff:7f00:1]/",
    },
    HALF_IDN: {
        "http://sch\xf6ne.xn--bcher-kva.de/": "http://xn--schne-lua.xn--bcher-kva.de/",
    },
}


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (TABLES / f"{name}.jsonl").read_text("utf-8").splitlines()]


def merged(table: dict[str, dict[Any, str | None]]) -> dict[Any, str | None]:
    return {key: ours for differences in table.values() for key, ours in differences.items()}


def is_ours(case: dict[str, Any]) -> bool:
    return case["failure"] or str(case["out"]).startswith(("http:", "https:"))


def compare(
    answers: dict[Any, tuple[str | None, str | None]], table: dict[str, dict[Any, str | None]]
) -> None:
    """Every answer is the published one or the listed difference; a listed difference must still be one."""
    listed = merged(table)
    wrong = {k: answer for k, answer in answers.items() if answer[0] != listed.get(k, answer[1])}
    stale = [key for key in listed if key not in answers or answers[key][0] == answers[key][1]]
    assert not wrong
    assert not stale


def test_web_platform_urls() -> None:
    policy = UrlPolicy(keep_fragment=True, schemes=WEB, max_length=10_000)
    found = {
        (case["in"], case["base"]): (policy.canonical(case["in"], case["base"]), case["out"])
        for case in cases("urls_wpt")
        if is_ours(case) and not case["failure"]
    }
    assert len(found) > 200
    compare(found, WPT)


def test_web_platform_failures() -> None:
    policy = UrlPolicy(schemes=WEB)
    failures = [case for case in cases("urls_wpt") if case["failure"]]
    assert len(failures) > 200
    taken = [case["in"] for case in failures if policy.canonical(case["in"], case["base"]) is not None]
    assert not taken


def test_web_platform_hosts() -> None:
    policy = UrlPolicy()
    found = {
        case["in"]: (
            policy.canonical(f"http://{case['in']}/x"),
            None if case["out"] is None else f"http://{case['out']}/x",
        )
        for case in cases("urls_wpt_toascii")
    }
    assert len(found) > 80
    compare(found, TO_ASCII)


STEPS: list[Step] = ["query_order", "empty_query", "double_slashes"]
"""What the normaliser of crawler-commons does besides; with these steps fewer answers differ."""
BY_STEPS = (EMPTY_SEGMENT, EMPTY_QUERY, EMPTY_PAIR)


@pytest.mark.parametrize("steps", [STEPS[:1], STEPS], ids=["order", "steps"])
def test_crawler_commons_normaliser(steps: list[Step]) -> None:
    found = {}
    for case in cases("urls_crawler_commons"):
        normaliser = Normaliser(steps, case["remove_params"])
        ours = UrlPolicy(normaliser, schemes=WEB).canonical(case["in"])
        if case["idn"] == "UNICODE" and ours is not None:
            ours = display_url(ours)
        found[case["in"]] = (ours, case["out"])
    assert len(found) > 200
    listed = CRAWLER_COMMONS
    if steps == STEPS:
        slashes = {"file:/var/www/html/////./bar/index.html": "file:///var/www/html/bar/index.html"}
        listed = {why: rows for why, rows in listed.items() if why not in BY_STEPS}
        listed[FILE_FORM] = {**listed[FILE_FORM], **slashes}
    compare(found, listed)
