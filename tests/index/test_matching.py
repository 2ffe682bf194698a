"""Two ways to find words in a text find the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.index import SearchQuery
from ultracrawl.index.hits.matching import Matcher
from ultracrawl.index.query.parser import parse_query

TEXTS = st.text(
    st.sampled_from(list("connectsigaméÉüß \t\n_-.,;0«»“”\xa0\xb2\xb5")) | st.characters(max_codepoint=0x180),
    max_size=60,
)


@given(st.lists(TEXTS, min_size=1, max_size=8).map(" connections ".join), st.integers(0, 30))
def test_a_text_in_latin_letters_gives_the_same_spans_as_any_other(text: str, start: int) -> None:
    matcher = Matcher(parse_query(SearchQuery("connect images sign*"), {}))
    quick = matcher.spans(text, "en", start)
    matcher._literals = []
    assert quick == matcher.spans(text, "en", start)
