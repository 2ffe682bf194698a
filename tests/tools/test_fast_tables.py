"""The tables of docs/fast.md are made from what the tests of options saw."""

from __future__ import annotations

from pathlib import Path

import fast_tables
import pytest
from fast_tables import CLUSTER, DECLARED, SAME, WORKS, Result

RESULTS = list(fast_tables.results())


def test_the_page_is_in_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert fast_tables.main(["--check"]) == 0, capsys.readouterr().out


def test_a_page_that_differs_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "fast.md"
    page.write_text(fast_tables.PAGE.read_text().replace("| works |", "| fails |", 1))
    monkeypatch.setattr(fast_tables, "PAGE", page)
    assert fast_tables.main(["--check"]) == 1
    assert fast_tables.main([]) == 0
    assert fast_tables.main(["--check"]) == 0


@pytest.mark.parametrize(
    ("results", "numbers"),
    [
        pytest.param(RESULTS[:-1], [224], id="no test"),
        pytest.param([*RESULTS, RESULTS[4]], [5], id="two tests"),
        pytest.param([*RESULTS, Result(225, WORKS, "test_x")], [225], id="no option"),
        pytest.param([*RESULTS[1:], Result(1, SAME, "test_x")], [1], id="no reason"),
        pytest.param(
            [*RESULTS[:64], *RESULTS[65:], Result(65, WORKS, "test_x")], [65], id="a reason for naught"
        ),
    ],
)
def test_an_option_has_one_test_and_a_reason_if_nothing_differs(
    results: list[Result], numbers: list[int]
) -> None:
    told = list(fast_tables.mistakes(results))
    assert [int(line.split()[1].strip(":")) for line in told] == numbers


def test_options_of_several_nodes_have_a_word_of_their_own() -> None:
    words = {one.number: one.word for one in RESULTS}
    assert [words[number] for number in (1, 19, 65, 67, 122)] == [WORKS, WORKS, SAME, CLUSTER, DECLARED]
