"""Parses the user's text into a query tree; invalid input raises only `UserError`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ultracrawl.errors import UserError
from ultracrawl.index.engine import QueryFlaw, Reading, SearchQuery, SearchResult
from ultracrawl.index.filters import Filter, Operator, comparison
from ultracrawl.index.query import tree
from ultracrawl.index.query.completion import completion_node
from ultracrawl.index.query.conditions import condition, find_attribute, known_attribute, named_condition
from ultracrawl.index.query.identifiers import identifier, is_qualified, with_operators
from ultracrawl.index.query.readings import Term, TermSequence
from ultracrawl.index.query.scoring import PINNED_SCORE
from ultracrawl.index.query.synonyms import with_synonyms
from ultracrawl.index.query.url_queries import URL, url_node
from ultracrawl.index.query.visibility import hides_any, visible_to
from ultracrawl.index.words.analysis import WORD_PATTERN, fold, is_bigram, tokenise, words
from ultracrawl.index.words.stemming import language_code, stems
from ultracrawl.index.words.stopwords import query_languages, stop_words_among
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

MAX_DEPTH = 20
MAX_WORDS = 200
MAX_LENGTH = 4000
MIN_SENTENCE_WORDS = 5
"""Words from which a query may be a sentence copied from a document; one less if it has a stop word, because a topic
has none."""

_QUOTES = dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"')
"""Typographic quotation marks that phones and word processors insert."""

_TOKEN = re.compile(
    rf"""(?P<space>\s+)
    |   (?P<paren>[()])
    |   "(?P<phrase>[^"]*)(?:"|$)
    |   (?P<operator>AND|OR|NOT)(?=[\s()"]|$)
    |   (?P<sign>(?<!:)[+-])(?=[^\s+)>=-])(?=\S*[\w"(])
    |   (?P<url>(?i:{URL}))
    |   (?P<attribute>[^\W\d][\w.-]*):(?!//)(?=["(\w+*<>=!-])
    |   (?P<compared>(?:(?<=:)(?:<=|>=|!=|<|>|=)(?:"[^"]*"|[^\s()"]+)))
    |   (?P<word>operator\(\)|[^\s()"]+)""",
    re.VERBOSE,
)


_OF_WORDS = frozenset(("word", "paren"))
"""The kinds of tokens of a query without operators, signs, attributes, URLs and phrases."""
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_find_inner_asterisk = re.compile(r"\w\*\w").search
_WORD = r'[^\s()"]+'
"""A word as it is written; only compiled for a query that needs it."""
Token = tuple[str, str]
"""The group of `_TOKEN` that it is, and its text."""


def _tokens(text: str, is_attribute: Callable[[str], bool] = lambda _: True) -> list[Token]:
    """Return the tokens of a query.

    What stands before a colon and is no attribute is part of a word: `node:fs`, `localhost:8080`. An operator that does
    not stand between two terms, as in `NOT NULL` or `this AND`, is a word.
    """
    plain = text.translate(_QUOTES)
    found, at = list[Token](), 0
    while token := _TOKEN.match(plain, at):
        kind = token.lastgroup or ""
        written = token[kind]
        at = token.end()
        if (
            kind == "attribute"
            and not is_attribute(written)
            and (word := re.match(_WORD, plain[token.start() :]))
        ):
            kind, written, at = "word", word[0], token.start() + word.end()
        if kind != "space":
            found.append((kind, written))
    read = list[Token]()
    for at, (kind, written) in enumerate(found):
        is_idle = kind == "operator" and not (_ends_term(read, written) and _begins_term(found, at + 1))
        read.append(("word" if is_idle else kind, written))
    return read


def _ends_term(before: Sequence[Token], operator: str) -> bool:
    """Whether an operator stands behind a term; NOT may stand behind AND and OR, too."""
    kind, written = before[-1] if before else ("", "")
    if kind == "operator":
        return operator == "NOT" != written
    return written == ")" if kind == "paren" else kind not in ("", "sign", "attribute")


def _begins_term(tokens: Sequence[Token], at: int) -> bool:
    """Whether a term begins with this token; one may begin with NOT."""
    kind, written = tokens[at] if at < len(tokens) else ("", "")
    if kind == "operator":
        return written == "NOT" and tokens[at - 1][1] != "NOT" and _begins_term(tokens, at + 1)
    return written == "(" if kind == "paren" else kind != ""


def _flaws(text: str, tokens: Sequence[Token]) -> tuple[QueryFlaw, ...]:
    """Return the flaws of a query, each once."""
    words = [written for kind, written in tokens if kind == "word"]
    found = dict.fromkeys(
        flaw
        for flaw, is_so in (
            (QueryFlaw.OPEN_QUOTE, text.translate(_QUOTES).count('"') % 2),
            (QueryFlaw.IDLE_OPERATOR, not _OPERATORS.isdisjoint(words)),
            (QueryFlaw.INNER_ASTERISK, any(map(_find_inner_asterisk, words))),
            (QueryFlaw.NO_WORD, text.strip() and not any(map(_has_term, tokens))),
        )
        if is_so
    )
    depth = 0
    for kind, written in tokens:
        depth += {"(": 1, ")": -1}.get(written, 0) if kind == "paren" else 0
        if depth < 0:
            found[QueryFlaw.STRAY_PAREN] = None
            depth = 0
    if depth:
        found[QueryFlaw.OPEN_GROUP] = None
    return tuple(found)


def _has_term(token: Token) -> bool:
    """Whether a token has something to search for: a word, or signs that are one."""
    kind, written = token
    if kind == "attribute":
        return True
    return kind != "paren" and (bool(tokenise(written)) or with_operators(written) != tree.EVERYTHING)


def _without_syntax(text: str) -> str:
    """Return a query as mere words: without signs, quotation marks and parentheses, with operators in small letters."""
    kept = (written for kind, written in _tokens(text) if kind not in ("paren", "sign"))
    return " ".join(one.lower() if one in _OPERATORS else one.strip("*<>=!") for one in kept)


def parse_query(query: SearchQuery, attributes: Mapping[str, SearchAttribute]) -> tree.Node:
    """Return the tree of all conditions, text and principals included; raises `UserError`."""
    known = {name.casefold(): attribute for name, attribute in attributes.items()}
    nodes: list[tree.Node] = []
    if query.completing:
        nodes.append(completion_node(query.text))
    elif query.text.strip():
        found = _Parser(query, known).parse() or tree.NOTHING
        nodes.append(tree.AnyOf((*_pinned_nodes(query.pinned), found)) if query.pinned else found)
    if sources := [source for source in (query.source, *query.sources) if source]:
        nodes.append(tree.any_of([tree.FromSource(source) for source in sources]))
    wanted: dict[str, list[tree.Node]] = {}
    for name, value in query.where:
        given = Filter(name, Operator.EQUAL, (value,))
        wanted.setdefault(name.casefold(), []).append(named_condition(given, known))
    nodes += [tree.any_of(choices) for choices in wanted.values()]
    nodes += [named_condition(given, known) for given in query.filters]
    if hides_any(query):
        nodes.append(visible_to(query))
    return tree.all_of(nodes)


def _pinned_nodes(urls: Sequence[str]) -> Iterator[tree.Node]:
    """Yield the node of each pinned URL, the first with the highest score."""
    for number, url in enumerate(urls):
        yield tree.ConstantScore(tree.HasUrl(url), PINNED_SCORE * (len(urls) - number))


def search_with_relaxation(
    query: SearchQuery,
    attributes: Mapping[str, SearchAttribute],
    search: Callable[[SearchQuery], SearchResult],
) -> SearchResult:
    """Return the result of the strictest reading of a query that finds enough; `search` runs one reading.

    Enough is one hit, of a question `ENOUGH_FOR_QUESTION`. Names with a qualifier are always read by their parts, too:
    the page that documents one seldom has it as it is written, other pages mention it. Filters, sources and principals
    hold in every reading. The spelling suggestion is that of the strictest reading.

    If no reading of a line of several words finds anything, its operators, signs and quotation marks probably belong
    to the text that it was copied from: then its mere words are searched.
    """
    known = {name.casefold(): attribute for name, attribute in attributes.items()}
    parser = _Parser(query, known)
    parser.parse()
    found, flaws = _search_parsed(query, parser, search), parser.flaws
    if not found.total and parser.is_line:
        words_alone = replace(query, text=_without_syntax(query.text))
        alone = _search_parsed(words_alone, parser.of(words_alone), search)
        if alone.total:
            found, flaws = alone, (*flaws, QueryFlaw.NOT_AS_WRITTEN)
    unknown = tuple(parser.unknown)
    names = tuple(sorted(one.name for one in attributes.values())) if unknown else ()
    return replace(found, flaws=flaws, unknown_attributes=unknown, known_attributes=names)


def _search_parsed(
    query: SearchQuery, parser: _Parser, search: Callable[[SearchQuery], SearchResult]
) -> SearchResult:
    """Return the result of the strictest reading that finds enough, whatever pinned documents it is shown with."""
    if not query.pinned:
        return _search_readings(query, parser, search)
    counted = replace(query, pinned=(), limit=0, facets=(), count_sources=False, as_typed=True)
    strictest = _search_readings(counted, parser, search)
    found = search(replace(query, reading=strictest.reading, suggest=False))
    return replace(
        found,
        reading=strictest.reading,
        suggestion=strictest.suggestion,
        unknown_words=strictest.unknown_words,
    )


def _search_readings(
    query: SearchQuery, parser: _Parser, search: Callable[[SearchQuery], SearchResult]
) -> SearchResult:
    """Return the result of the strictest reading that finds enough, of the corrected query if there is one."""
    readings = parser.readings
    if query.sort and Reading.ALL_WORDS not in readings:
        # Sorted by an attribute, documents with fewer of the words would be mixed with those that have all.
        readings = (Reading.ALL_WORDS, *readings)
    enough = ENOUGH_FOR_QUESTION if parser.is_question and not query.sort else 1
    first = best = None
    if parser.is_qualified and not query.sort:
        first = search(replace(query, reading=readings[0], limit=0, offset=0, facets=()))
        readings = readings[1:]
        if corrected := _search_corrected(query, parser, search, first):
            return corrected
    for reading in readings:
        asked = replace(query, reading=reading, suggest=query.suggest and first is None)
        found = replace(search(asked), reading=reading)
        if first is None:
            first = found
            if corrected := _search_corrected(query, parser, search, first):
                return corrected
        best = found if best is None or found.total > best.total else best
        if found.total >= enough:
            break
    assert first is not None
    assert best is not None
    if first.total >= best.total:
        best = replace(best, reading=first.reading)
    return replace(best, suggestion=first.suggestion, unknown_words=first.unknown_words)


def _search_corrected(
    query: SearchQuery, parser: _Parser, search: Callable[[SearchQuery], SearchResult], first: SearchResult
) -> SearchResult | None:
    """Return the result of the suggestion of a first reading; None without one, or if it finds less than that."""
    if query.as_typed or not first.suggestion:
        return None
    asked = replace(query, text=first.suggestion, suggest=False)
    found = _search_readings(asked, parser.of(asked), search)
    if found.total < max(1, first.total):
        return None
    return replace(found, suggestion=first.suggestion, unknown_words=first.unknown_words, corrected=True)


def parse_sort(sort: str, attributes: Mapping[str, SearchAttribute]) -> tuple[SearchAttribute | None, bool]:
    """Return the attribute to sort by, None for sorting by score, and whether the order is descending."""
    name = sort.strip().removeprefix("-")
    if not name:
        return None, False
    known = {key.casefold(): attribute for key, attribute in attributes.items()}
    return find_attribute(name, known), sort.strip().startswith("-")


def parse_facets(names: Iterable[str], attributes: Mapping[str, SearchAttribute]) -> list[SearchAttribute]:
    """Return the attributes whose values are counted; raises `UserError` for an unknown one."""
    known = {key.casefold(): attribute for key, attribute in attributes.items()}
    return list(dict.fromkeys(find_attribute(name.strip(), known) for name in names))


ENOUGH_FOR_QUESTION = 10
"""Hits of a question below which the next looser reading is tried."""
_APOSTROPHE = re.compile("['\u2019]")


class _Parser:
    """A recursive descent parser: alternatives, then a sequence of terms, then one term.

    The reading of the query applies to a sequence at the top level; in alternatives and groups all words are required.
    """

    def __init__(self, query: SearchQuery, known: Mapping[str, SearchAttribute]) -> None:
        if len(query.text) > MAX_LENGTH:
            raise UserError(f"the query is longer than {MAX_LENGTH} characters; shorten it")
        self._query = query
        self._known = known
        self.unknown = dict[str, None]()
        """The names before a colon that are no attributes, as they were written."""
        self._tokens = _tokens(query.text, self._is_attribute)
        self._next = 0
        self._depth = 0
        self._words = 0
        self.readings: tuple[Reading, ...] = (Reading.ALL_WORDS,)
        self.is_question = self.is_qualified = False

    def _is_attribute(self, name: str) -> bool:
        is_known = known_attribute(name, self._known) is not None
        if not is_known:
            self.unknown[name] = None
        return is_known

    def of(self, query: SearchQuery) -> _Parser:
        """Return the parser of another query, after it has parsed it."""
        other = _Parser(query, self._known)
        other.parse()
        return other

    def parse(self) -> tree.Node | None:
        """Return the tree, or None if the text has no word."""
        nodes: list[tree.Node] = []
        while self._next < len(self._tokens):
            node = self._alternatives(None)
            if node is not None:
                nodes.append(node)
            self._take("paren", ")")
        if not nodes:
            return None
        node = tree.all_of(nodes)
        return tree.Verbatim(node, self._line) if self.is_line and self._line else node

    @property
    def flaws(self) -> tuple[QueryFlaw, ...]:
        """What in the query probably does not do what it was written for."""
        return _flaws(self._query.text, self._tokens)

    @cached_property
    def is_line(self) -> bool:
        """Whether it may be a line copied from a document, and has what means something else in a query."""
        found = Counter(kind for kind, _ in self._tokens)
        words_alone = len(self._line) - found["operator"]
        return not found.keys() <= _OF_WORDS and words_alone >= MIN_SENTENCE_WORDS

    @cached_property
    def _line(self) -> tuple[str, ...]:
        """All words of the text."""
        return _without_last_character(words(self._query.text))

    def _take(self, kind: str, *texts: str) -> str:
        """Consume the next token if it is of this kind and one of these texts; an empty string means no."""
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
        sequences = [self._sequence(attribute)]
        while self._take("operator", "OR"):
            sequences.append(self._sequence(attribute))
        self._depth -= 1
        if len(sequences) == 1 and not self._depth and sequences[0]:
            stop_words = self._stop_words(sequences[0])
            sequence = TermSequence(sequences[0], stop_words, self._sentence(stop_words))
            self.readings = max(self.readings, sequence.readings, key=len)
            self.is_question = self.is_question or sequence.is_question
            self.is_qualified = self.is_qualified or sequence.is_qualified
            return sequence.node(self._query.reading)
        nodes = [
            tree.all_of([term.node for term in _without_last_operator(sequence)])
            for sequence in sequences
            if sequence
        ]
        return tree.any_of(nodes) if nodes else None

    def _stop_words(self, sequence: list[Term]) -> frozenset[str]:
        text, words = self._query.text, [word for term in sequence for word in term.words]
        named = language_code(self._query.language)
        found = stop_words_among(words, query_languages(text, words, named))
        if all(letter.isupper() for letter in text if letter.isalpha()):
            return found
        # A stop word in capitals among other letters is a name: `IN operator`, `WHO guidelines`.
        written = re.findall(WORD_PATTERN, text)
        if self._tokens[-1][1] in _OPERATORS:
            del written[-1]  # what it was to combine was not typed yet
        names = {fold(word.lower()) for word in written if word[1:] and word.isupper()}
        return found - names

    def _sentence(self, stop_words: frozenset[str]) -> tuple[str, ...]:
        """Return the words of a query that may be a sentence copied from a document: a long one without operators."""
        if any(kind not in ("word", "phrase", "paren") for kind, _ in self._tokens):
            return ()
        found = self._line
        return found if len(found) >= MIN_SENTENCE_WORDS - (not stop_words.isdisjoint(found)) else ()

    def _sequence(self, attribute: SearchAttribute | None) -> list[Term]:
        terms: list[Term] = []
        while self._next < len(self._tokens) and self._tokens[self._next] not in _SEQUENCE_ENDS:
            if terms and self._tokens[self._next] == ("operator", "AND"):
                terms[-1] = replace(terms[-1], is_required=True)
            term = self._term(attribute)
            if term is not None:
                terms.append(term)
        is_english = language_code(self._query.language) in ("", "en")
        return with_synonyms(terms, self._query.synonyms, is_english=is_english)

    def _term(self, attribute: SearchAttribute | None) -> Term | None:
        negative = is_required = False
        while (sign := self._take("operator", "NOT", "AND") or self._take("sign")) != "":
            negative ^= sign in ("NOT", "-")
            is_required = True
        name = self._take("attribute")
        if name:
            attribute = find_attribute(name, self._known)
        term = self._primary(attribute)
        if term is None:
            return None
        if negative:
            return Term(tree.Not(term.node), is_required=True)
        if is_required or attribute is not None:
            return replace(term, is_required=True, is_quoted_word=False)
        return term

    def _primary(self, attribute: SearchAttribute | None) -> Term | None:
        if self._take("paren", "("):
            before = self._next
            node = self._alternatives(attribute)
            is_logical = any(kind == "operator" for kind, _ in self._tokens[before : self._next])
            self._take("paren", ")")
            return None if node is None else Term(node, is_required=is_logical)
        if self._next == len(self._tokens) or self._tokens[self._next] in _SEQUENCE_ENDS:
            return None
        kind, text = self._tokens[self._next]
        if kind not in ("phrase", "word", "compared", "url"):
            return None
        self._next += 1
        if kind == "compared" and attribute is not None:
            sign = text[: 2 if text[1:2] == "=" else 1]
            compared = comparison(attribute.name, sign, text[len(sign) :].strip('"'))
            return Term(condition(compared, attribute, ":"))
        if attribute is not None and attribute.type is not AttributeType.STRING:
            return Term(condition(comparison(attribute.name, "=", text), attribute, ":"))
        return self._leaf(kind, text, attribute.name if attribute else "")

    def _leaf(self, kind: str, text: str, name: str) -> Term | None:
        found = tokenise(text)
        operator = tree.EVERYTHING if found or name else with_operators(text)
        self._words += len(found) + (operator != tree.EVERYTHING)
        if self._words > MAX_WORDS:
            raise UserError(f"the query has more than {MAX_WORDS} words; shorten it")
        if not found:
            return None if operator == tree.EVERYTHING else Term(operator)
        if kind == "url" and not name and (page := url_node(text)) is not None:
            return Term(page)
        folded = _without_last_character(fold(word) for word in found)
        is_phrase = kind == "phrase"
        is_prefix = not is_phrase and text.endswith("*")
        if is_bigram(folded[-1]) and len(folded) == len(folded[-1]) == 1:
            is_prefix = True
        if is_prefix:
            before = [tree.Word(word, name) for word in folded[:-1]]
            return Term(tree.all_of([*before, tree.Prefix(folded[-1], name)]))
        if is_phrase or (name and len(folded) > 1):
            phrase = tree.Phrase(folded, name)
            node = phrase if name else with_operators(text, phrase)
            return Term(node, is_required=is_phrase, is_quoted_word=is_phrase and len(folded) == 1)
        if name:
            return Term(tree.Word(folded[0], name))
        if len(folded) == 1:
            return _token_term(
                text, identifier(text, tree.Word(folded[0], "", stems(found[0]))), (folded[0],)
            )
        contracted = ("".join(folded),) if _APOSTROPHE.search(text) else ()
        return _token_term(text, identifier(text, tree.Phrase(folded)), contracted)


def _without_last_operator(sequence: list[Term]) -> list[Term]:
    """Return the terms of a group without an operator at the end, which waits for what it was to combine: `(a OR`."""
    is_operator = len(sequence) > 1 and " ".join(sequence[-1].words).upper() in _OPERATORS
    return sequence[:-1] if is_operator else sequence


def _token_term(text: str, node: tree.Node, words: tuple[str, ...]) -> Term:
    """Return the term of a token without blanks, with the parts that it has."""
    match node:
        case tree.Phrase() if _has_hiragana(text):
            return Term(node, tuple(map(_run_node, filter(tokenise, _FIND_RUNS(text)))), words)
        case tree.Identifier(whole, parts):
            is_signed = isinstance(whole, tree.AllOf)
            apart = parts.nodes if isinstance(parts, tree.AllOf) else (parts,)
            return Term(node, apart, () if is_signed else words, is_qualified=is_qualified(text))
        case tree.Phrase(found):
            return Term(node, tuple(map(tree.Word, found)), words)
    return Term(node, (), words)


def _run_node(text: str) -> tree.Node:
    """Return the node of a run of characters of one script."""
    found = _without_last_character(map(fold, tokenise(text)))
    if len(found) == 1:
        return tree.Prefix(found[0]) if len(found[0]) == 1 else tree.Word(found[0], stems=stems(found[0]))
    return tree.Phrase(found)


def _without_last_character(folded: Iterable[str]) -> tuple[str, ...]:
    """Return the words without the single last character of a CJK run, which need not end a run in a document."""
    found = tuple(folded)
    if len(found) > 1 and is_bigram(found[-1]) and found[-2][1:] == found[-1]:
        return found[:-1]
    return found


_has_hiragana = re.compile("[\u3041-\u309f]").search
_FIND_RUNS = re.compile(
    r"[\u3005\u3400-\u9fff]{2,}|[\u3005\u3400-\u9fff][\u3041-\u309f]?|[\u30a1-\u30ff]+|[^\W\u3005\u3041-\u9fff]+"
).findall
"""The content words of a Japanese query: runs of Kanji, of Katakana and of other letters; Hiragana are grammar, except
for the ending of a single Kanji."""
_SEQUENCE_ENDS = (("paren", ")"), ("operator", "OR"))
