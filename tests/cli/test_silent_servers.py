"""An index on a server that does not answer: commands say what they wait for, and give up before a person does."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.in_process import InProcessWorkspace
from support.project import Workspace
from support.tty import at_a_terminal
from support.until import PATIENCE

from ultracrawl.cli import terminal
from ultracrawl.index import searchable_project
from ultracrawl.index.searchable_project import PERSON_SECONDS

pytest.importorskip("opensearchpy")

COMMANDS = [
    ["search", "heron"],
    ["search", "--json", "heron"],
    ["search", "--complete", "her"],
    ["check-answers", "golden.yaml"],
    ["index", "info"],
    ["index", "check"],
    ["index", "optimise"],
    ["index", "rebuild"],
    ["index", "dump"],
]


@pytest.fixture
def silent() -> Iterator[int]:
    """A port at which connections are taken, and nothing is answered."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield server.getsockname()[1]


@pytest.fixture
def workspace(silent: int, tmp_path: Path) -> Workspace:
    made = InProcessWorkspace(tmp_path)
    define(made, silent)
    (tmp_path / "golden.yaml").write_text("- {query: heron, pages: 'http://lake.example/heron'}\n")
    return made


def define(workspace: Workspace, port: int, **index: object) -> None:
    options = {"engine": "opensearch", "url": f"http://127.0.0.1:{port}", **index}
    sources = {"site": {"start_urls": ["http://lake.example/"], "public": "confirmed"}}
    (workspace.directory / "ultracrawl.yaml").write_text(json.dumps({"index": options, "sources": sources}))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_gives_up_before_the_time_limit_of_the_definition(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    given: list[float] = []
    hurried = searchable_project.SearchableProject.hurried

    def in_haste(project: searchable_project.SearchableProject, seconds: float) -> object:
        given.append(seconds)
        return hurried(project, 0.2)

    monkeypatch.setattr(searchable_project.SearchableProject, "hurried", in_haste)
    ended = workspace.command(*words)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1), ended.err
    assert "127.0.0.1" in ended.err
    assert set(given) == {PERSON_SECONDS}


def test_a_shorter_limit_of_the_definition_counts(workspace: Workspace, silent: int) -> None:
    define(workspace, silent, timeout=0.2)
    ended = workspace.command("search", "heron")
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1)
    assert "0.2" in ended.err


@pytest.mark.parametrize("words", [["search", "heron"], ["index", "rebuild"]], ids=" ".join)
def test_a_terminal_says_which_server_is_waited_for(
    workspace: Workspace, silent: int, words: list[str]
) -> None:
    define(workspace, silent, timeout=4)
    with at_a_terminal(workspace.directory, *words) as person:
        person.sees(f"127.0.0.1:{silent}")
        code, rest = person.sees_the_end()
    assert code == 1
    assert f"127.0.0.1:{silent}" in rest, "the first line is none of an error"


def test_nothing_is_said_of_what_is_quick(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(terminal, "_SILENT_SECONDS", PATIENCE)
    with terminal.waiting_for("a server"):
        (timer,) = (one for one in threading.enumerate() if isinstance(one, threading.Timer))
    assert timer.finished.is_set(), "nothing is said later"
    assert capsys.readouterr().err == ""
