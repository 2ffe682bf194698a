"""The tutorial, done from its first page to its last one in an empty folder, against the sample intranet."""

import re
from itertools import pairwise

import pytest
from documentation.pages import blocks, links
from documentation.reader import Reader, Step, shows, steps
from support.project import ROOT

FOLDER = ROOT / "docs" / "tutorial"
ORDER = ["first-search.md", "missing-page.md", "schedule.md", "search-box.md"]


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_each_command_answers_as_its_page_shows(reader: Reader) -> None:
    for name in ORDER:
        page = FOLDER / name
        written = "".join(blocks(page, "console"))
        assert reader.follow(page) == len(re.findall(r"(?m)^\$ ", written)) > 0
        reader.end("exec ultracrawl")


def test_each_page_leads_to_the_next_one() -> None:
    assert {page.name for page in FOLDER.glob("*.md")} == set(ORDER)
    for name, following in pairwise(ORDER):
        assert (FOLDER / following) in [target for target, _ in links(FOLDER / name)]


def test_a_block_is_cut_into_commands_and_what_they_show() -> None:
    assert steps("$ one &\nyes\n$ two    # why\n") == [Step("one &", ["yes"]), Step("two", [])]


@pytest.mark.parametrize(
    ("shown", "same"),
    [
        (["run 1, 0.5 s, 54.2 kB read", "two"], True),
        (["run 1, …"], True),
        (["two", "run 1, …"], False),
        (["run 2, …"], False),
        (["three"], False),
        ([], True),
    ],
)
def test_numbers_of_things_count_and_times_do_not(shown: list[str], same: bool) -> None:
    assert shows("run 1, 9.9 s, 3 kB read\nbetween\n  two\n", shown) is same
