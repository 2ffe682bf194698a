"""Groups of options that no definition uses are not built."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from ultracrawl.sources.project import Section

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


def test_what_a_crawl_notes_of_its_options_is_the_same_and_builds_few_groups() -> None:
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["True", "True"]


def test_types_of_options_are_no_texts_that_are_compiled_at_each_start() -> None:
    def below(group: type[Section]) -> Iterator[type[Section]]:
        yield group
        for inner in group.__subclasses__():
            yield from below(inner)

    compiled = {
        group.__module__
        for group in below(Section)
        if group.__module__.startswith("ultracrawl.sources.")
        and any(isinstance(kind, str) for kind in vars(group).get("__annotations__", {}).values())
    }
    assert compiled == set()
