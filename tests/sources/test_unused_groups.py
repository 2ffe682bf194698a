"""Groups of options that no definition uses are not built."""

from __future__ import annotations

import subprocess
import sys

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
