"""Parts, keys, display form and repeating path segments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.urls.canonical import display_url, host_of, path_of, site_of, split, url_key
from ultracrawl.rules.urls.recursion import repeats


@pytest.mark.parametrize(
    ("url", "parts", "site"),
    [
        ("http://a.example/", ("http", "a.example", 80, "/"), "a.example"),
        ("https://a.example:8443/b?c/d", ("https", "a.example", 8443, "/b?c/d"), "a.example:8443"),
        ("https://[::1]/x", ("https", "[::1]", 443, "/x"), "[::1]"),
        ("https://[::1]:81/x", ("https", "[::1]", 81, "/x"), "[::1]:81"),
        ("ftp://h/x", ("ftp", "h", 21, "/x"), "h"),
        ("file:///etc/x", ("file", "", 0, "/etc/x"), ""),
        ("http://a.example", ("http", "a.example", 80, "/"), "a.example"),
    ],
)
def test_parts_of_canonical_urls(url: str, parts: tuple[str, str, int, str], site: str) -> None:
    assert split(url) == parts
    assert (host_of(url), split(url).port, path_of(url)) == parts[1:]
    assert site_of(url) == site


@given(st.text())
def test_parts_and_key_never_raise(text: str) -> None:
    split(text)
    site_of(text)
    display_url(text)
    assert -(2**63) <= url_key(text) < 2**63


def test_key_is_stable_and_signed() -> None:
    keys = [url_key(f"https://a.example/{number}") for number in range(1000)]
    assert len(set(keys)) == 1000
    assert min(keys) < 0 < max(keys)
    assert url_key("https://a.example/") == url_key("https://a.example/")
    assert url_key("\ud800") != url_key("\ud801")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://xn--bcher-kva.example/%C3%BC", "http://bücher.example/%C3%BC"),
        ("http://xn--bcher-kva.example:81/", "http://bücher.example:81/"),
        ("http://a.example/xn--bcher-kva", "http://a.example/xn--bcher-kva"),
    ],
)
def test_display_form(url: str, shown: str) -> None:
    assert display_url(url) == shown


@pytest.mark.parametrize(
    ("limit", "path", "expected"),
    [
        pytest.param(1, "/widget", False, id="fast 8.5 one segment"),
        pytest.param(1, "/widget/widget", True, id="fast 8.5 one repetition"),
        pytest.param(2, "/a/b/a/b", False, id="fast 8.6 r is 1"),
        pytest.param(2, "/a/b/a/b/a/b", True, id="fast 8.6 r is 2"),
        pytest.param(2, "/a/x/a/x/b/a", False, id="fast 8.6 broken run"),
        pytest.param(5, "/x/a/a/a/a/a/a", True, id="six in the middle"),
        pytest.param(5, "/a/a/a/a/a", False, id="five are four copies"),
        pytest.param(5, "/a/a/a/a/a/a?q", True, id="query is cut"),
        pytest.param(5, "/a?b/b/b/b/b/b/b/b", False, id="query does not count"),
        pytest.param(2, "/a/b/a/b/a/b/", True, id="slash at the end"),
        pytest.param(0, "/a/a/a/a/a/a/a", False, id="switched off"),
        pytest.param(5, "////////", False, id="only slashes"),
        pytest.param(3, "/a//////b", True, id="empty segments repeat"),
    ],
)
def test_repeating_segments(limit: int, path: str, expected: bool) -> None:
    assert repeats(path, limit) is expected


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=14), st.integers(1, 4))
def test_repeating_segments_by_definition(segments: list[str], limit: int) -> None:
    count = len(segments)
    expected = any(
        segments[start : start + period] * (limit + 1) == segments[start : start + period * (limit + 1)]
        for period in range(1, count + 1)
        for start in range(count - period * (limit + 1) + 1)
    )
    assert repeats("/" + "/".join(segments), limit) is expected
