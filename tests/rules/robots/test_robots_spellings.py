"""A rule counts for what it names in whatever spelling, and for nothing else (RFC 9309 2.2.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import UrlPolicy

SITE = "https://example.com"

PLAIN = ["a", "b", "7", "~", "-", "."]
"""Units of a path that may be written as they are or as an escape, which counts the same (unreserved)."""
OUTSIDE = ["é", "ツ", " ", '"', "<", "[", "|"]
"""Units that have no place in a URL: as they are or escaped."""
DATA = [":", "@", "!", "'", "(", ",", "*", "$"]
"""Reserved characters that delimit nothing in a path: as they are or escaped."""
APART = [";", "=", "&", "+", "%2F", "%3F", "%3B", "%3D", "%26", "%2B", "%23", "%5C"]
"""Delimiters and their escapes, which are not the same."""
STRAY = ["%"]
UNITS = st.sampled_from(PLAIN + OUTSIDE + DATA + APART + STRAY)
SEGMENTS = st.lists(UNITS, min_size=1, max_size=4).filter(lambda units: not set(units) <= {"."})
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3)
_ESCAPE = re.compile(r"[0-9A-Fa-f]{2}")


def escaped(unit: str, *, lower: bool) -> str:
    text = "".join(f"%{octet:02X}" for octet in unit.encode())
    return text.lower() if lower else text


def spelt(units: Sequence[str], draw: st.DrawFn, *, rule: bool = False) -> str:
    """Write units in one of their spellings."""
    text = ""
    for unit in reversed(units):
        must = rule and (unit == "*" or (unit == "$" and not text))
        must = must or (unit == " " and not text)  # blanks at an end are no part of a line or a link
        if unit in APART:
            text = (unit.lower() if draw(st.booleans()) else unit) + text
        elif unit == "%":
            text = ("%25" if _ESCAPE.match(text) or draw(st.booleans()) else "%") + text
        elif must or draw(st.booleans()):
            text = escaped(unit, lower=draw(st.booleans())) + text
        else:
            text = unit + text
    return text


@st.composite
def written(draw: st.DrawFn, segments: Sequence[Sequence[str]], *, rule: bool = False) -> str:
    """Write a path in one of its spellings: escapes, backslashes and dot segments included."""
    text = ""
    for segment in segments:
        for detour in draw(st.lists(st.sampled_from(["/.", "/q/..", "/%2e", "/q/.%2E"]), max_size=2)):
            text += detour if draw(st.booleans()) else detour.replace("/", "\\")
        text += draw(st.sampled_from(["/", "/", "\\"])) + spelt(segment, draw, rule=rule)
    return text


def flat(segments: Sequence[Sequence[str]]) -> list[str]:
    return [unit for segment in segments for unit in ("/", *segment)]


def names(rule: Sequence[Sequence[str]], path: Sequence[Sequence[str]]) -> bool:
    """Tell whether a path begins with the path of a rule, unit by unit."""
    beginning = flat(rule)
    return flat(path)[: len(beginning)] == beginning


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[str]], list[list[str]], str, str]:
    """Draw a path, the path of a rule that often is its beginning, and a spelling of each."""
    path = draw(PATHS)
    rule = draw(PATHS)
    if draw(st.booleans()):
        rule = [list(segment) for segment in path[: draw(st.integers(1, len(path)))]]
        rule[-1] = rule[-1][: draw(st.integers(1, len(rule[-1])))]
    return path, rule, draw(written(path)), draw(written(rule, rule=True))


@given(cases())
def test_a_rule_names_a_url_in_whatever_spelling(
    case: tuple[list[list[str]], list[list[str]], str, str],
) -> None:
    path, rule, url, line = case
    robots = RobotsRules.parse(f"User-agent: *\nDisallow: {line}\n")
    canonical = UrlPolicy().canonical(SITE + url)
    assert canonical is not None
    if names(rule, path):
        assert robots.blocks(canonical), (line, canonical)
        assert robots.blocks(SITE + url)
    elif not line.endswith("%"):  # which is read as the beginning of any escape, too
        assert not robots.blocks(canonical), (line, canonical)
        assert not robots.blocks(SITE + url)


@given(cases(), cases())
def test_a_rule_about_something_else_changes_nothing(
    case: tuple[list[list[str]], list[list[str]], str, str],
    other: tuple[list[list[str]], list[list[str]], str, str],
) -> None:
    path, _, url, line = case
    _, elsewhere, _, unrelated = other
    if names(elsewhere, path) or unrelated.endswith("%"):
        return
    alone = RobotsRules.parse(f"User-agent: *\nDisallow: {line}\n").blocks(SITE + url)
    for more in (f"Disallow: {unrelated}", f"Allow: {unrelated}"):
        both = RobotsRules.parse(f"User-agent: *\n{more}\nDisallow: {line}\n")
        assert both.blocks(SITE + url) is alone


@st.composite
def query_cases(draw: st.DrawFn) -> tuple[list[str], list[str], str, str]:
    """Draw the value of a query, one of a rule that often is its beginning, and a spelling of each."""
    value = draw(st.lists(UNITS, min_size=1, max_size=5))
    rule = (
        value[: draw(st.integers(1, len(value)))]
        if draw(st.booleans())
        else draw(st.lists(UNITS, min_size=1))
    )
    return value, rule, spelt(value, draw), spelt(rule, draw, rule=True)


@given(query_cases())
def test_a_query_has_spellings_too(case: tuple[list[str], list[str], str, str]) -> None:
    value, rule, url, line = case
    robots = RobotsRules.parse(f"User-agent: *\nDisallow: /s?q={line}\n")
    if value[: len(rule)] == rule:
        assert robots.blocks(f"{SITE}/s?q={url}"), (line, url)
    elif not line.endswith("%"):
        assert not robots.blocks(f"{SITE}/s?q={url}"), (line, url)


@pytest.mark.parametrize(
    ("rule", "path", "blocked"),
    [
        pytest.param("/100%-off/", "/100%-off/", True, id="stray-percent"),
        pytest.param("/100%-off/", "/100%25-off/x", True, id="stray-percent-escaped"),
        pytest.param("/100%25-off/", "/100%-off/", True, id="escaped-percent-stray"),
        pytest.param("/100%", "/100%-off/", True, id="percent-at-the-end"),
        pytest.param("/*%", "/caf%C3%A9", True, id="percent-at-the-end-is-any-escape"),
        pytest.param("/*%*x", "/caf%C3%A9x", True, id="percent-before-an-asterisk"),
        pytest.param("/100%$", "/100%", True, id="percent-before-the-end"),
        pytest.param("/100%$", "/100%C3%A9", False, id="percent-before-the-end-is-itself"),
        pytest.param(r"\private\files", "/private/files/1", True, id="backslashes"),
        pytest.param(r"/a\b", "/a%5Cb", False, id="an-escaped-backslash-is-another-path"),
        pytest.param(r"/*\b", r"/x?y=\b", True, id="backslash-in-what-may-be-a-query"),
        pytest.param(r"/*\b", "/x/b", True, id="backslash-in-what-may-be-a-path"),
        pytest.param("/a/../private/", "/private/x", True, id="dot-segments"),
        pytest.param("/./private/", "/private/x", True, id="dot-segment"),
        pytest.param("/a/%2e%2E/private/", "/private/x", True, id="escaped-dot-segments"),
        pytest.param("/.", "/.git/config", True, id="a-dot-at-the-end-is-a-beginning"),
        pytest.param("/.", "/", False, id="a-dot-at-the-end-is-not-the-folder"),
        pytest.param("/a/..$", "/", True, id="dots-before-the-end"),
        pytest.param("/caf%c3%a9", "/café", True, id="lower-case-escapes"),
        pytest.param("/a/b", "/a%2Fb", False, id="an-escaped-slash-is-another-path"),
        pytest.param("/a%2fb", "/a/b", False, id="a-slash-is-no-escaped-slash"),
        pytest.param("/*?", "/who%3F", False, id="an-escaped-question-mark-is-no-query"),
        pytest.param("/wiki/Special:", "/wiki/Special%3ASearch", True, id="an-escaped-colon"),
        pytest.param("/wiki/Special%3a", "/wiki/Special:Search", True, id="an-escaped-colon-in-a-rule"),
        pytest.param("/x?u=https://h", "/x?u=https%3A%2F%2Fh", True, id="rfc-9309-example"),
        pytest.param("/x?u=https%3A%2F%2Fh", "/x?u=https://h/", True, id="rfc-9309-example-turned-round"),
        pytest.param("/x?a=b%26c", "/x?a=b&c", False, id="an-escaped-ampersand"),
        pytest.param("/a%2Ab", "/a*b", True, id="escaped-asterisk-is-a-letter"),
        pytest.param("/a%2Ab", "/axb", False, id="escaped-asterisk-is-no-operator"),
        pytest.param("/a*b", "/a%2Ab", True, id="asterisk-covers-an-escaped-one"),
        pytest.param("/a%24", "/a$b", True, id="escaped-dollar-is-a-letter"),
        pytest.param("/a b", "/a%20b", True, id="blank"),
        pytest.param("https://example.com/private/", "/private/x", False, id="whole-url-is-no-path"),
        pytest.param("private", "/private", False, id="no-path"),
        pytest.param("*private", "/x/private", True, id="asterisk-in-front"),
    ],
)
def test_what_a_rule_names(rule: str, path: str, blocked: bool) -> None:
    assert RobotsRules.parse(f"User-agent: *\nDisallow: {rule}\n").blocks(SITE + path) is blocked


def test_allow_is_read_like_disallow() -> None:
    robots = RobotsRules.parse("User-agent: *\nDisallow: /\nAllow: /100%-on/\n")
    assert not robots.blocks(f"{SITE}/100%25-on/x")
    assert robots.blocks(f"{SITE}/100%25-off/x")


def test_an_allowed_end_is_no_allowed_dollar_sign() -> None:
    robots = RobotsRules.parse("User-agent: *\nDisallow: /x\nAllow: /x$\n")
    assert not robots.blocks(f"{SITE}/x")
    assert robots.blocks(f"{SITE}/x$y")
