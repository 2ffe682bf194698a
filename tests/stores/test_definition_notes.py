"""Which definition file a source was crawled by: beside its state in a folder, or in a database for all machines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from stores.conftest import IN_SERVERS, Place

from ultracrawl.stores.port.notes import Notes
from ultracrawl.stores.source_notes.definition import is_defined_elsewhere, note_definition


class Machine:
    """A machine with two definition files that share a state."""

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder, self.state = folder, state
        self.own, self.other = str(folder / "own.yaml"), str(folder / "other.yaml")
        folder.mkdir(exist_ok=True)
        for file in (self.own, self.other):
            Path(file).touch()

    def finds(self, notes: Notes) -> bool:
        """Return whether the source is found in a file beside the own one."""
        return is_defined_elsewhere(notes, self.state, self.own)


@pytest.fixture
def notes(kept: Place) -> Notes:
    found = kept.engine.open_notes(kept.folder, "s")
    assert found is not None
    return found


def test_a_source_of_another_file_is_found_there_until_the_file_is_deleted(
    kept: Place, notes: Notes, tmp_path: Path
) -> None:
    here = Machine(tmp_path, kept.folder)
    assert not here.finds(notes)
    for definitions, expected in ((here.own, False), (here.other, True), ("", True)):
        note_definition(notes, _folder(kept), definitions)
        assert here.finds(notes) is expected
    assert is_defined_elsewhere(notes, here.state, "")
    Path(here.other).unlink()
    assert not here.finds(notes)


def test_another_machine_finds_the_file_beside_its_own_definitions(
    kept: Place, notes: Notes, tmp_path: Path
) -> None:
    here = Machine(tmp_path, kept.folder)
    there = Machine(tmp_path / "there", tmp_path / "there" / "far" / "from" / "it")
    note_definition(notes, _folder(kept), here.other)
    for file in (here.own, here.other):  # they are on that machine only
        Path(file).unlink()
    assert there.finds(notes)
    note_definition(notes, _folder(kept), here.own)
    assert not there.finds(notes)


def test_the_folder_of_a_machine_counts_for_a_state_in_files_alone(
    kept: Place, notes: Notes, tmp_path: Path
) -> None:
    here = Machine(tmp_path, kept.folder)
    note_definition(notes, _folder(kept), here.other)
    if kept.name in IN_SERVERS:
        assert is_defined_elsewhere(notes, tmp_path / "some" / "other" / "folder", "")
        return
    there = Machine(tmp_path / "moved", tmp_path / "moved" / "state")
    shutil.copytree(kept.folder, there.state)
    for file in (here.own, here.other):
        Path(file).unlink()
    assert is_defined_elsewhere(kept.engine.open_notes(there.state, "s"), there.state, "")


def _folder(place: Place) -> Path | None:
    return None if place.name in IN_SERVERS else place.folder
