"""Output whose reader leaves says nothing; a working directory that is gone is one line."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.project import ROOT
from support.sentences import sentence

import ultracrawl.cli.main  # noqa: F401 - so that it is loaded

COMMAND = f"PYTHONPATH={ROOT} {sys.executable} -m ultracrawl"


def shell(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", script], cwd=cwd, capture_output=True, text=True, check=False)


def test_a_reader_that_left(tmp_path: Path) -> None:
    ended = shell(f"{COMMAND} schema | head -1", tmp_path)
    assert (ended.stdout, ended.stderr) == ("{\n", "")


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    ended = shell(f"rmdir {gone}; {COMMAND} lint", gone)
    assert ended.returncode == 1
    assert ended.stderr.startswith(sentence("output.no_working_directory"))
    assert ended.stderr.count("\n") == 1


def test_an_argument_that_is_no_text_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    main = sys.modules["ultracrawl.cli.main"]  # the package has a function of that name
    monkeypatch.setattr(main, "run_words", lambda words: len(words[-1].encode()))
    monkeypatch.setattr(main.click, "echo", lambda line, **_: told.append(line))
    monkeypatch.setattr(sys, "argv", ["ultracrawl", "status", "http://a.example/\udcff"])
    assert main._run() == 2
    assert told == [sentence("output.not_utf8")]
