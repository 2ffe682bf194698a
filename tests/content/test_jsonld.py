"""JSON-LD in pages: paths, lists, graphs, broken scripts; and that it is read only when it is asked for."""

from __future__ import annotations

import pytest
from support.until import bounded

from ultracrawl.content.html.jsonld import jsonld_attributes
from ultracrawl.content.reader import PageReader
from ultracrawl.model import Page

PAGE = Page(charset="utf-8")


def script(text: str, kind: str = "application/ld+json") -> bytes:
    return f'<html><script type="{kind}">{text}</script><p>words</p>'.encode()


CASES: dict[str, tuple[bytes, dict[str, list[str]]]] = {
    "only mentioned": (b'<html><p>ld+json</p><script>{"a": 1}</script>', {}),
    "none": (b"<html><p>words", {}),
    "plain": (
        script('{"@type": "Article", "headline": "H", "datePublished": "2024-01-02"}'),
        {"jsonld.type": ["Article"], "jsonld.headline": ["H"], "jsonld.datepublished": ["2024-01-02"]},
    ),
    "nested and lists": (
        script('{"author": [{"name": "A"}, {"name": "B"}, {"name": "A"}]}'),
        {"jsonld.author.name": ["A", "B"]},
    ),
    "graph": (
        script('{"@graph": [{"name": "A"}, {"price": 5}]}'),
        {"jsonld.name": ["A"], "jsonld.price": ["5"]},
    ),
    "list at the top": (script('[{"name": "A"}]'), {"jsonld.name": ["A"]}),
    "two scripts": (script('{"a": "1"}') + script('{"a": "2"}'), {"jsonld.a": ["1", "2"]}),
    "comment around": (script('<!-- {"a": "1"} -->'), {"jsonld.a": ["1"]}),
    "line break in a text": (script('{"a": "1\n2"}'), {"jsonld.a": ["1\n2"]}),
    "single quotes, upper case": (
        b'<SCRIPT TYPE=\'application/ld+json\' id=x>{"a": "1"}</SCRIPT>',
        {"jsonld.a": ["1"]},
    ),
    "broken": (script('{"a": '), {}),
    "no object": (script('"a"'), {}),
    "null and true": (script('{"a": null, "b": true, "c": ""}'), {}),
    "another script": (script('{"a": "1"}', "text/javascript"), {}),
    "too deep": (script('{"a":' * 10 + "1" + "}" * 10), {}),
    "much too deep": (script('{"a":' * 100_000), {}),
}


def test_jsonld(subtests: pytest.Subtests) -> None:
    for case, (body, expected) in CASES.items():
        with subtests.test(case):
            assert jsonld_attributes(body, PAGE) == expected


def test_jsonld_is_read_on_request_only() -> None:
    body = script('{"headline": "H"}')
    asked = PageReader(jsonld=True).read(body, "http://h.example/", "text/html")
    unasked = PageReader().read(body, "http://h.example/", "text/html")
    assert asked is not None
    assert unasked is not None
    assert asked.meta["jsonld.headline"] == ["H"]
    assert unasked.meta == {}


def test_jsonld_takes_linear_time() -> None:
    with bounded():
        jsonld_attributes(b'<script type="application/ld+json">' * 100_000, PAGE)
        jsonld_attributes(b"<script " * 300_000 + b"ld+json", PAGE)
