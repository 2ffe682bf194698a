"""Items of lists are added to a definition: nothing else of the file changes, however it is written."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ultracrawl.sources.editing.additions import NoPlaceError, with_items
from ultracrawl.sources.editing.excerpt import Excerpt, find_excerpt
from ultracrawl.sources.reading.locations import DefinitionText

AFTER = "    # of s\n  t: {depth: 3}   # the other\n"


def excerpt(text: str, stem: str = "ultracrawl") -> Excerpt:
    found = find_excerpt(DefinitionText("ultracrawl.yaml", stem, text), "s")
    assert found is not None
    return found


def source(lines: str) -> str:
    return f"# sources\nsources:\n  s:\n    start_urls: [http://a/]  # first\n{lines}{AFTER}"


ADDITIONS = [
    ("", "    urls: {normalise: [www]}\n"),
    ("    urls: {remove_params: x}  # one\n", "    urls: {remove_params: x, normalise: [www]}  # one\n"),
    ("    urls: {}\n", "    urls: {normalise: [www]}\n"),
    ("    urls:\n", "    urls: {normalise: [www]}\n"),
    ("    urls:\n      remove_params: x\n", "    urls:\n      remove_params: x\n      normalise: [www]\n"),
    ("    urls: {normalise: https}\n", "    urls: {normalise: [https, www]}\n"),
    ("    urls: {normalise: 'https'}\n", "    urls: {normalise: ['https', www]}\n"),
    ("    urls: {normalise: [https, ]}\n", "    urls: {normalise: [https, www, ]}\n"),
    ("    urls: {normalise: []}\n", "    urls: {normalise: [www]}\n"),
    ("    urls:\n      normalise:\n", "    urls:\n      normalise: [www]\n"),
    (
        "    urls:\n      normalise:\n      - https   # one\n        # of it\n",
        "    urls:\n      normalise:\n      - https   # one\n        # of it\n      - www\n",
    ),
    (
        "    urls:\n      normalise: [\n        https,  # one\n      ]\n",
        "    urls:\n      normalise: [\n        https, www,  # one\n      ]\n",
    ),
]  # fmt: skip


def test_an_item_is_added_where_its_list_is(subtests: pytest.Subtests) -> None:
    for lines, added in ADDITIONS:
        with subtests.test(lines):
            text = with_items(excerpt(source(lines)), ("urls", "normalise"), ["www"], [])
            assert text == source(added)


def test_an_inherited_list_is_written_out() -> None:
    text = with_items(excerpt(source("")), ("exclude",), ["/b/"], ["/a/"])
    assert text == source("    exclude: [/a/, /b/]\n")


@pytest.mark.parametrize(
    "lines",
    [
        "    boundary: {uris: {exclude: {suffix: /x}}}\n",
        "    boundary:\n      uris:\n        exclude:\n          - suffix: /x\n",
        "    boundary:\n      uris:\n        exclude: [{suffix: /x}]\n",
    ],
)
def test_rules_of_any_shape_are_added(lines: str) -> None:
    rule: Any = {"regexp": r".*[?&]a: 'b'\.([=&?].*)?"}
    text = with_items(excerpt(source(lines)), ("boundary", "uris", "exclude"), [rule], [])
    assert yaml.safe_load(text)["sources"]["s"]["boundary"]["uris"]["exclude"] == [{"suffix": "/x"}, rule]
    assert text.endswith(AFTER)


def test_a_file_with_one_source_and_with_other_line_ends() -> None:
    one = excerpt("start_urls: [http://a/]\r\ndepth: 3", "s")
    assert (
        with_items(one, ("exclude",), ["/b/"], []) == "start_urls: [http://a/]\r\ndepth: 3\r\nexclude: [/b/]"
    )


def test_a_source_between_braces() -> None:
    text = "sources: {s: {start_urls: [http://a/]}, t: {depth: 3}}\n"
    expected = "sources: {s: {start_urls: [http://a/], exclude: [/b/]}, t: {depth: 3}}\n"
    assert with_items(excerpt(text), ("exclude",), ["/b/"], []) == expected


@pytest.mark.parametrize(
    "text",
    [
        "u: &u {normalise: [https]}\nsources:\n  s:\n    start_urls: [http://a/]\n    urls: *u\n",
        "sources:\n  s:\n    start_urls: [http://a/]\n    urls: 3\n",
        "sources:\n  s:\n    start_urls: [http://a/]\n    urls:\n      normalise:\n        https: 3\n",
    ],
    ids=["alias", "no group", "no list"],
)
def test_nothing_is_added_where_that_would_change_more(text: str) -> None:
    with pytest.raises(NoPlaceError):
        with_items(excerpt(text), ("urls", "normalise"), ["www"], [])
