"""Groups of options that no definition uses are written without what checks them, as they would be with it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from ultracrawl.agents.agent import kind as _agent
from ultracrawl.agents.file import kind as _file
from ultracrawl.agents.table import kind as _table
from ultracrawl.sources.project import Section
from ultracrawl.sources.sections import section as module

KINDS = (_agent, _file, _table)
"""Loaded, so that their groups are there."""
PROGRAM = """
from pathlib import Path
from ultracrawl.sources import adhoc_project, compile_source
from ultracrawl.sources.project import Section
def below(one): return [one, *(inner for each in one.__subclasses__() for inner in below(each))]
(source,) = adhoc_project(("http://a.example/",), Path("/")).sources.values()
def told(): return compile_source(source).scope + compile_source(source).recipe
before, built = told(), {one for one in below(Section) if one.__pydantic_complete__}
for one in below(Section): one.model_rebuild()
print(before == told(), len(built) < 5)
"""


def groups() -> list[type[Section]]:
    found, waiting = list[type[Section]](), [Section]
    while waiting:
        found.append(waiting.pop())
        waiting += found[-1].__subclasses__()
    return [one for one in found if not any(field.is_required() for field in one.model_fields.values())]


@pytest.mark.parametrize("group", groups(), ids=lambda one: one.__name__)
def test_a_group_that_is_as_by_default_is_written_as_pydantic_writes_it(group: type[Section]) -> None:
    try:
        written = module._plain(group.by_default())
    except module._NotPlainError:
        return
    assert json.dumps(written) == json.dumps(group.by_default().model_dump(mode="json"))


def test_most_groups_are_plain() -> None:
    def is_plain(group: type[Section]) -> bool:
        try:
            module._plain(group.by_default())
        except module._NotPlainError:
            return False
        return True

    assert {one.__name__ for one in groups() if not is_plain(one)} == {"PortsSection"}


@pytest.mark.parametrize(
    "left_out",
    [
        {"text", "nothing"},
        {"conversion": True, "filters": {"depth": True}},
        {"boundary": {"domains": {"include"}}},
    ],
)
def test_what_is_left_out_is_left_out(left_out: Any) -> None:
    group = next(one for one in groups() if one.__name__ == "SourceOptions")
    written = module._plain(group.by_default(), left_out)
    assert json.dumps(written) == json.dumps(group.by_default().model_dump(mode="json", exclude=left_out))


def test_what_a_crawl_notes_of_its_options_is_the_same_and_builds_few_groups() -> None:
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["True", "True"]
