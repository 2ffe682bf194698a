"""The rule sections of FAST collections, option by option (FAST 5.1 A and B, 5.2 to 5.5, 5.16, 5.27).

Each line names the number of its option, what a definition says, a URL that has to be inside and one outside.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from support.project import ANY_PORT

from ultracrawl.model import LinkKind
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.sources import compile_source, load_project, require

ALL = {"domains": {"include": ["*"]}}
ADDRESSES = {
    "h4.example": ["192.0.2.9"],
    "g4.example": ["198.51.100.15"],
    "h6.example": ["2001:db8:7:1::1"],
    "g6.example": ["2001:db8:8::1"],
}


def boundary(tmp_path: Path, options: dict[str, object], **top: object) -> Boundary:
    (tmp_path / "hosts.txt").write_text("# hosts\n\nsuffix .file.example\nexact: one.example\n")
    (tmp_path / "uris.txt").write_text("prefix http://a.example/file/\n")
    definition = {"sources": {"a": {"start_urls": ["http://a.example/"], "boundary": options, **top}}}
    path = tmp_path / "ultracrawl.yaml"
    path.write_text(yaml.safe_dump(definition))
    project = require(load_project(path))

    def addresses(host: str) -> Iterable[str]:
        return ADDRESSES.get(host, ())

    return compile_source(project.sources["a"], project, addresses).boundary


def included(rule: object) -> dict[str, object]:
    return {"domains": {"include": [rule]}}


def excluded(rule: object) -> dict[str, object]:
    return {"domains": {"include": ["*"], "exclude": [rule]}}


def uris(**rules: object) -> dict[str, object]:
    return {**ALL, "uris": {name: [rule] for name, rule in rules.items()}}


RULES: dict[str, tuple[dict[str, object], str, str]] = {
    "fast_4-schemes": ({**ALL, "schemes": ["http"]}, "http://b.example/", "https://b.example/"),
    "fast_6-extensions": (
        {**ALL, "exclude_extensions": [".png", "zip"]},
        "http://b/a.pngx?x.zip",
        "http://b/a.ZIP",
    ),
    "fast_69-exact": (
        {**included({"exact": "www.b.example"}), "ports": ANY_PORT},
        "http://WWW.b.example:81/",
        "http://x.www.b.example/",
    ),
    "fast_70-prefix": (included({"prefix": "docs-"}), "http://docs-x.example/", "http://xdocs-.example/"),
    "fast_71-suffix": (included({"suffix": ".in.example"}), "http://a.in.example/", "http://in.example.org/"),
    "fast_72-regexp": (
        included({"regexp": r"(shop|store)[0-9]+\.b\.example"}),
        "http://store12.b.example/",
        "http://store12.b.example.org/",
    ),
    "fast_73-ipmask": (included({"mask": "192.0.2.0/25"}), "http://h4.example/", "http://g4.example/"),
    "fast_73-ipmask as a range": (
        included({"mask": "198.51.100.10-20"}),
        "http://g4.example/",
        "http://h4.example/",
    ),
    "fast_73-ipmask with a mask": (
        included({"mask": "192.0.2.0:255.255.255.0"}),
        "http://h4.example/",
        "http://g4.example/",
    ),
    "fast_74-ip6mask": (included({"mask": "2001:db8:7::/48"}), "http://h6.example/", "http://g6.example/"),
    "fast_75-file": (included({"file": "hosts.txt"}), "http://x.file.example/", "http://two.example/"),
    "fast_75-line without a kind": (
        included({"file": "hosts.txt"}),
        "http://one.example/",
        "http://x.one.example/",
    ),
    "fast_76-exact": (
        excluded({"exact": "www.b.example"}),
        "http://x.www.b.example/",
        "http://www.b.example/",
    ),
    "fast_77-prefix": (excluded({"prefix": "dev-"}), "http://x-dev-.example/", "http://dev-1.example/"),
    "fast_78-suffix": (
        excluded({"suffix": ".test.example"}),
        "http://test.example/",
        "http://a.test.example/",
    ),
    "fast_79-regexp": (excluded({"regexp": r"mirror[0-9]+\..*"}), "http://mirror.b/", "http://mirror7.b/"),
    "fast_80-ipmask": (excluded({"mask": "192.0.2.0/24"}), "http://g4.example/", "http://h4.example/"),
    "fast_81-ip6mask": (excluded({"mask": "2001:db8:7::/48"}), "http://g6.example/", "http://h6.example/"),
    "fast_82-file": (excluded({"file": "hosts.txt"}), "http://two.example/", "http://x.file.example/"),
    "fast_83-exact": (
        uris(include={"exact": "http://A.example:80/x"}),
        "http://a.example/x",
        "http://a.example/x/",
    ),
    "fast_84-prefix": (
        uris(include={"prefix": "http://a.example/m/"}),
        "http://a.example/m/x",
        "https://a.example/m/x",
    ),
    "fast_85-suffix": (
        uris(include={"suffix": "/index.html"}),
        "http://b/x/index.html",
        "http://b/x/index.html?a=1",
    ),
    "fast_86-regexp": (
        uris(include={"regexp": r"https?://[a-z]+\.example/news/20[0-9]{2}/.*"}),
        "http://a.example/news/2024/x",
        "http://a.example/x/news/2024/x",
    ),
    "fast_87-file": (uris(include={"file": "uris.txt"}), "http://a.example/file/x", "http://a.example/x"),
    "fast_88-exact": (
        uris(exclude={"exact": "http://a.example/old"}),
        "http://a.example/old/",
        "http://a.example/old",
    ),
    "fast_89-prefix": (
        uris(exclude={"prefix": "http://a.example/d/"}),
        "http://a.example/d",
        "http://a.example/d/x",
    ),
    "fast_90-suffix": (
        uris(exclude={"suffix": "/print.html"}),
        "http://b/print.htm",
        "http://b/x/print.html",
    ),
    "fast_91-regexp": (
        uris(exclude={"regexp": r".*[?&]print=1.*"}),
        "http://b/?xprint=1",
        "http://b/?a=b&print=1",
    ),
    "fast_92-file": (uris(exclude={"file": "uris.txt"}), "http://a.example/x", "http://a.example/file/x"),
    "fast_3_2-an empty section is none": (
        {**ALL, "uris": {"include": [], "exclude": []}},
        "http://b/",
        "ftp://b/",
    ),
    "fast_3_2-exclusion wins": (
        {**included(".b.example"), "uris": {"exclude": [{"prefix": "http://x.b.example/"}]}},
        "http://b.example/",
        "http://x.b.example/",
    ),
}


@pytest.mark.parametrize(("options", "inside", "outside"), RULES.values(), ids=RULES)
def test_rules(tmp_path: Path, options: dict[str, object], inside: str, outside: str) -> None:
    rules = boundary(tmp_path, options)
    assert (rules.rejects(inside), rules.rejects(outside) is not None) == (None, True)
    assert rules.check(outside).rule == rules.rejects(outside)


MODES: dict[str, tuple[dict[str, object], object, list[bool]]] = {
    "fast_200-FULL": ({}, "FULL", [True, True, True, True]),
    "fast_200-DEPTH:2": ({}, 2, [True, True, True, False]),
    "fast_200-DEPTH:0": ({}, 0, [True, False, False, False]),
}


@pytest.mark.parametrize(("options", "depth", "expected"), MODES.values(), ids=MODES)
def test_depth(tmp_path: Path, options: dict[str, object], depth: object, expected: list[bool]) -> None:
    rules = boundary(tmp_path, {**ALL, **options}, depth=depth)
    assert [rules.rejects("http://b.example/", steps) is None for steps in range(4)] == expected


HOSTS: dict[str, tuple[dict[str, bool], LinkKind, bool]] = {
    "fast_201-links to other hosts": ({"links": True}, LinkKind.A, True),
    "fast_201-no links to other hosts": ({"links": False}, LinkKind.A, False),
    "fast_202-redirects to other hosts": ({"redirects": True}, LinkKind.REDIRECT, True),
    "fast_202-no redirects to other hosts": ({"redirects": False}, LinkKind.REDIRECT, False),
}


@pytest.mark.parametrize(("options", "kind", "inside"), HOSTS.values(), ids=HOSTS)
def test_other_hosts(tmp_path: Path, options: dict[str, bool], kind: LinkKind, inside: bool) -> None:
    rules = boundary(tmp_path, {**ALL, "other_hosts": options})
    rule = rules.rejects("http://b.example/", 1, kind=kind, parent="http://a.example/")
    assert (rule is None) is inside
    assert rules.rejects("http://a.example/x", 1, kind=kind, parent="http://a.example/") is None


@pytest.mark.parametrize(("reset", "depth"), [(True, 0), (False, 4)], ids=["fast_203-yes", "fast_203-no"])
def test_another_host_begins_anew(tmp_path: Path, reset: bool, depth: int) -> None:
    rules = boundary(tmp_path, {**ALL, "other_hosts": {"reset_depth": reset}})
    assert rules.link_depth("http://b.example/", "http://a.example/", 3) == depth
    assert rules.link_depth("http://a.example/x", "http://a.example/", 3) == 4
