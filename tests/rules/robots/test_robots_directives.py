"""META robots values and X-Robots-Tag (Ultra Search 11)."""

import itertools

import pytest
from support.until import bounded

from ultracrawl.content.directives import parse_directives
from ultracrawl.model import RobotsDirectives

ALL = RobotsDirectives()


@pytest.mark.parametrize(
    ("meta", "headers", "expected"),
    [
        pytest.param([], [], ALL, id="nothing"),
        pytest.param(["noindex"], [], RobotsDirectives(index=False), id="ultra_search_82-noindex"),
        pytest.param(["nofollow"], [], RobotsDirectives(follow=False), id="ultra_search_83-nofollow"),
        pytest.param([" NoIndex ,NOFOLLOW"], [], RobotsDirectives(False, False), id="case-and-blanks"),
        pytest.param(["none"], [], RobotsDirectives(False, False), id="none"),
        pytest.param(["all", "index, follow"], [], ALL, id="all"),
        pytest.param(["index", "noindex"], [], RobotsDirectives(index=False), id="strictest-wins"),
        pytest.param(["index"], ["noindex"], RobotsDirectives(index=False), id="header-adds-up"),
        pytest.param([], ["otherbot: noindex, nofollow"], ALL, id="for-another"),
        pytest.param([], ["ultracrawl: noindex, nofollow"], RobotsDirectives(False, False), id="for-us"),
        pytest.param(
            [], ["otherbot: noindex, ultracrawl: nofollow"], RobotsDirectives(follow=False), id="both"
        ),
        pytest.param(
            [], ["otherbot: noindex", "nofollow"], RobotsDirectives(follow=False), id="agent-ends-with-header"
        ),
        pytest.param(
            ["nosnippet, noarchive, noai, noimageai, max-snippet:20"],
            [],
            RobotsDirectives(others=("nosnippet", "noarchive", "noai", "noimageai", "max-snippet:20")),
            id="others",
        ),
        pytest.param(
            [],
            ["unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, noindex"],
            RobotsDirectives(index=False, others=("unavailable_after: wed, 03 dec 2025 13:09:53 gmt",)),
            id="date-with-a-comma",
        ),
        pytest.param(["", ",,", "; ,"], [""], ALL, id="empty"),
        pytest.param(["noindex; nofollow"], [], RobotsDirectives(False, False), id="semicolon"),
        pytest.param(["noindex nofollow"], [], RobotsDirectives(False, False), id="blank"),
        pytest.param([], ["noindex;nofollow"], RobotsDirectives(False, False), id="semicolon-in-a-header"),
        pytest.param(["index follow"], [], ALL, id="blank-and-nothing-forbidden"),
        pytest.param(["all\tnoindex"], [], RobotsDirectives(index=False), id="tabulator"),
        pytest.param(
            ["nosnippet noarchive;max-snippet: 20 max-image-preview:large noindex"],
            [],
            RobotsDirectives(
                index=False, others=("nosnippet", "noarchive", "max-snippet: 20", "max-image-preview:large")
            ),
            id="values-between-blanks",
        ),
        pytest.param(
            ["foo bar noindex"], [], RobotsDirectives(index=False, others=("foo", "bar")), id="unknown"
        ),
        pytest.param(
            [],
            ["otherbot: noindex; nofollow", "noarchive"],
            RobotsDirectives(others=("noarchive",)),
            id="agent;",
        ),
        pytest.param(
            [],
            ["otherbot: noindex ultracrawl: nofollow"],
            RobotsDirectives(follow=False),
            id="agents-by-blank",
        ),
        pytest.param(
            [], ["*:noindex, otherbot: nofollow"], RobotsDirectives(index=False), id="all-agents-then-another"
        ),
        pytest.param(
            [],
            [
                "otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST, noindex; ultracrawl: nosnippet nofollow"
            ],
            RobotsDirectives(follow=False, others=("nosnippet",)),
            id="date-of-another",
        ),
    ],
)
def test_robots_directives(meta: list[str], headers: list[str], expected: RobotsDirectives) -> None:
    assert parse_directives(meta, headers) == expected


def test_robots_directives_for_a_name_with_a_blank() -> None:
    assert parse_directives([], ["Ultra Search: noindex"], name="Ultra Search") == RobotsDirectives(
        index=False
    )


DATES = (
    "25 Jun 2010 15:00:00 PST", "25-Jun-2010 15:00:00 PST", "Friday, 25-Jun-10 15:00:00 PST",
    "Fri, 25 Jun 2010 15:00:00 -0800", "Jun 25, 2010 23:00:00 GMT", "Nov 25, 2010", "3 November 2010 10:00:00 UTC",
    "2010-06-25T15:00:00-08:00", "Thursday, 3 November 2010 10:00:00 UTC",
)  # fmt: skip


BEFORE = ("", "nofollow, ", "nofollow; ", "nofollow ", "ultracrawl: nofollow ")
AFTER = ("", ", noarchive", ";noarchive", " noarchive", ", otherbot: noindex", "; *: noarchive")


def test_a_date_is_one_word(subtests: pytest.Subtests) -> None:
    for before, date, after in itertools.product(BEFORE, DATES, AFTER):
        with subtests.test(header := f"{before}unavailable_after: {date}{after}"):
            others = (f"unavailable_after: {date.lower()}", *(["noarchive"] if "noarchive" in after else []))
            assert parse_directives([], [header]) == RobotsDirectives(follow=not before, others=others)


@pytest.mark.parametrize(
    "value", ["unavailable_after: soon, noindex", "unavailable_after:, noindex", "unavailable_after noindex"]
)
def test_what_follows_no_date_counts(value: str) -> None:
    assert not parse_directives([value]).index


@pytest.mark.parametrize(
    "part", ["a", "a ", " :", "unavailable_after:", "max-", "no ", "a: ", ",", "unavailable_after: 1,"]
)
def test_a_long_value_is_read_in_linear_time(part: str) -> None:
    with bounded():
        directives = parse_directives([part * 50_000 + ", noindex"])
    assert directives.index == (part == "a: ")
