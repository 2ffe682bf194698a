"""A terminal of a person: what a command asks is read from it, and answers are typed into it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.project import ROOT
from support.until import PATIENCE


class Person:
    """Somebody in front of a terminal on which a command runs."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self._terminal = terminal
        self._process = process
        self._unread = ""

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._terminal, f"{line}\n".encode())

    def sees(self, text: str) -> str:
        """Return what is shown up to a text; AssertionError if the command ends before, or says nothing for long."""
        while text not in self._unread:
            assert self._read(), f"{text!r} is not shown: {self._unread!r}"
        shown, _, self._unread = self._unread.partition(text)
        return shown

    def sees_the_end(self) -> tuple[int, str]:
        """Return the exit code of the command, and what was still shown."""
        while self._read():
            pass
        return self._process.wait(PATIENCE), self._unread.replace("\r\n", "\n")

    def _read(self) -> bool:
        """Read what is shown next; False when the command has ended."""
        deadline = time.monotonic() + PATIENCE
        while not select.select([self._terminal], [], [], 0.2)[0]:
            assert time.monotonic() < deadline, f"nothing is shown after {self._unread!r}"
            if self._process.poll() is not None:
                return False
        try:
            new = os.read(self._terminal, 4096)
        except OSError:  # the other side is closed
            return False
        self._unread += new.decode()
        return bool(new)


@contextmanager
def at_a_terminal(directory: Path, *words: str) -> Iterator[Person]:
    """Run `ultracrawl WORDS` on a terminal; it is killed at the end if it still runs."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ultracrawl", *words],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Person(ours, process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)
