"""Names of code and configuration are found whole and by their parts, on every engine."""

from __future__ import annotations

import pytest

from ultracrawl.index import SearchQuery
from ultracrawl.index.query import tree
from ultracrawl.index.query.parser import parse_query
from ultracrawl.index.words.identifiers import word_parts

NAMES = {
    "tcp_syncookies": ("tcp", "syncookies"),
    "HashMap": ("hash", "map"),
    "getElementById": ("get", "element", "by", "id"),
    "XMLHttpRequest": ("xml", "http", "request"),
    "IOError": ("io", "error"),
    "utf8mb4": ("utf8", "mb4"),
    "Base64Encoder": ("base64", "encoder"),
    "__init__": ("init",),
    "gr\u00f6\u00dfeMax": ("grosse", "max"),
    "E0502": (),
    "URLs": (),
    "Heron": (),
    "x_1": (),
    "0x7fff": (),
    "a_b" * 40: (),
}


@pytest.mark.parametrize(("name", "parts"), NAMES.items(), ids=[name[:20] for name in NAMES])
def test_the_parts_of_a_word(name: str, parts: tuple[str, ...]) -> None:
    assert word_parts(name) == parts


def parsed(text: str) -> tree.Node:
    return parse_query(SearchQuery(text), {})


def words_of(node: tree.Node) -> set[str]:
    return {leaf.word for leaf in tree.sought(node) if isinstance(leaf, tree.Word)}


def test_a_name_in_a_query_is_itself_or_looser_its_parts() -> None:
    node = parsed("std::HashMap::with_capacity")
    assert isinstance(node, tree.Identifier)
    assert node.whole == tree.Phrase(("std", "hashmap", "with_capacity"))
    assert words_of(node) == {"std", "hashmap", "with_capacity"}
    assert words_of(node.parts) == {"std", "hash", "map", "hashmap", "with", "capacity", "with_capacity"}


@pytest.mark.parametrize(
    "text", ["heron", "\u6771\u4eac\u30bf\u30ef\u30fc", '"HashMap"', "HashM*", "Stra\u00dfe"]
)
def test_what_is_no_name_has_no_parts(text: str) -> None:
    assert not isinstance(parsed(text), tree.Identifier)
