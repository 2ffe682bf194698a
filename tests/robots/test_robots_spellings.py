"""A rule and a URL may be spelt in many ways; a rule counts for what it names, and for nothing else (RFC 9309 2.2.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.robots import RobotsRules
from ultracrawl.urls import UrlPolicy

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


@pytest.mark.xfail(strict=True, reason="a rule is compared as it is written")
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
