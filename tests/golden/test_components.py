"""Every component does alone, without a definition, what its trace says; and so do all of them together."""

from __future__ import annotations

from pathlib import Path

import pytest

from golden.alone import COMPONENTS, alone
from golden.stored import TRACES, check

TOGETHER = "together"


@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.servers) for name in COMPONENTS),
        pytest.param(TOGETHER, marks=[pytest.mark.processes, pytest.mark.essential]),
    ],
)
def test_alone(name: str, tmp_path: Path) -> None:
    names = list(COMPONENTS) if name == TOGETHER else [name]
    check(f"alone/{name}", alone(names, tmp_path))


def test_no_trace_is_left_over() -> None:
    assert sorted(path.stem for path in TRACES.glob("alone/*.json")) == sorted([*COMPONENTS, TOGETHER])
