"""The sections politeness, sites and priority: what they compile to, and mistakes in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.sentences import sentence

from ultracrawl.sources import CompiledSource, compile_source, load_project, require
from ultracrawl.sources.compilation.pace import compile_level_selector


def write(folder: Path, **options: Any) -> Path:
    file = folder / "ultracrawl.yaml"
    source = {"start_urls": ["https://www.example.com/"], **options}
    file.write_text(yaml.safe_dump({"sources": {"s": source}}, sort_keys=False))
    return file


def compiled(folder: Path, **options: Any) -> CompiledSource:
    project = require(load_project(write(folder, **options)))
    return compile_source(project.sources["s"], project)


MISTAKES: dict[str, tuple[dict[str, Any], str, str]] = {
    "span": (
        {"politeness": {"variable_delay": {"Monday": 3}}},
        sentence("definitions.monday_not_span_week_does"),
        "Mon:08.30-Fri:17.45",
    ),
    "value of a span": ({"politeness": {"variable_delay": {"Mon:08-Mon:09": "often"}}}, "often", "suspend"),
    "value below 0": ({"politeness": {"variable_delay": {"Mon:08-Mon:09": -1}}}, "-1", "suspend"),
    "fast_149": ({"priority": {"default": 3}}, "`default` is level 3, and there are 1", "raise `levels`"),
    "fast_148": (
        {"priority": {"levels": 2, "level": {4: {"share": 2}}}},
        "level 4 is described",
        "levels: 4",
    ),
    "fast_10-chain": ({"sites": {"aliases": {"a": "b", "b": "c"}}}, "an alias itself", "name the host"),
    "fast_10-url": (
        {"sites": {"aliases": {"http://a/": "b"}}},
        sentence("values.not_host_name"),
        "write the host alone",
    ),
    "fast_10-no file": ({"sites": {"alias_files": ["missing.txt"]}}, "missing.txt", "one rule a line"),
}


def test_mistakes(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (options, problem, instead) in MISTAKES.items():
        with subtests.test(name):
            loaded = load_project(write(tmp_path, **options))
            assert loaded.project is None
            (finding,) = loaded.findings
            text = str(finding)
            assert problem in text
            assert instead in text


def test_a_line_of_an_alias_file_without_aliases_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("main.example.com alias.example.com\nlonely.example.com\n")
    text = str(load_project(write(tmp_path, sites={"alias_files": "m.txt"})).findings[0])
    assert sentence("definitions.alias_line") in text


def test_fast_10_aliases_from_files_and_options(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("www.example.com: a.example.com, B.example.com  # copies\n\n")
    rules = compiled(
        tmp_path, sites={"alias_files": ["m.txt"], "aliases": {"a.example.com": "x.example.com"}}
    )
    canonical = rules.url_policy.canonical
    assert (
        canonical("http://b.example.com:8080/p?b.example.com")
        == "http://www.example.com:8080/p?b.example.com"
    )
    assert canonical("https://a.example.com/") == "https://x.example.com/"
    assert canonical("/p", "https://b.example.com/q") == "https://www.example.com/p"
    assert canonical("mailto:a@b") is None
    decision = rules.url_policy.canonicalise("https://b.example.com/").decision
    assert (decision.stage, decision.rule) == ("rewrite", "aliases")
    assert rules.scope != compiled(tmp_path).scope


@pytest.mark.parametrize(
    ("url", "level"),
    [
        ("https://www.example.com/", 2),
        ("https://news.example.com/a", 1),
        ("https://www.example.com/manuals/a", 2),
        ("https://news.example.com/manuals/", 1),
        ("https://www.example.com/other", 3),
    ],
)
def test_fast_152_levels_are_tried_from_1_on(tmp_path: Path, url: str, level: int) -> None:
    priority: dict[str, Any] = {
        "levels": 3,
        "default": 3,
        "start": 2,
        "put_scheme": "include",
        "level": {
            2: {"uris": ["https://www.example.com/manuals/", {"suffix": "/manuals/"}]},
            1: {"share": 6, "hosts": ["news.example.com"]},
        },
    }
    assert compiled(tmp_path, priority=priority).levels.of(url) == level
    priority["put_scheme"] = "default"
    assert compiled(tmp_path, priority=priority).levels.of(url) == (2 if url.endswith("com/") else 3)


def test_fast_153_a_missing_share_is_1(tmp_path: Path) -> None:
    project = require(load_project(write(tmp_path, priority={"levels": 3, "level": {1: {"share": 6}}})))
    assert compile_level_selector(project.sources["s"])._shares == [6, 1, 1]


@pytest.mark.parametrize(
    ("sites", "host", "group"),
    [
        ({}, "www.example.co.uk", "www.example.co.uk"),
        ({"domain_clustering": True}, "www.example.co.uk", "example.co.uk"),
        ({"domain_clustering": True}, "192.0.2.1", "192.0.2.1"),
        ({"clusters": {"shop": ["a.example.com", "b.example.net"]}}, "b.example.net", "cluster shop"),
        ({"clusters": {"x": ["a.test"], "y": ["a.test"]}}, "a.test", "cluster x"),
        ({"clusters": {"x": "www.a.com"}, "domain_clustering": True}, "www.a.com", "cluster x"),
        ({"clusters": {"x": "www.a.com"}, "domain_clustering": True}, "ftp.a.com", "a.com"),
    ],
    ids=[
        "fast_19-host",
        "fast_19-domain",
        "address",
        "fast_199",
        "fast_199-two groups",
        "199 first",
        "19 then",
    ],
)
def test_groups_of_hosts(tmp_path: Path, sites: dict[str, Any], host: str, group: str) -> None:
    grouping = compiled(tmp_path, sites=sites).grouping
    assert grouping.of(host) == group
    assert bool(grouping) is bool(sites)


def test_pace_is_compiled(tmp_path: Path) -> None:
    pace = compiled(
        tmp_path,
        politeness={
            "delay": 3,
            "concurrency": 4,
            "per_address": True,
            "variable_delay": {"Mon:08-Mon:09": 30, "Tue:02-Tue:04": "suspend"},
            "backoff": {"longest": 7, "limit": 8},
            "throttle": 0.5,
        },
        limits={"pages_per_site": 2},
    ).pace
    assert (pace.delay, pace.concurrency, pace.per_address, pace.throttle) == (3, 2, True, 0.5)
    assert (pace.backoff.longest, pace.backoff.limit) == (7, 8)
    assert [span.delay for span in pace.week.spans] == [30, None]
