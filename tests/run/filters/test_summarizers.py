"""Programs that filters run are bounded in time, with all that they start (portal robot checklist 101)."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from support.family import all_end

from ultracrawl.run.filters.programs import Programs


def program(folder: Path, text: str) -> Programs:
    """Return programs that have the summarizer `A.sum`."""
    file = folder / "A.sum"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return Programs(folder)


def test_portal_robot_101_a_summarizer_reads_the_body(tmp_path: Path) -> None:
    assert program(tmp_path, "cat; echo said >&2").summarize("A.sum", b"title: x", 10.0) == "title: x"


def test_one_that_fails_says_how(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="exit status 3"):
        program(tmp_path, "exit 3").summarize("A.sum", b"", 10.0)


def test_one_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="took too long"):
        program(tmp_path, f"sleep 600 & echo $! >{tmp_path}/child; wait").summarize("A.sum", b"", 0.5)
    pid = int((tmp_path / "child").read_text())
    all_end([psutil.Process(pid)] if psutil.pid_exists(pid) else [])


@pytest.mark.parametrize("ending", ["", "/"])
def test_portal_robot_101_the_folder_is_found_in_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setenv("HARVEST_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"/bin:{tmp_path}/lib/gatherer{ending}")
    assert Programs().has_summarizers
    monkeypatch.setenv("PATH", "/bin")
    assert not Programs().has_summarizers
