"""Expressions that RE2 cannot do: a rule that excludes never fails open, one that includes never does either."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.boundary import Boundary, BoundaryRules, PatternError
from ultracrawl.boundary.expressions import covering, slow_expression
from ultracrawl.boundary.rules import Action, Kind, UriRule
from ultracrawl.content.acceptance import Acceptance
from ultracrawl.dialects import read_definitions

LOOK_AHEAD = r"https?://[^/]+/(?!public/).*"
TWICE = r"https?://[^/]+/(\w+)/\1/.*"
ENDLESS = r"https?://[^/]+/(?=x)(?:x|xx)+[yz]"
"""Tries every way to part the letters before it knows that the last one is missing."""
TRAP = "http://a.example/" + "x" * 60


def boundary(*rules: UriRule) -> Boundary:
    return Boundary(BoundaryRules(uris=rules))


def refusals(made: Boundary, url: str) -> list[str]:
    return [one.rule for one in made.decisions(url) if not one.accept]


@pytest.mark.parametrize(
    ("expression", "inside", "outside"),
    [
        (LOOK_AHEAD, "http://a.example/public/x", "http://a.example/private/x"),
        (TWICE, "http://a.example/a/b/c", "http://a.example/a/a/c"),
    ],
)
def test_excludes_with_look_around_and_back_references_hold(
    expression: str, inside: str, outside: str
) -> None:
    made = boundary(UriRule(Kind.REGEXP, expression, Action.EXCLUDE))
    assert refusals(made, inside) == []
    assert refusals(made, outside) == [f"exclude uri regexp {expression}"]


def test_an_exclude_without_an_answer_in_time_excludes_and_says_so() -> None:
    made = boundary(UriRule(Kind.REGEXP, ENDLESS, Action.EXCLUDE))
    assert refusals(made, TRAP) == [f"exclude uri regexp {ENDLESS} (no answer in time)"]
    assert refusals(made, "http://a.example/z") == []


def test_an_include_without_an_answer_in_time_does_not_include() -> None:
    made = boundary(UriRule(Kind.REGEXP, ENDLESS, Action.INCLUDE))
    assert refusals(made, TRAP) != []
    assert refusals(made, "http://a.example/xxxy") == []


def test_what_is_to_be_followed_only_is_not_indexed_without_an_answer() -> None:
    made = boundary(
        UriRule(Kind.REGEXP, ENDLESS, Action.FOLLOW_ONLY), UriRule(Kind.PREFIX, "http://a.example/")
    )
    assert made.follow_only(TRAP) is not None


def test_a_header_without_an_answer_in_time_refuses() -> None:
    judge = Acceptance(("*",), exclude_headers={"X-Kind": [r"(?=x)(?:x|xx)+[yz]"]})
    assert judge.refuses_headers(lambda _: ["x" * 60]) is not None
    assert judge.refuses_headers(lambda _: ["z"]) is None


def test_re2_remains_the_way_for_what_it_can_do() -> None:
    assert slow_expression(r".*\.pdf") is None
    assert covering(r".*\.pdf")("a.pdf") is True


@pytest.mark.parametrize("expression", ["(", "(?!x", r"\\2(a)(?P<n>", "["])
def test_what_neither_engine_takes_is_a_mistake(expression: str) -> None:
    with pytest.raises(PatternError):
        slow_expression(expression)


@pytest.mark.parametrize(
    ("expression", "fatal"),
    [(r"http://a\.example/(?!public/).+", False), (r"http://(?!x", True)],
)
def test_an_exclude_of_a_fast_collection_is_never_dropped(
    tmp_path: Path, expression: str, fatal: bool
) -> None:
    def members(name: str, text: str) -> str:
        return f'<attrib name="{name}" type="list-string"><member>{text}</member></attrib>'

    file = tmp_path / "collection.xml"
    hosts = f'<section name="include_domains">{members("exact", "a.example")}</section>'
    excluded = f'<section name="exclude_uris">{members("regexp", expression)}</section>'
    file.write_text(
        '<?xml version="1.0"?><CrawlerConfig><DomainSpecification name="c">'
        f"{members('start_uris', 'http://a.example/')}{hosts}{excluded}</DomainSpecification></CrawlerConfig>"
    )
    told = [one for one in read_definitions(file).findings if "expression" in one.problem]
    assert [one.fatal for one in told] == [fatal]
