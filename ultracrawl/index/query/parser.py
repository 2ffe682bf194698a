"""From the user's text to a query tree; no input raises anything but a `UserError`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ultracrawl.errors import UserError
from ultracrawl.index.engine import SearchQuery
from ultracrawl.index.filters import Filter, Operator, comparison
from ultracrawl.index.query import tree
from ultracrawl.index.query.addresses import URL, at_address
from ultracrawl.index.query.conditions import condition, find_attribute, named_condition
from ultracrawl.index.query.identifiers import identifier
from ultracrawl.index.words.analysis import cut, fold, is_pair
from ultracrawl.index.words.stemming import stems
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

MAX_DEPTH = 20
MAX_WORDS = 200
MAX_LENGTH = 4000

_QUOTES = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"')
"""Quotation marks that telephones and word processors make of the plain one."""

_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |   (?P<paren>[()])
    |   "(?P<phrase>[^"]*)(?:"|$)
    |   (?P<operator>AND|OR|NOT)(?=[\s()"]|$)
    |   (?P<sign>(?<!:)[+-])(?=[^\s+)-])
    |   (?P<url>(?i:{URL}))
    |   (?P<attribute>[^\W\d][\w.-]*):(?!//)(?=["(\w+*<>=!-])
    |   (?P<compared>(?:(?<=:)(?:<=|>=|!=|<|>|=)(?:"[^"]*"|[^\s()"]+)))
    |   (?P<word>[^\s()"]+)""",
    re.VERBOSE,
)


def parse_query(query: SearchQuery, attributes: Mapping[str, SearchAttribute]) -> tree.Node:
    """Return the tree of text, source and `where`; raises `UserError`, with the attributes known."""
    known = {name.casefold(): attribute for name, attribute in attributes.items()}
    nodes: list[tree.Node] = []
    if query.text.strip():
        nodes.append(_Parser(query.text, known).parse() or tree.NOTHING)
    if sources := [source for source in (query.source, *query.sources) if source]:
        nodes.append(tree.any_of([tree.FromSource(source) for source in sources]))
    wanted: dict[str, list[tree.Node]] = {}
    for name, value in query.where:
        given = Filter(name, Operator.EQUAL, (value,))
        wanted.setdefault(name.casefold(), []).append(named_condition(given, known))
    nodes += [tree.any_of(choices) for choices in wanted.values()]
    nodes += [named_condition(given, known) for given in query.filters]
    return tree.all_of(nodes)


def parse_sort(sort: str, attributes: Mapping[str, SearchAttribute]) -> tuple[SearchAttribute | None, bool]:
    """Return the attribute to sort by, None for sorting by score, and whether the order is descending."""
    name = sort.strip().removeprefix("-")
    if not name:
        return None, False
    known = {key.casefold(): attribute for key, attribute in attributes.items()}
    return find_attribute(name, known), sort.strip().startswith("-")


def parse_facets(names: Iterable[str], attributes: Mapping[str, SearchAttribute]) -> list[SearchAttribute]:
    """Return the attributes whose values are to be counted; raises `UserError` for an unknown one."""
    known = {key.casefold(): attribute for key, attribute in attributes.items()}
    return [find_attribute(name.strip(), known) for name in names]


class _Parser:
    """Recursive descent: alternatives, then a row of terms, then one term."""

    def __init__(self, text: str, known: Mapping[str, SearchAttribute]) -> None:
        if len(text) > MAX_LENGTH:
            raise UserError(f"the query is longer than {MAX_LENGTH} characters; shorten it")
        self._known = known
        plain = text.translate(_QUOTES)
        self._tokens = [(m.lastgroup or "", m.group(m.lastgroup or 0)) for m in _TOKEN.finditer(plain)]
        self._tokens = [token for token in self._tokens if token[0] != "space"]
        self._next = 0
        self._depth = 0
        self._words = 0

    def parse(self) -> tree.Node | None:
        """Return the tree, or None if the text holds no word at all."""
        nodes: list[tree.Node] = []
        while self._next < len(self._tokens):
            node = self._alternatives(None)
            if node is not None:
                nodes.append(node)
            self._take("paren", ")")
        return tree.all_of(nodes) if nodes else None

    def _take(self, kind: str, *texts: str) -> str:
        """Take the next token if it is of this kind and among these texts; an empty string means no."""
        if self._next < len(self._tokens):
            found, text = self._tokens[self._next]
            if found == kind and (not texts or text in texts):
                self._next += 1
                return text
        return ""

    def _alternatives(self, attribute: SearchAttribute | None) -> tree.Node | None:
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
        return tree.any_of(nodes) if nodes else None

    def _row(self, attribute: SearchAttribute | None) -> tree.Node | None:
        nodes = []
        while self._next < len(self._tokens) and self._tokens[self._next] not in _ROW_ENDS:
            node = self._term(attribute)
            if node is not None:
                nodes.append(node)
        return tree.all_of(nodes) if nodes else None

    def _term(self, attribute: SearchAttribute | None) -> tree.Node | None:
        negative = False
        while (sign := self._take("operator", "NOT", "AND") or self._take("sign")) != "":
            negative ^= sign in ("NOT", "-")
        name = self._take("attribute")
        if name:
            attribute = find_attribute(name, self._known)
        node = self._primary(attribute)
        return tree.Not(node) if negative and node is not None else node

    def _primary(self, attribute: SearchAttribute | None) -> tree.Node | None:
        if self._take("paren", "("):
            node = self._alternatives(attribute)
            self._take("paren", ")")
            return node
        if self._next == len(self._tokens) or self._tokens[self._next] in _ROW_ENDS:
            return None
        kind, text = self._tokens[self._next]
        if kind not in ("phrase", "word", "compared", "url"):
            return None
        self._next += 1
        if kind == "compared" and attribute is not None:
            sign = text[: 2 if text[1:2] == "=" else 1]
            return condition(comparison(attribute.name, sign, text[len(sign) :].strip('"')), attribute)
        if attribute is not None and attribute.type is not AttributeType.STRING:
            return condition(comparison(attribute.name, "=", text), attribute)
        return self._leaf(kind, text, attribute.name if attribute else "")

    def _leaf(self, kind: str, text: str, name: str) -> tree.Node | None:
        found = cut(text)
        self._words += len(found)
        if self._words > MAX_WORDS:
            raise UserError(f"the query has more than {MAX_WORDS} words; shorten it")
        if not found:
            return None
        if kind == "url" and not name and (page := at_address(text)) is not None:
            return page
        folded = [fold(word) for word in found]
        is_phrase = kind == "phrase"
        is_prefix = not is_phrase and text.endswith("*")
        if len(folded) > 1 and is_pair(folded[-1]) and folded[-2][1:] == folded[-1]:
            # The last character of a run, alone, need not be the last of a run in the document.
            del folded[-1]
        elif is_pair(folded[-1]) and len(folded) == len(folded[-1]) == 1:
            is_prefix = True
        if is_prefix:
            return tree.all_of(
                [*(tree.Word(word, name) for word in folded[:-1]), tree.Prefix(folded[-1], name)]
            )
        if is_phrase or (name and len(folded) > 1):
            return tree.Phrase(tuple(folded), name)
        if name:
            return tree.Word(folded[0], name)
        written = tree.Phrase(tuple(folded)) if len(folded) > 1 else tree.Word(folded[0], "", stems(found[0]))
        return identifier(text, written)


_ROW_ENDS = (("paren", ")"), ("operator", "OR"))
