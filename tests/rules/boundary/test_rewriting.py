"""Rewrite rules and the URL rewriter hook."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ultracrawl.rules.boundary import Candidate, UrlRewriteError, UrlRewriter
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rewriting.rewriter import RewriteOutcome, apply_rewriter
from ultracrawl.rules.boundary.rules import BoundaryRules, DomainRule, Kind, PatternError, RuleError
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.normalise import Normaliser

LINK = "http://in.example/a"


@pytest.mark.parametrize(
    ("members", "url", "rewritten"),
    [
        (["#/old/#/new/#"], "http://h/old/p?b=2&a=1&b=1", "http://h/new/p?b=2&a=1&b=1"),
        ([r"@^(https?://[^/]+/.*);sid=[0-9a-f]+@\1@"], "http://h/p;sid=0af?q", "http://h/p?q"),
        (
            [r" #//old\.example\.com/#//www.example.com/# "],
            "http://old.example.com/",
            "http://www.example.com/",
        ),
        (["@a@b@", "@b@c@"], "http://h/a", "http://h/c"),
        (["@x@y@", "@a@b@"], "http://h/a", "http://h/b"),
        (["@a@aa@"], "http://h/a/a", "http://h/aa/aa"),
        ([r"@(?P<n>\d+)@[\g<n>]\\@"], "http://h/12", "http://h/[12]\\"),
        ([r"@\d+@[\g<0>]@"], "http://h/12", "http://h/[12]"),
        ([r"@(x)?h@\1-\g<0>-\.@"], "http://h/", "-h-.ttp://-h-./"),
        (["@^.*$@@"], "http://h/a", ""),
        ([], "http://h/a", "http://h/a"),
    ],
)
def test_rewrite_rules(members: list[str], url: str, rewritten: str) -> None:
    assert RewriteRules(map(RewriteRule.parse, members)).rewrite(url) == rewritten


def test_fast_vector_10_with_sorting() -> None:
    rules = RewriteRules([RewriteRule.parse("#/old/#/new/#")])
    policy = UrlPolicy(Normaliser(["query_order"]))
    assert policy.canonical(rules.rewrite("http://h/old/p?b=2&a=1&b=1")) == "http://h/new/p?a=1&b=2&b=1"


@pytest.mark.parametrize("member", ["", "@", "@a@b", "@a@b@c@", "@a@b@ c", "abc"])
def test_members_without_three_separators_are_refused(member: str) -> None:
    with pytest.raises(RuleError, match="rewrite rule"):
        RewriteRule.parse(member)


@pytest.mark.parametrize("member", ["@(a@b@", r"@(a)\1@b@", "@(?=a)@b@", r"@(a)@\2@", r"@a@\g<n>@"])
def test_expressions_outside_re2_and_missing_groups_are_refused(member: str) -> None:
    with pytest.raises(PatternError):
        RewriteRules([RewriteRule.parse(member)])


class Scripted(UrlRewriter):
    def __init__(self, act: Callable[[Candidate], bool]) -> None:
        self.act = act

    def rewrite(self, candidate: Candidate) -> bool:
        return self.act(candidate)


def setting(result: bool, **values: object) -> Scripted:
    def act(candidate: Candidate) -> bool:
        assert (candidate.candidate_url, candidate.display_url) == (LINK, LINK)
        assert (candidate.access_url, candidate.discard) == (None, False)
        for name, value in values.items():
            setattr(candidate, name, value)
        return result

    return Scripted(act)


NEW, INNER = "http://new.example/", "http://inner.example/"
KEPT, REWRITTEN, DROPPED, ERROR = RewriteOutcome


@pytest.mark.parametrize(
    ("rewriter", "outcome", "display", "access"),
    [
        pytest.param(UrlRewriter(), KEPT, LINK, LINK, id="base class"),
        pytest.param(setting(False), KEPT, LINK, LINK, id="ultra_search_89"),
        pytest.param(setting(False, display_url=NEW), KEPT, LINK, LINK, id="ultra_search_89 changes ignored"),
        pytest.param(setting(False, discard=True), DROPPED, "", "", id="ultra_search_90 false"),
        pytest.param(setting(True, discard=True), DROPPED, "", "", id="ultra_search_90 true"),
        pytest.param(setting(True, display_url=NEW), REWRITTEN, NEW, NEW, id="ultra_search_91"),
        pytest.param(setting(True, access_url=INNER), REWRITTEN, LINK, INNER, id="ultra_search_92"),
        pytest.param(setting(True, display_url=NEW, access_url=INNER), REWRITTEN, NEW, INNER, id="both"),
        pytest.param(
            setting(True, display_url="HTTP://New.Example"), REWRITTEN, NEW, NEW, id="made canonical"
        ),
        pytest.param(setting(True, display_url=None), ERROR, "", "", id="ultra_search_93"),
        pytest.param(setting(True, display_url="b.html"), ERROR, "", "", id="relative display URL"),
        pytest.param(setting(True, access_url="/b"), ERROR, "", "", id="relative access URL"),
        pytest.param(setting(True, access_url="file:///etc/passwd"), ERROR, "", "", id="scheme"),
    ],
)
def test_rewriter_outcomes(rewriter: UrlRewriter, outcome: RewriteOutcome, display: str, access: str) -> None:
    result = apply_rewriter(rewriter, LINK)
    assert (result.outcome, result.display_url, result.access_url) == (outcome, display, access)
    assert result.decision.accept is bool(access)
    assert result.decision.rule == f"url rewriter {outcome}"


def test_ultra_search_94_a_rewritten_url_still_meets_the_boundary() -> None:
    boundary = Boundary(BoundaryRules(domains=(DomainRule(Kind.EXACT, "in.example"),)))
    result = apply_rewriter(setting(True, access_url=INNER), LINK)
    assert boundary.rejects(LINK) is None
    assert boundary.rejects(result.access_url) == "no include domain matches"


def test_ultra_search_95_an_exception_drops_one_link_only() -> None:
    def act(candidate: Candidate) -> bool:
        if candidate.candidate_url == LINK:
            raise UrlRewriteError("no rule for it")
        return False

    failed = apply_rewriter(Scripted(act), LINK)
    assert (failed.outcome, failed.reason) == (ERROR, "UrlRewriteError: no rule for it")
    assert apply_rewriter(Scripted(act), NEW).outcome is KEPT


def test_the_link_itself_cannot_be_changed() -> None:
    assert apply_rewriter(Scripted(lambda c: bool(setattr(c, "candidate_url", NEW))), LINK).outcome is ERROR


_HARD_RULES = ["@(x)?h@\\1-\\g<0>-\\.@", "@@-@", "@^.*$@@", "@[^a]+|$@\\g<0>\\\\@", "@(?P<n>.)@[\\g<n>]@"]


@given(st.lists(st.sampled_from(_HARD_RULES), max_size=3), st.text() | st.text().map(f"{LINK}?".__add__))
@example(_HARD_RULES, "http://h/\ud800")
def test_no_rewrite_rule_raises_on_any_url(members: list[str], url: str) -> None:
    written = RewriteRules(map(RewriteRule.parse, members)).rewrite(url)
    assert isinstance(written, str)
    assert members or written == url
