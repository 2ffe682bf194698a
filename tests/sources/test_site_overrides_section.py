"""The section `sites.overrides`: mistakes, each with its line, all at once, and what is written back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.one_source import load_one

from ultracrawl.sources import compile_source, definition_text, load_project

HEAD = "    sites:\n      overrides:\n"


def load(folder: Path, written: str) -> Any:
    return load_one(folder, HEAD + written)


REFUSED = [
    ("politeness: {per_address: true}", "`politeness` of the source"),
    ("limits: {pages: 3}", "`limits` of the source"),
    ("limits: {seconds: 3}", "`limits` of the source"),
    ("limits: {bytes: 3 MB}", "`limits` of the source"),
    ("limits: {documents: 3}", "`limits` of the source"),
    ("limits: {disk_free: 3}", "`limits` of the source"),
    ("limits: {url_length: 99}", "`limits` of the source"),
    ("refresh: {interval: 3 h}", "`refresh.interval`"),
    ("refresh: {mode: scratch}", "`refresh.mode`"),
    ("refresh: {adaptive: {on: true}}", "`refresh.adaptive`"),
    ("javascript: {pages: 3}", "`javascript` of the source"),
    ("javascript: {hash_routes: true}", "`javascript` of the source"),
]


def test_options_of_all_sites_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for option, instead in REFUSED:
        with subtests.test(option):
            (finding,) = load(tmp_path, f"        h.example:\n          {option}\n").findings
            assert (finding.line, finding.fatal) == (7, True)
            assert instead in finding.instead


def test_all_mistakes_are_reported_at_once_each_at_its_line(tmp_path: Path) -> None:
    written = """\
        h.example/path: {}
        h.example:
          politeness:
            delay: -3
            per_address: true
          limits:
            pages: 3
            url_length: 7
            pages_per_site: 0
          colour: red
        H.example:
          limits: {max_size: 3}
        .com:
          authentication: {me: {user: a, password: "${PW}", url: "https://h/"}}
"""
    findings = load(tmp_path, written).findings
    fatal = sorted((one.line, one.key.rpartition(".")[2]) for one in findings if one.fatal)
    assert [line for line, _ in fatal] == [6, 9, 10, 12, 13, 14, 15, 16, 19, 19]
    assert {name for _, name in fatal} >= {"delay", "per_address", "pages", "url_length", "colour", "url"}


@pytest.mark.parametrize("site", [".com", ".co.uk", ".github.io"])
def test_no_password_for_hosts_of_strangers(tmp_path: Path, site: str) -> None:
    password = f'        {site}: {{authentication: {{me: {{user: a, password: "${{PW}}"}}}}}}\n'
    assert any("different owners" in one.problem for one in load(tmp_path, password).findings)
    assert not load(tmp_path, f"        {site}: {{limits: {{retries: 1}}}}\n").findings


def test_what_is_not_written_is_that_of_the_source(tmp_path: Path) -> None:
    written = """\
        h.example:
          politeness: {concurrency: 1, backoff: {limit: 3}}
    politeness: {delay: 7, backoff: {longest: 9, limit: 5}}
    limits: {timeout: 4}
"""
    source = load(tmp_path, written).project.sources["s"]
    overlay = compile_source(source).overlay_of("https://h.example/")
    assert overlay is not None
    there = overlay.source
    assert (there.politeness.delay, there.politeness.concurrency, there.limits.timeout) == (7, 1, 4)
    assert (there.politeness.backoff.longest, there.politeness.backoff.limit) == (9, 3)


def test_a_definition_that_is_written_keeps_options_equal_to_defaults(tmp_path: Path) -> None:
    written = """\
        h.example: {politeness: {delay: 1}, javascript: {use: false}, limits: {retry_delay: 2}}
        .other.example: {content: {include: "#a"}, refresh: {conditional: true}}
    politeness: {delay: 7}
    javascript: {use: true}
    refresh: {conditional: false}
"""
    before = load(tmp_path, written).project
    text = definition_text(before, tmp_path)
    (tmp_path / "ultracrawl.yaml").write_text(text)
    after = load_project(tmp_path / "ultracrawl.yaml").project
    assert definition_text(after, tmp_path) == text
    rules = [compile_source(project.sources["s"]).overlays.values for project in (before, after)]
    assert [[(key, one.options) for key, one in values.items()] for values in rules] == [
        [
            ("h.example", ("javascript.use", "limits.retry_delay", "politeness.delay")),
            (".other.example", ("content.include", "refresh.conditional")),
        ]
    ] * 2
    for key, one in rules[0].items():
        assert rules[1][key].source == one.source
