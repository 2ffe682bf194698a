"""`core/install.py` brings the compiled core where a compiler is found, and never fails an installation."""

from __future__ import annotations

import importlib.util
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.project import ROOT

Compiler = Callable[[str], None]


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("core_install", ROOT / "core" / "install.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiler:
    """Return what puts a program named `cargo` on the path, which is empty without it."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(lines: str) -> None:
        program = tmp_path / "cargo"
        program.write_text(f"#!/bin/sh\n{lines}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    return put


@pytest.fixture
def pip(script: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Return what has another program run in place of Python with pip."""

    def run(lines: str) -> None:
        program = tmp_path / "python"
        program.write_text(f"#!{sys.executable}\n{lines}\n")
        program.chmod(0o755)
        monkeypatch.setattr(script.sys, "executable", str(program))

    return run


def both(script: ModuleType) -> tuple[int, int]:
    """Return the status without and with `--required`."""
    return script.main([]), script.main(["--required"])


def test_without_a_compiler_nothing_is_built_and_the_installation_goes_on(
    script: ModuleType, compiler: Compiler, pip: Any
) -> None:
    pip("raise SystemExit('pip was asked')")
    assert script.install() is script.Outcome.NO_COMPILER
    assert both(script) == (0, 1)


@pytest.mark.parametrize(
    "program", ["exit 1", "echo 'cargo 1.99.0'; exit 1", "echo 'error: no default toolchain'"]
)
def test_a_compiler_that_does_not_run_is_none(
    script: ModuleType, compiler: Compiler, pip: Any, program: str
) -> None:
    compiler(program)
    assert script.install() is script.Outcome.NO_COMPILER


def test_one_that_is_too_old_is_not_tried(script: ModuleType, compiler: Compiler, pip: Any) -> None:
    compiler("echo 'cargo 1.63.0 (fd9c4297c 2022-07-01)'")
    assert script.install() is script.Outcome.OLD_COMPILER
    assert both(script) == (0, 1)


def test_one_that_fails_says_what_it_printed_last(
    script: ModuleType, compiler: Compiler, pip: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler("echo 'cargo 1.95.0'")
    pip("import sys; print('first', 2, 3, 'linker `cc` not found', sep='\\n', file=sys.stderr); sys.exit(1)")
    assert script.install() is script.Outcome.FAILED
    printed = capsys.readouterr().err
    assert "linker `cc` not found" in printed
    assert "first" not in printed
    assert both(script) == (0, 1)


def test_one_that_never_ends_is_ended(
    script: ModuleType, compiler: Compiler, pip: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler("echo 'cargo 1.95.0'")
    pip("import signal; signal.pause()")
    monkeypatch.setattr(script, "LIMIT", 0.5)
    assert script.install() is script.Outcome.TOO_LONG
    assert both(script) == (0, 1)


def test_it_says_what_it_does_before_it_compiles(
    script: ModuleType, compiler: Compiler, pip: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler("echo 'cargo 1.95.0'")
    said = tmp_path / "said"
    with said.open("w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        pip(f"import sys; sys.exit(0 if open({os.fspath(said)!r}).read() else 1)")
        assert script.install() is script.Outcome.BUILT


def test_it_names_the_oldest_compiler_of_the_package(script: ModuleType) -> None:
    assert script.needed_version() == (1, 83)
