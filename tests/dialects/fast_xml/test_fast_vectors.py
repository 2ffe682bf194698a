"""The worked examples of FAST collections: what the compiled source decides (FAST 8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fast import fast_xml

from ultracrawl.model import LinkKind
from ultracrawl.rules.boundary.matcher import no_addresses
from ultracrawl.rules.frontier.levels import LevelSelector
from ultracrawl.sources import CompiledSource, DataSource, compile_level_selector, compile_source, require
from ultracrawl.sources.dialects import read_definitions

START = {"start_uris": ("http://a.example/",)}


def source(folder: Path, options: dict[str, Any]) -> DataSource:
    file = folder / "collection.xml"
    file.write_text(fast_xml({**START, **options}))
    (found,) = require(read_definitions(file)).sources.values()
    return found


def rules(folder: Path, options: dict[str, Any]) -> CompiledSource:
    return compile_source(source(folder, options), None, no_addresses)


ANY_SCHEME = {"allowed_schemes": ("http", "https")}
SEVEN = {
    **ANY_SCHEME,
    "include_domains/suffix": (".example.com",),
    "include_uris/prefix": ("https://other.example.org/open/",),
}
INSIDE: dict[str, tuple[dict[str, Any], str, bool]] = {
    "fast_vector_4-of an extension": (
        {"exclude_exts": (".png", "zip, .TAR")},
        "http://a.example/A.PNG",
        False,
    ),
    "fast_vector_4-of an extension in front of a query": (
        {"exclude_exts": ("zip, .TAR",)},
        "http://a.example/a/b.tar?x=1",
        False,
    ),
    "fast_vector_4-a folder has no extension": (
        {"exclude_exts": (".png",)},
        "http://a.example/a.png/b",
        True,
    ),
    "fast_vector_5-one copy": ({"max_uri_recursion": 1}, "http://a.example/widget/widget", False),
    "fast_vector_5-no copy": ({"max_uri_recursion": 1}, "http://a.example/widget", True),
    "fast_vector_6-two copies": ({"max_uri_recursion": 2}, "http://a.example/a/b/a/b/a/b", False),
    "fast_vector_6-one copy": ({"max_uri_recursion": 2}, "http://a.example/a/b/a/b", True),
    "fast_vector_6-no runs": ({"max_uri_recursion": 2}, "http://a.example/a/x/a/x/b/a", True),
    "fast_vector_7-by host": (SEVEN, "https://www.example.com/x", True),
    "fast_vector_7-by URI": (SEVEN, "https://other.example.org/open/1", True),
    "fast_vector_7-by neither": (SEVEN, "https://other.example.org/x", False),
    "fast_vector_7-the domain itself has no dot": (SEVEN, "https://example.com/", False),
    "fast_vector_8-exclusion wins": (
        {**SEVEN, "exclude_uris/prefix": ("https://www.example.com/drafts/",)},
        "https://www.example.com/drafts/1",
        False,
    ),
    "fast_vector_9-the whole name": (
        {"include_domains/regexp": (r"www\..*\.com",)},
        "http://www.a.com/",
        True,
    ),
    "fast_vector_9-not its beginning": (
        {"include_domains/regexp": (r"www\..*\.com",)},
        "http://www.a.com.example/",
        False,
    ),
    "fast_vector_9-not its end": (
        {"include_domains/regexp": (r"www\..*\.com",)},
        "http://xwww.a.com/",
        False,
    ),
    "fast_3_2-no rule lets every host in": ({}, "http://www.anywhere.example/x", True),
    "fast_3_2-URI rules alone": (
        {"include_uris/prefix": ("http://a.example/m/",)},
        "http://b.example/",
        False,
    ),
    "fast_2-start URIs have to pass": (
        {"include_domains/exact": ("b.example",)},
        "http://a.example/",
        False,
    ),
    "fast_vector_38-a scheme that is not allowed": ({}, "https://a.example/", False),
}


def test_which_uris_belong_to_a_collection(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (options, url, inside) in INSIDE.items():
        with subtests.test(name):
            compiled = rules(tmp_path, options)
            assert (compiled.boundary.rejects(url, seed=url in compiled.seeds) is None) is inside


def test_fast_vector_10_rewriting_goes_before_sorting(tmp_path: Path) -> None:
    policy = rules(tmp_path, {"rewrite_rules": ("#/old/#/new/#",), "sort_query_params": True}).url_policy
    assert policy.canonical("http://a.example/old/p?b=2&a=1&b=1") == "http://a.example/new/p?a=1&b=2&b=1"


FAILURES: dict[str, tuple[dict[str, Any], str, int, bool]] = {
    "fast_vector_11-first cycle": ({"http_errors/net": "DELETE:3, RETRY:1"}, "net", 2, False),
    "fast_vector_11-second cycle": ({"http_errors/net": "DELETE:3, RETRY:1"}, "net", 3, True),
    "fast_vector_12-nine times": ({"http_errors/5xx": "DELETE:10"}, "503", 9, False),
    "fast_vector_12-ten times": ({"http_errors/5xx": "DELETE:10"}, "503", 10, True),
    "fast_vector_13-the code": ({"http_errors/404": "KEEP", "http_errors/4xx": "DELETE"}, "404", 9, False),
    "fast_vector_13-the pattern": ({"http_errors/404": "KEEP", "http_errors/4xx": "DELETE"}, "410", 1, True),
    "fast_135-default": ({}, "404", 1, True),
    "fast_139-default": ({}, "ttl", 2, False),
    "fast_140-no rule": ({}, "304", 99, False),
}


def test_what_errors_do(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (options, error, count, deleted) in FAILURES.items():
        with subtests.test(name):
            compiled, retries = rules(tmp_path, options), source(tmp_path, options).limits.retries
            verdict = compiled.error_rules.judge(error, count, 0, retries)
            assert verdict.delete is deleted
            if not deleted:
                assert verdict.retry is ("RETRY" in str(options) or error == "net"), "only a rule tries again"


LEVELS = {
    "workqueue_priority/levels": 2,
    "workqueue_priority/default": 2,
    "workqueue_priority/put_scheme": "include",
    "workqueue_priority/1/share": 3,
    "workqueue_priority/1/include_domains/exact": ("a.example",),
}
POPS = {
    "fast_vector_16-wrr": ("wrr", "11121112"),
    "fast_vector_17-pri": ("pri", "11111111"),
    "fast_vector_18-rr": ("rr", "12121212"),
}


def test_levels_take_turns(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (scheme, order) in POPS.items():
        with subtests.test(name):
            made = source(tmp_path, {**LEVELS, "workqueue_priority/pop_scheme": scheme})
            compiled = compile_source(made)
            assert [compiled.levels.of(url) for url in ("http://a.example/x", "http://b.example/x")] == [1, 2]
            assert turns(compile_level_selector(made), len(order)) == order


def turns(selector: LevelSelector, count: int) -> str:
    return "".join(str(selector.choose(lambda level: True)) for _ in range(count))


HOPS: dict[str, tuple[bool, int]] = {
    "fast_vector_20-counted on": (False, 2),
    "fast_vector_21-counted anew": (True, 0),
}


def test_hops_behind_a_link_to_another_host(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (reset, hops) in HOPS.items():
        with subtests.test(name):
            options = {"crawlmode/mode": "DEPTH:1", "crawlmode/reset_level": reset}
            boundary = rules(tmp_path, options).boundary
            assert boundary.link_depth("http://b.example/3", "http://a.example/2", 1) == hops
            assert (boundary.rejects("http://b.example/3", hops) is None) is reset


def test_fast_201_202_other_hosts(tmp_path: Path) -> None:
    boundary = rules(tmp_path, {"crawlmode/fwdlinks": False}).boundary
    for kind in (LinkKind.A, LinkKind.REDIRECT):
        assert boundary.rejects("http://b.example/", 1, kind=kind, parent="http://a.example/"), kind


REFRESHES: dict[str, tuple[float, bool]] = {
    "fast_vector_22-quick": (3, True),
    "fast_vector_22-slow": (4, False),
}


def test_refresh_as_redirect(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (seconds, redirect) in REFRESHES.items():
        with subtests.test(name):
            assert source(tmp_path, {"html_redir_thresh": 3}).links.redirects(seconds) is redirect


def test_fast_vector_34_a_minor_cycle(tmp_path: Path) -> None:
    made = source(tmp_path, {"refresh_mode": "adaptive", "refresh": 1440, "adaptive/refresh_count": 4})
    assert made.refresh.rule.length(made.refresh.mode) == 360 * 60


def test_fast_vector_32_33_scores_are_those_of_the_defaults(tmp_path: Path) -> None:
    rule = source(tmp_path, {}).refresh.adaptive_rule(uses_sitemaps=False)
    assert (rule.coverage_min, rule.coverage_max_pct, rule.quota) == (25, 10, 90)
