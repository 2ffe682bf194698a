"""Two ways to find words in a text find the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.index import SearchQuery
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.query.parser import parse_query
from ultracrawl.index.words import analysis
from ultracrawl.index.words.folded_text import folded_text
from ultracrawl.index.words.stemming import stem_terms

TEXTS = st.text(
    st.sampled_from(list("connectsigaméÉüßæŒłšþΣд景\u0301ﬁ½ \t\n_-.,;0«»“”\xa0\xb2\xb5"))
    | st.characters(max_codepoint=0x180),
    max_size=60,
)
QUERIES = (
    "connect images sign*",
    "strasse ss* foetus to",
    "aer naeh* so also",
    '"connections to" "gross aes" th*',
    "s to st so i 2",
    "st strasse gr to gross a",
)
WORDS = (
    " connections {} Straße aes fœtus næh to so großaes šign Images thing {} naehe gross æs strasse s st i "
)


@pytest.mark.parametrize("query", QUERIES)
@given(
    st.lists(TEXTS, min_size=1, max_size=8).map(" connections to ".join),
    st.sampled_from((*WORDS.split(), "")),
    st.integers(0, 30),
)
def test_a_folded_text_gives_the_same_matches_as_any_other(
    query: str, text: str, word: str, start: int
) -> None:
    text = WORDS.format(text, word) if word else text
    quick, slow = (Matcher(parse_query(SearchQuery(query), {})) for _ in range(2))
    slow._folded_text = lambda text: (b"", False)  # type: ignore[assignment]
    assert quick.spans(text, "de", start) == slow.spans(text, "de", start)
    assert quick.phrases(text, start, 9) == slow.phrases(text, start, 9)


@given(st.text(st.sampled_from(list("Aé_0ß. \xad\xb2’≤→—😀Ⓐ①\u0301\u200d東Σİ")), max_size=30))
def test_a_text_in_latin_letters_with_other_signs_gives_the_same_words_as_any_other(text: str) -> None:
    assert analysis.words(text) == analysis.fold_all(analysis._tokenise_any(text))


def test_a_folded_text_keeps_offsets() -> None:
    assert folded_text("1 ≤ É → 😀“x” Łódź") == b"1   e     x  lodz"
    assert folded_text("Großes Œuvre Æ") == b"gro\xdfes \xe6uvre \xe6"
    assert folded_text("1 Σд½") is None
    assert folded_text("Σд 景") == b"\xb5\xb5 \xb5"


@pytest.mark.parametrize("text", ["re\u0301sume", "soft\xadhyphen", "ﬁ", "þ", "景" * 31])
def test_what_is_not_folded_to_one_character_is_searched_as_it_is(text: str) -> None:
    assert folded_text(f"a {text}") is None


def test_long_words_are_not_remembered() -> None:
    long = "é" * 1000
    assert analysis.words(f"{long}ß É") == [f"{'e' * 1000}ss", "e"]
    assert stem_terms("en")[long] == ""
    for memory in (analysis._FOLDED, stem_terms("en")):
        assert max(map(len, memory), default=0) < 100
