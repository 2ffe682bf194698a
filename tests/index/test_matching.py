"""Two ways to find words in a text find the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.index import SearchQuery
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.query.parser import parse_query
from ultracrawl.index.words import analysis
from ultracrawl.index.words.stemming import stem_terms

TEXTS = st.text(
    st.sampled_from(list("connectsigaméÉüß \t\n_-.,;0«»“”\xa0\xb2\xb5")) | st.characters(max_codepoint=0x180),
    max_size=60,
)


@given(st.lists(TEXTS, min_size=1, max_size=8).map(" connections ".join), st.integers(0, 30))
def test_a_text_in_latin_letters_gives_the_same_spans_as_any_other(text: str, start: int) -> None:
    matcher = Matcher(parse_query(SearchQuery("connect images sign*"), {}))
    quick = matcher.spans(text, "en", start)
    matcher._literal_prefixes = []
    assert quick == matcher.spans(text, "en", start)


@given(st.text(st.sampled_from(list("Aé_0ß. \xad\xb2’≤→—😀Ⓐ①\u0301\u200d東Σİ")), max_size=30))
def test_a_text_in_latin_letters_with_other_signs_gives_the_same_words_as_any_other(text: str) -> None:
    assert analysis.words(text) == analysis.fold_all(analysis._tokenise_any(text))


def test_signs_beside_latin_letters_need_no_regular_expression() -> None:
    assert analysis.ascii_words("1 ≤ É → 😀“x”") == b"1   e     x "
    assert analysis.ascii_words("1 ≤ é Σ") is None


def test_long_words_are_not_remembered() -> None:
    long = "é" * 1000
    assert analysis.words(f"{long}ß É") == [f"{'e' * 1000}ss", "e"]
    assert stem_terms("en")[long] == ""
    for memory in (analysis._FOLDED, stem_terms("en")):
        assert max(map(len, memory), default=0) < 100
