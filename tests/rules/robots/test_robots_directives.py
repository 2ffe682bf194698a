"""META robots values and X-Robots-Tag (Ultra Search 11)."""

import pytest

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
        pytest.param(["", ",,"], [""], ALL, id="empty"),
    ],
)
def test_robots_directives(meta: list[str], headers: list[str], expected: RobotsDirectives) -> None:
    assert parse_directives(meta, headers) == expected


def test_robots_directives_for_a_name_with_a_blank() -> None:
    assert parse_directives([], ["Ultra Search: noindex"], name="Ultra Search") == RobotsDirectives(
        index=False
    )
