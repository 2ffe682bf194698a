"""The programs of `benchmarks/`, loaded by tests."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

from support.project import ROOT

FOLDER = ROOT / "benchmarks"


def load_benchmark(name: str, patch: pytest.MonkeyPatch) -> ModuleType:
    """Load one as if it were run, until the patch is undone."""
    patch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    patch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module
