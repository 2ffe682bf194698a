"""What a node tells of itself: digests that are equal on all machines, and what it has found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.service.nodes.node_facts import differing_files, facts_of
from ultracrawl.service.supervisor.definitions import Definitions
from ultracrawl.stores.port.node_store import NodeFacts

TEXT = """
attributes: {Price: number}
sources:
  a: {start_urls: [http://h/], attributes: {price: Price}}
  b: {type: file, paths: [here, /nowhere/at/all]}
  c: {start_url_files: [starts.txt]}
  d: {start_urls: [http://h/], filters: {file: filter.conf}}
"""

FILTERS = """
<Filter name="enumeration-default">
   Enumerate enable=true fn=enumerate-urls type=text/html
</Filter>
<Filter name="generation-default">
   Generate fn=extract-full-text
</Filter>
"""


def _facts(folder: Path, text: str = TEXT, starts: str = "http://c/\n") -> NodeFacts:
    folder.mkdir()
    (folder / "here").mkdir()
    (folder / "starts.txt").write_text(starts)
    (folder / "filter.conf").write_text(FILTERS)
    (folder / "ultracrawl.yaml").write_text(text)
    definitions = Definitions(str(folder / "ultracrawl.yaml"))
    assert not definitions.project.has_mistakes
    return facts_of(definitions.project, definitions.file_digests())


def test_equal_definitions_have_equal_digests_wherever_they_are(tmp_path: Path) -> None:
    one, two = _facts(tmp_path / "one"), _facts(tmp_path / "two")
    assert (one.digests, one.files) == (two.digests, two.files)
    assert one.digests.keys() == {"a", "b", "c", "d"}
    assert {"ultracrawl.yaml", "starts.txt"} <= one.files.keys()


@pytest.mark.parametrize(
    ("old", "new", "starts", "changed", "file"),
    [
        ("[http://h/]", "[http://i/]", "http://c/\n", {"a"}, "ultracrawl.yaml"),
        ("Price: number", "Price: date", "http://c/\n", {"a", "d"}, "ultracrawl.yaml"),
        ("", "", "http://d/\n", {"c"}, "starts.txt"),
    ],
)
def test_what_changes_a_source_changes_its_digest_and_that_of_a_file(
    tmp_path: Path, old: str, new: str, starts: str, changed: set[str], file: str
) -> None:
    one = _facts(tmp_path / "one")
    two = _facts(tmp_path / "two", TEXT.replace(old, new, 1) if old else TEXT, starts)
    assert {name for name in one.digests if one.digests[name] != two.digests[name]} == changed
    assert differing_files(one.files, two.files) == [file]


def test_a_file_that_one_machine_lacks_differs() -> None:
    assert differing_files({"a": "1", "b": "1"}, {"a": "1", "c": "1"}) == ["b", "c"]


def test_capabilities_are_what_was_found(tmp_path: Path) -> None:
    found = _facts(tmp_path / "one").capabilities
    assert [Path(mount).name for mount in found["mounts"]] == ["here"]
    assert {"xml", "markdown"} <= set(found["converters"])
    assert len(found["browser"]) <= 1
