"""From the user's text to a query tree; whatever is typed, the worst that comes out is a `UserError`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from ultracrawl.attributes.schema import AttributeType, SearchAttribute
from ultracrawl.errors import UserError
from ultracrawl.index.analysis import words
from ultracrawl.index.engine import SearchQuery
from ultracrawl.index.query import (
    EVERYTHING,
    NOTHING,
    AllOf,
    AnyOf,
    Between,
    Equal,
    FromSource,
    Node,
    Not,
    Phrase,
    Prefix,
    Word,
)
from ultracrawl.index.values import as_utc

MAX_DEPTH = 20
MAX_WORDS = 200
MAX_LENGTH = 4000

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |   (?P<paren>[()])
    |   "(?P<phrase>[^"]*)(?:"|$)
    |   (?P<operator>AND|OR|NOT)(?=[\s()"]|$)
    |   (?P<sign>(?<!:)[+-])(?=[^\s+)-])
    |   (?P<attribute>[^\W\d][\w.-]*):(?!//)(?=["(\w+*-])
    |   (?P<word>[^\s()"]+)""",
    re.VERBOSE,
)


def parse_query(query: SearchQuery, attributes: Mapping[str, SearchAttribute]) -> Node:
    """Return the tree of text, source and `where`; raises `UserError`, with the attributes known."""
    known = {name.casefold(): attribute for name, attribute in attributes.items()}
    nodes: list[Node] = []
    if query.text.strip():
        nodes.append(_Parser(query.text, known).parse() or NOTHING)
    if query.source:
        nodes.append(FromSource(query.source))
    wanted: dict[str, list[Node]] = {}
    for name, value in query.where:
        attribute = find_attribute(name, known)
        wanted.setdefault(attribute.name, []).append(_equal(attribute, value))
    nodes.extend(_any(choices) for choices in wanted.values())
    return _all(nodes)


def find_attribute(name: str, known: Mapping[str, SearchAttribute]) -> SearchAttribute:
    """Return the attribute of a name in any case, out of attributes by folded name, or raise `UserError`."""
    attribute = known.get(name.casefold())
    if attribute is None:
        names = ", ".join(sorted(attribute.name for attribute in known.values())) or "none"
        raise UserError(f"unknown search attribute {_shown(name)}; known are: {names}")
    return attribute


def parse_sort(sort: str, attributes: Mapping[str, SearchAttribute]) -> tuple[SearchAttribute | None, bool]:
    """Return the attribute to sort by, None for sorting by score, and whether the order is descending."""
    name = sort.strip().removeprefix("-")
    if not name:
        return None, False
    known = {key.casefold(): attribute for key, attribute in attributes.items()}
    return find_attribute(name, known), sort.strip().startswith("-")


class _Parser:
    """Recursive descent: alternatives, then a row of terms, then one term."""

    def __init__(self, text: str, known: Mapping[str, SearchAttribute]) -> None:
        if len(text) > MAX_LENGTH:
            raise UserError(f"the query is longer than {MAX_LENGTH} characters; shorten it")
        self._known = known
        self._tokens = [(m.lastgroup or "", m.group(m.lastgroup or 0)) for m in _TOKEN.finditer(text)]
        self._tokens = [token for token in self._tokens if token[0] != "space"]
        self._next = 0
        self._depth = 0
        self._words = 0

    def parse(self) -> Node | None:
        """Return the tree, or None if the text holds no word at all."""
        nodes: list[Node] = []
        while self._next < len(self._tokens):
            node = self._alternatives(None)
            if node is not None:
                nodes.append(node)
            self._take("paren", ")")
        return _all(nodes) if nodes else None

    def _take(self, kind: str, *texts: str) -> str:
        """Take the next token if it is of this kind and among these texts; an empty string means no."""
        if self._next < len(self._tokens):
            found, text = self._tokens[self._next]
            if found == kind and (not texts or text in texts):
                self._next += 1
                return text
        return ""

    def _alternatives(self, attribute: SearchAttribute | None) -> Node | None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UserError(f"the query nests parentheses deeper than {MAX_DEPTH}; simplify it")
        nodes = []
        while True:
            node = self._row(attribute)
            if node is not None:
                nodes.append(node)
            if not self._take("operator", "OR"):
                break
        self._depth -= 1
        return _any(nodes) if nodes else None

    def _row(self, attribute: SearchAttribute | None) -> Node | None:
        nodes = []
        while self._next < len(self._tokens) and self._tokens[self._next] not in _ROW_ENDS:
            node = self._term(attribute)
            if node is not None:
                nodes.append(node)
        return _all(nodes) if nodes else None

    def _term(self, attribute: SearchAttribute | None) -> Node | None:
        negative = False
        while (sign := self._take("operator", "NOT", "AND") or self._take("sign")) != "":
            negative ^= sign in ("NOT", "-")
        name = self._take("attribute")
        if name:
            attribute = find_attribute(name, self._known)
        node = self._primary(attribute)
        return Not(node) if negative and node is not None else node

    def _primary(self, attribute: SearchAttribute | None) -> Node | None:
        if self._take("paren", "("):
            node = self._alternatives(attribute)
            self._take("paren", ")")
            return node
        if self._next == len(self._tokens) or self._tokens[self._next] in _ROW_ENDS:
            return None
        kind, text = self._tokens[self._next]
        if kind not in ("phrase", "word"):
            return None
        self._next += 1
        return self._leaf(text, attribute, kind == "word" and text.endswith("*"))

    def _leaf(self, text: str, attribute: SearchAttribute | None, is_prefix: bool) -> Node | None:
        if attribute is not None and attribute.type is not AttributeType.STRING:
            return _equal(attribute, text)
        found = words(text)
        self._words += len(found)
        if self._words > MAX_WORDS:
            raise UserError(f"the query has more than {MAX_WORDS} words; shorten it")
        name = attribute.name if attribute else ""
        if not found:
            return None
        if is_prefix:
            return _all([*(Word(word, name) for word in found[:-1]), Prefix(found[-1], name)])
        return Word(found[0], name) if len(found) == 1 else Phrase(tuple(found), name)


_ROW_ENDS = (("paren", ")"), ("operator", "OR"))


def _all(nodes: list[Node]) -> Node:
    if not nodes:
        return EVERYTHING
    return nodes[0] if len(nodes) == 1 else AllOf(tuple(nodes))


def _any(nodes: list[Node]) -> Node:
    return nodes[0] if len(nodes) == 1 else AnyOf(tuple(nodes))


def _equal(attribute: SearchAttribute, value: str) -> Node:
    if attribute.type is AttributeType.STRING:
        return Equal(attribute.name, value.strip().lower())
    if attribute.type is AttributeType.NUMBER:
        return Equal(attribute.name, _number(attribute, value))
    return _span(attribute, value)


def _number(attribute: SearchAttribute, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UserError(
            f"{attribute.name} is a number, not {_shown(value)}; write for example {attribute.name}:42"
        )
    return number


def _span(attribute: SearchAttribute, value: str) -> Between:
    """Return the day, or the second (the microsecond if one is written), that the value names."""
    try:
        start = as_utc(datetime.fromisoformat(value.strip()))
        length = timedelta(days=1) if len(value.strip()) <= 10 else timedelta(seconds=1)
        if start.microsecond:
            length = timedelta(microseconds=1)
        return Between(attribute.name, start, start + length)
    except (ValueError, OverflowError):
        example = f"{attribute.name}:2024-05-01"
        raise UserError(
            f"{attribute.name} is a date, not {_shown(value)}; write for example {example}"
        ) from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
