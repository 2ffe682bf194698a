"""benchmarks/measuring/cost.py: a command is charged for all its processes; a failure is told with its last line."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from support.project import ROOT

pytestmark = pytest.mark.processes

CHILD = """
import time
much = bytearray(60_000_000)
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
"""


@pytest.fixture
def cost(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("measuring.cost")


def test_the_processes_of_a_command_are_charged_to_it(cost: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    parent = "import subprocess, sys; subprocess.run([sys.executable, 'child.py'], check=True); print('done')"
    found = cost.run([sys.executable, "-c", parent], tmp_path)
    assert found.output == "done\n"
    assert found.cpu >= 0.5
    assert 0 < found.cpu_of("child.py") <= found.cpu
    assert found.peak_mb > 60
    assert (found + found).cpu == 2 * found.cpu
    assert (found + found).peak_mb == found.peak_mb


def test_modules_stay_compiled_whatever_holds_for_who_measures(
    cost: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "imported.py").touch()
    cost.run([sys.executable, "-c", "import sys; sys.path.insert(0, '.'); import imported"], tmp_path)
    assert list(tmp_path.glob("__pycache__/imported.*"))


def test_a_command_that_fails_is_reported_with_its_last_lines(cost: ModuleType, tmp_path: Path) -> None:
    failing = [sys.executable, "-c", "import sys; sys.exit('no such page')"]
    with pytest.raises(cost.CommandError, match="ended with 1: no such page"):
        cost.run(failing, tmp_path)
    assert cost.run(failing, tmp_path, accepted=(0, 1)).errors == "no such page\n"


def test_a_command_that_never_ends_is_ended_with_its_children(cost: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(cost.CommandError, match="ended with -9"):
        cost.run([sys.executable, "-c", "import time; time.sleep(3600)"], tmp_path, patience=0.5)
