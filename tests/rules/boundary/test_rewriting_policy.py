"""Rewrite rules as part of a URL policy: order of rewriting, parameters, length and scheme."""

import pytest

from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rewriting.rewriting_policy import RewritingPolicy
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.rules.urls.normalise import Normaliser

ORDERED = Normaliser(["query_order"])


def policy(*rules: str, **options: object) -> RewritingPolicy:
    return RewritingPolicy(rules=RewriteRules(map(RewriteRule.parse, rules)), **options)


CASES = {
    "no rule matches": (policy("@x@y@"), "http://a/b", "http://a/b"),
    "fast_10 sorted after rewriting": (
        policy("#/old/#/new/#", normaliser=ORDERED),
        "http://a/old/p?b=2&a=1&b=1",
        "http://a/new/p?a=1&b=2&b=1",
    ),
    "parameters are removed before": (
        policy("@/index.html$@/@", normaliser=Normaliser(remove={"sid"})),
        "http://a/b/index.html?sid=1",
        "http://a/b/",
    ),
    "and after": (
        policy("@id=@sid=@", normaliser=Normaliser(remove={"sid"})),
        "http://a/b?id=1",
        "http://a/b",
    ),
    "the result is canonical": (policy("@/x@/%7ex/../y@"), "http://a/x", "http://a/y"),
    "a rule may shorten what is too long": (
        policy("@x+@x@", max_length=20),
        "http://a/" + "x" * 90,
        "http://a/x",
    ),
    "a rule may lengthen it too much": (policy("@x@xxxxxxxxxxxxxxxx@", max_length=20), "http://a/x", None),
    "a rule may change the scheme": (policy("@^ftp:@http:@"), "ftp://a/x", "http://a/x"),
    "a scheme that is not taken": (policy("@^http:@ftp:@"), "http://a/x", None),
    "no URL comes out": (policy("@^.*$@nothing@"), "http://a/x", None),
    "no URL went in": (policy("@a@b@"), "mailto:a@b", None),
    "relative": (policy("@/x@/y@"), "../x", "http://a/y"),
}


@pytest.mark.parametrize(("rules", "href", "expected"), CASES.values(), ids=CASES)
def test_canonical(rules: RewritingPolicy, href: str, expected: str | None) -> None:
    for _ in range(2):
        assert rules.canonical(href, "http://a/b/c") == expected
    explained = rules.canonicalise(href, "http://a/b/c")
    assert explained.url == expected
    assert explained.decision.accept is (expected is not None)


def test_the_decision_names_what_happened() -> None:
    rules = policy("@x@y@", max_length=30)
    assert rules.canonicalise("http://a/b").decision.stage == "url"
    decision = rules.canonicalise("http://a/x").decision
    assert (decision.stage, decision.rule) == ("rewrite", "rewrite_rules")
    assert decision.reason == "http://a/x becomes http://a/y"
    refused = policy("@^.*$@nothing@").canonicalise("http://a/x").decision
    assert refused.rule == "rewrite_rules: malformed URL"


def test_without_rewriting_only_the_form_is_left() -> None:
    rules = policy("@x@y@", normaliser=ORDERED)
    assert rules.without_rewriting == UrlPolicy(ORDERED)
    assert rules.without_rewriting.canonical("http://a/x?b&a") == "http://a/x?a&b"
    plain = UrlPolicy()
    assert plain.without_rewriting is plain
