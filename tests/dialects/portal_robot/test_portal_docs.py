"""docs/portal-robot.md lists every function and every property."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.dialects.portal_robot.properties import PROPERTIES
from ultracrawl.rules.filters.function import Robot
from ultracrawl.rules.filters.functions import BUILT_IN
from ultracrawl.rules.filters.phase import Answer, FilterKind
from ultracrawl.rules.filters.resource import Resource, View
from ultracrawl.sources.filter_files.filter_file import read_filters

TEXT = (Path(__file__).parents[3] / "docs" / "portal-robot.md").read_text()


def test_every_function_and_its_parameters_stand_in_the_table() -> None:
    rows = {line.split("|")[1].strip(" `"): line for line in TEXT.splitlines() if line.startswith("| `")}
    for name, function in BUILT_IN.items():
        assert all(f"`{one.name}`" in rows[name] for one in function.parameters), name


def test_every_property_stands_in_the_table() -> None:
    rows = {line.split("|")[1].strip(" `"): line for line in TEXT.splitlines() if line.startswith("| `")}
    for name, known in PROPERTIES.items():
        assert known.effect in rows[name]
        assert ("| no effect: " in rows[name]) is known.idle


def test_the_example_of_own_functions_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of the page, loaded by the directives of the page."""
    section = TEXT.split("### Functions of your own")[1]
    python = section.split("```python\n")[1].split("```")[0]
    directives = section.split("\n```\n")[2].split("```")[0]
    package = tmp_path / "mypackage"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "filters.py").write_text(python)
    monkeypatch.syspath_prepend(tmp_path)
    read = read_filters(directives + "\n</Filter>\n")
    program = read.compile("generation-default", FilterKind.GENERATION, Robot())
    assert read.text.findings == []
    view = View(Resource("http://h/a"))
    assert program.judge(view) is Answer.PROCEED
    program.use(view)
    assert view.rd == {"department": ["Sales"]}
    assert program.judge(View(Resource("http://h/draft/a"))) is Answer.ABORTED
