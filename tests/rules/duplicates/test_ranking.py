"""Which of several URLs stands for their content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracrawl.rules.duplicates.ranking import UrlRanking, preference

SEEDS = ("http://x/manual/en/", "http://x/long/seed")


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(("http://x/long/seed", 2), ("https://x/manual/en/a", 0), id="start URL"),
        pytest.param(("http://y/long/way", 0), ("https://x/manual/en/a", 1), id="names itself"),
        pytest.param(("http://y/long/way", 1), ("https://x/manual/en/a", 2), id="names none"),
        pytest.param(("https://y/long/way", 1), ("http://x/manual/en/a", 1), id="https"),
        pytest.param(("http://y/long/way", 1), ("http://x/manual/en/?a", 1), id="no query"),
        pytest.param(("http://x/manual/en/mod/a.html", 1), ("http://x/manual/da/a", 1), id="nearer"),
        pytest.param(("http://x/manual/en/a.html", 1), ("http://x/a", 1), id="below and not above"),
        pytest.param(("http://x/other/a/b/c.html", 1), ("http://y/", 1), id="the host of a start URL"),
        pytest.param(("http://x/manual/en/z", 1), ("http://x/manual/en/aa", 1), id="shorter"),
        pytest.param(("http://x/manual/da/a", 1), ("http://x/manual/fr/a", 1), id="alphabet"),
    ],
)
def test_the_order_of_urls(better: tuple[str, int], worse: tuple[str, int]) -> None:
    ranking = UrlRanking(SEEDS)
    assert ranking.rank(*better) < ranking.rank(*worse)


@pytest.mark.parametrize(
    ("url", "steps"),
    [
        ("http://x/manual/en/", 0),
        ("https://x/manual/en/index.html?a=/b/c", 0),
        ("http://x/manual/en/mod/", 1),
        ("http://x/manual/a", 1),
        ("http://x/manual/da/a", 2),
        ("http://x/long/a", 0),
        ("http://x/", 1),
        ("http://x", 1),
        ("http://x/other/a", 2),
    ],
)
def test_steps_up_and_down_folders_from_the_nearest_start_url(url: str, steps: int) -> None:
    assert UrlRanking(SEEDS).steps_from_start(url) == steps


def test_what_a_start_url_redirects_to_is_near_the_start_but_no_start_url() -> None:
    ranking = UrlRanking(["http://x/"], ["http://x/en/"])
    assert ranking.rank("http://x/en/a", 1) < ranking.rank("http://x/da/a", 1)
    assert ranking.rank("http://x/a", 1) < ranking.rank("http://x/en/aa", 1)
    assert ranking.rank("http://x/", 1) < ranking.rank("http://x/en/", 1)


_URLS = st.builds(
    "{}://{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from("xy"),
    st.text("ab/?", max_size=6),
)


@given(st.lists(_URLS, max_size=4), st.lists(_URLS, min_size=2, max_size=2, unique=True))
def test_no_two_urls_have_the_same_place(seeds: list[str], urls: list[str]) -> None:
    ranking = UrlRanking(seeds)
    assert ranking.rank(urls[0], 1) != ranking.rank(urls[1], 1)
    assert [ranking.steps_from_start(seed) for seed in seeds] == [0] * len(seeds)


@pytest.mark.parametrize(("canonical", "value"), [("", 1), ("http://x/a", 0), ("http://x/b", 2)])
def test_what_a_page_says_of_itself(canonical: str, value: int) -> None:
    assert preference("http://x/a", canonical) == value
