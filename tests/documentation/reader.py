"""A reader who copies what a page shows, command by command, and compares what is printed with what stands there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from support.free_port import free_port
from support.project import ROOT
from support.until import PATIENCE, until

_BLOCK = re.compile(r"^```(yaml|html|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_WRITTEN = {"yaml": "ultracrawl.yaml", "html": "page.html"}
"""The file that a reader writes a block into."""
_ASKED_AGAIN = ("ultracrawl status", "curl ")
"""Commands about something that takes its time: a reader repeats them."""
_OF_THE_CLONE = "python examples/"
_VARIES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\dZ?"  # when
    r"|[\d.]+ (?:s|ms|bytes|kB|MB)\b"  # how long, how much
)


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a page, and the lines that the page shows of its answer."""

    command: str
    shown: list[str]


def steps(block: str) -> list[Step]:
    """Return the commands of a console block in their order."""
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:].split("    #")[0].strip(), []))
        elif line.strip():
            found[-1].shown.append(line)
    return found


def shows(printed: str, shown: list[str]) -> bool:
    """Return whether the lines shown were printed in this order; `…` is anything, times and sizes are alike."""
    rest = iter(printed.splitlines())
    return all(any(_pattern(line).match(_alike(other)) for other in rest) for line in shown)


def _pattern(line: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in _alike(line).split("…")))


def _alike(line: str) -> str:
    return _VARIES.sub("#", line).strip()


class Reader:
    """Follows pages in one folder; ports of the pages are free ones here."""

    def __init__(self, directory: Path, *ports: str) -> None:
        self._directory = directory
        self._ports = {port: str(free_port()) for port in ports}
        self._background: list[subprocess.Popen[str]] = []
        there = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._environment = {**os.environ, "PATH": there, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}

    def follow(self, page: Path) -> int:
        """Do what a page says, and return how many commands that were; AssertionError names a wrong one."""
        done = 0
        for kind, body in _BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind in _WRITTEN:
                (self._directory / _WRITTEN[kind]).write_text(self.here(body))
                continue
            for step in steps(self.here(body)):
                self._do(step)
                done += 1
        return done

    def end(self, beginning: str = "") -> None:
        """End what runs in the background and begins with a text."""
        for process in [one for one in self._background if str(one.args).startswith(beginning)]:
            self._background.remove(process)
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)

    def here(self, text: str) -> str:
        """Return a text of a page with the ports that are free here."""
        for port, own in self._ports.items():
            text = re.sub(rf"\b{port}\b", own, text)
        return text

    def _do(self, step: Step) -> None:
        if step.command.endswith("&"):
            self._start(step)
            return
        code, printed = self._run(step.command)
        deadline = time.monotonic() + PATIENCE
        while not shows(printed, step.shown) and step.command.startswith(_ASKED_AGAIN):
            assert time.monotonic() < deadline, f"$ {step.command}\n{printed}"
            time.sleep(1)  # the service limits how often one address asks
            code, printed = self._run(step.command)
        assert (code, shows(printed, step.shown)) == (0, True), f"$ {step.command}\n{printed}"

    def _run(self, command: str) -> tuple[int, str]:
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=self._directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return ended.returncode, ended.stdout

    def _start(self, step: Step) -> None:
        command = step.command.removesuffix("&").strip()
        log = self._directory / f"background-{len(self._background)}.log"
        with log.open("w") as output:
            process = subprocess.Popen(
                f"exec {command}",
                shell=True,  # a line of our own pages
                cwd=ROOT if command.startswith(_OF_THE_CLONE) else self._directory,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self._background.append(process)
        until(lambda: shows(log.read_text(), step.shown), process)
