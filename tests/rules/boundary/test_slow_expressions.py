"""Expressions that RE2 cannot do: a rule that excludes never fails open, one that includes never does either."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ultracrawl.rules.acceptance import Acceptance
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.expressions import (
    MAX_TIMEOUTS,
    REDUCED_TIME_LIMIT,
    TIME_LIMIT,
    SlowExpression,
    compile_fullmatch,
    slow_expression,
)
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, DomainRule, Kind, PatternError, UriRule
from ultracrawl.sources import load_project
from ultracrawl.sources.dialects import read_definitions

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


def test_hosts_without_an_answer_in_time_are_excluded() -> None:
    endless = r"(?=x)(?:x|xx)+[yz]"
    made = Boundary(BoundaryRules(domains=(DomainRule(Kind.REGEXP, endless, Action.EXCLUDE),)))
    assert made.rejects(f"http://{'x' * 60}.example/") is not None
    assert made.rejects("http://a.example/") is None


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
    assert compile_fullmatch(r".*\.pdf")("a.pdf") is True


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


def test_a_host_to_be_followed_only_is_not_indexed_without_an_answer() -> None:
    endless = r"(?=x)(?:x|xx)+[yz]"
    rules = (DomainRule(Kind.REGEXP, endless, Action.FOLLOW_ONLY), DomainRule(Kind.PREFIX, "x"))
    made = Boundary(BoundaryRules(domains=rules))
    url = f"http://{'x' * 60}/"
    assert made.rejects(url) is None
    assert made.follow_only(url) is not None
    alone = Boundary(BoundaryRules(domains=(rules[0], DomainRule(Kind.EXACT, "a.example"))))
    assert alone.rejects(url) is not None, "no answer lets nothing in"


@pytest.mark.parametrize(
    "make",
    [
        lambda texts: RewriteRules(RewriteRule(text, "x") for text in texts),
        lambda texts: boundary(*(UriRule(Kind.REGEXP, text, Action.EXCLUDE) for text in texts)),
    ],
    ids=["rewrite", "exclude"],
)
def test_expressions_that_are_too_large_together_are_a_mistake(
    monkeypatch: pytest.MonkeyPatch, make: Callable[[list[str]], object]
) -> None:
    monkeypatch.setattr("ultracrawl.rules.boundary.expressions.SET_MEMORY", 1 << 16)
    texts = [rf"http://h{number}\.example/[a-z]{{1,50}}/(x|y)+" for number in range(300)]
    with pytest.raises(PatternError, match="too large"):
        make(texts)


class _Clock:
    """An engine that never comes to an end, and notes the time that it was given."""

    def __init__(self) -> None:
        self.given: list[float] = []

    def fullmatch(self, text: str, timeout: float) -> object:
        self.given.append(timeout)
        if text == "short":
            return object()
        raise TimeoutError


def test_an_expression_without_answers_gets_little_time() -> None:
    engine = _Clock()
    made = SlowExpression("x", engine)
    for _ in range(MAX_TIMEOUTS + 10):
        assert made.fullmatch("long") is None
    assert engine.given == [TIME_LIMIT] * MAX_TIMEOUTS + [REDUCED_TIME_LIMIT] * 10
    assert made.fullmatch("short") is True, "what is told at once is still told"


EVERYWHERE = """sources:
  docs:
    start_urls: [https://a.example/]
    exclude_headers: {X-Kind: ['(?!a).*']}
    boundary:
      domains: {include: [{regexp: '(?!b).*'}], exclude: [{regexp: '(?!c)c.*'}]}
      uris: {include: [{regexp: '(?!d).*'}], exclude: [{regexp: '(?!e)e.*'}], follow_only: [{regexp: '(?!f)f.*'}]}
      elsewhere:
        news:
          hosts: [{regexp: '(?!g)g.*'}]
          uris: [{regexp: '(?!h)h.*'}]
          except_hosts: [{regexp: '(?!i).*'}]
          except_uris: [{regexp: '(?!j).*'}]
    javascript: {use: true, urls: [{regexp: '(?!k).*'}]}
"""


def test_expressions_of_the_slower_engine_are_reported_wherever_rules_stand(tmp_path: Path) -> None:
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(EVERYWHERE)
    told = [one.problem for one in load_project(file).findings if "slower engine" in one.problem]
    assert sorted(text[text.index("(?!") + 3] for text in told) == list("abcdefghijk")


def _members(name: str, *texts: str) -> str:
    inside = "".join(f"<member>{text}</member>" for text in texts)
    return f'<attrib name="{name}" type="list-string">{inside}</attrib>'


NARROW = f'<section name="include_domains">{_members("exact", "a.example")}</section>'


@pytest.mark.parametrize(
    "inside",
    [
        f'<section name="include_domains">{_members("regexp", "(?!x")}</section>',
        f'{NARROW}<section name="include_uris">{_members("regexp", "(?!x")}</section>',
        NARROW + _members("rewrite_rules", "@(?=x)y@z@"),
        f'{NARROW}<SubDomain name="news"><section name="include_uris">{_members("prefix", "http://a.example/n/")}'
        f"{_members('regexp', '(?!x')}</section></SubDomain>",
    ],
    ids=["the only host", "the only URI", "a rewrite rule", "what belongs to a sub-collection"],
)
def test_a_member_without_which_more_would_be_crawled_is_never_dropped(tmp_path: Path, inside: str) -> None:
    file = tmp_path / "collection.xml"
    file.write_text(
        '<?xml version="1.0"?><CrawlerConfig><DomainSpecification name="c">'
        f"{_members('start_uris', 'http://a.example/')}{inside}</DomainSpecification></CrawlerConfig>"
    )
    loaded = read_definitions(file)
    assert [one.problem for one in loaded.fatal if "cannot be used" in one.problem]


ROBOT = """<Process enumeration-filter="both" generation-filter="both" start="http://a.example/">
</Process>
"""
FILTERS = """<Filter name="both">
Setup fn=filterrules-setup config=config/other.conf
MetaData fn=filterrules-process
</Filter>
"""


def test_the_rules_that_a_filter_names_are_looked_at(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "robot.conf").write_text(ROBOT)
    (config / "filter.conf").write_text(FILTERS)
    rule = '<FilterRule name="private">\nMatch source=url by=regex string="(?!x).*"\n</FilterRule>\n'
    (config / "other.conf").write_text(rule)
    loaded = read_definitions(config / "robot.conf")
    assert [(Path(one.file).name, one.line) for one in loaded.fatal] == [("other.conf", 2)]


@pytest.mark.parametrize("verb", ["deny", "allow"])
def test_a_filter_with_an_expression_that_re2_cannot_do_is_a_mistake(tmp_path: Path, verb: str) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "robot.conf").write_text(ROBOT)
    line = f'MetaData fn=filter-by-regex src=url {verb}="(?!x).*"'
    (config / "filter.conf").write_text(f'<Filter name="both">\n{line}\n</Filter>\n')
    loaded = read_definitions(config / "robot.conf")
    assert [(Path(one.file).name, one.line) for one in loaded.fatal] == [("filter.conf", 2)]
