"""`ultracrawl serve` in processes: kills, signals, systemd, and what is left in the end."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.hourly import hourly_source
from support.project import Workspace
from support.sentences import sentence
from support.site import Site
from support.started import end, kill, start
from support.until import until

from ultracrawl.service.control import readable_status
from ultracrawl.service.supervisor import single_service
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions

pytestmark = pytest.mark.processes

PAGES = 6


class Served:
    """A project of two sources, of which one is crawled again and again, and what `serve` says."""

    def __init__(self, workspace: Workspace, stack: ExitStack) -> None:
        self.workspace = workspace
        self.sites: dict[str, Site] = {}
        self.definition: dict[str, Any] = {"sources": {}}
        for name in ("busy", "quiet"):
            self.sites[name], self.definition["sources"][name] = hourly_source(stack, name, PAGES)
        workspace.write(self.definition)
        self._stack = stack

    @property
    def project(self) -> Project:
        return require(read_definitions(self.workspace.directory / "ultracrawl.yaml"))

    def start(self, **env: str) -> subprocess.Popen[str]:
        process = start(self._log, "serve", "--port", "0", "--jobs", "2", **env)
        self._stack.callback(kill, process)
        return process

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def _log(self) -> Path:
        return self.workspace.directory / "serve.log"

    def pid_of(self, source: str) -> int:
        sign = readable_status(self.project, source)
        return sign.pid if sign else 0

    def end(self, process: subprocess.Popen[str]) -> None:
        end(process, self._log)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with ExitStack() as stack:
        yield Served(Workspace(tmp_path), stack)


def test_it_crawls_what_is_due_and_ends_cleanly(served: Served) -> None:
    process = served.start()
    until(lambda: served.log.count(" 7 indexed") == 2, process)
    served.end(process)
    assert "all crawls have ended" in served.log
    assert len(served.workspace.search("needle")) == 2 * PAGES


def test_it_ends_cleanly_on_a_signal_of_somebody_who_has_just_heard_that_it_answers(served: Served) -> None:
    script = (
        "import os, signal\n"
        "from ultracrawl.service.supervisor.definitions import Definitions\n"
        "from ultracrawl.service.supervisor.serving import ServeOptions, serve\n"
        "options = ServeOptions(port=0, announce=lambda *_: os.kill(os.getpid(), signal.SIGTERM))\n"
        "assert serve(Definitions(), options)"
    )
    subprocess.run([sys.executable, "-c", script], cwd=served.workspace.directory, check=True)


def test_it_crawls_a_source_that_has_no_times_by_default(served: Served) -> None:
    for source in served.definition["sources"].values():
        del source["refresh"]
    served.workspace.write(served.definition)
    process = served.start()
    until(lambda: served.log.count(" 7 indexed") == 2, process)
    served.end(process)
    assert sentence("schedules.busy_quiet_by_interval") in served.log


def test_a_child_that_is_killed_is_begun_again_and_nothing_is_lost(served: Served) -> None:
    held = served.sites["busy"].hold("/3")
    process = served.start()
    until(lambda: served.sites["busy"].count("/3"), process)
    os.kill(served.pid_of("busy"), signal.SIGKILL)
    held.set()
    until(lambda: "busy: its process was killed by SIGKILL" in served.log, process)
    until(lambda: re.search(r"busy: \d+ URLs", served.log), process)
    served.end(process)
    assert len(served.workspace.search("needle")) == 2 * PAGES


def test_the_next_goes_on_where_one_was_killed_and_nobody_is_left_over(served: Served) -> None:
    held = served.sites["busy"].hold("/3")
    process = served.start()
    until(lambda: served.sites["busy"].count("/3") and "quiet: 7 URLs" in served.log, process)
    child = served.pid_of("busy")
    process.kill()
    process.wait()
    held.set()
    until(lambda: not psutil.pid_exists(child))
    process = served.start()
    until(lambda: re.search(r"busy: \d+ URLs", served.log), process)
    served.end(process)
    assert len(served.workspace.search("needle")) == 2 * PAGES


def test_a_second_one_is_refused_in_one_line(served: Served) -> None:
    process = served.start()
    until(lambda: "running the crawls" in served.log, process)
    ended = served.workspace.command("serve", "--port", "0")
    assert ended.code == 1
    assert sentence("supervisor.runs_already", process=process.pid) in ended.err
    assert len(ended.err.splitlines()) == 1
    served.end(process)


def test_other_commands_steer_its_crawls(served: Served) -> None:
    held = served.sites["busy"].hold("/3")
    process = served.start()
    until(lambda: served.sites["busy"].count("/3"), process)
    stopped = served.workspace.start("stop", "busy", "--timeout", "60")
    until(
        lambda: served.pid_of("busy") and "stopping" in str(readable_status(served.project, "busy")), process
    )
    held.set()
    out, err = stopped.communicate(timeout=60)
    assert "busy: stopped" in out, err
    served.end(process)


def test_sighup_reads_the_definitions_anew_and_systemd_hears_of_it(served: Served, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "n"))
        systemd.settimeout(60)
        process = served.start(NOTIFY_SOCKET=str(tmp_path / "n"), WATCHDOG_USEC="200000")
        heard: list[str] = []

        def hear(wanted: str) -> None:
            while not heard or wanted not in heard[-1]:
                heard.append(systemd.recv(1000).decode())

        hear("READY=1")
        hear("WATCHDOG=1")
        process.send_signal(signal.SIGHUP)
        hear("RELOADING=1")
        hear("READY=1")
        until(lambda: "the definitions were reloaded" in served.log, process)
        process.send_signal(signal.SIGTERM)
        hear("STOPPING=1")
        assert process.wait(60) == 0


def test_the_temporary_folder_of_a_killed_service_is_deleted(tmp_path: Path) -> None:
    note, folder = tmp_path / "service.tmp", tmp_path / "pymp-left"
    folder.mkdir()
    (folder / "owner").touch()
    note.write_text(str(folder))
    single_service._replace_temporary_folder(note)
    assert not folder.exists()
    assert Path(note.read_text()).name.startswith("pymp-")


@pytest.mark.parametrize("name", ["other", "pymp-without-owner", "pymp-of-the-living"])
def test_no_other_folder_is_deleted(tmp_path: Path, name: str) -> None:
    """The note may have come with a copy of the project's whole folder, whose service lives."""
    note, folder = tmp_path / "service.tmp", tmp_path / name
    folder.mkdir()
    note.write_text(str(folder))
    with ExitStack() as stack:
        if name != "pymp-without-owner":
            owner = stack.enter_context((folder / "owner").open("w"))
            if name == "pymp-of-the-living":
                fcntl.flock(owner, fcntl.LOCK_EX)
        single_service._replace_temporary_folder(note)
        assert folder.exists()
