"""Commands that believe they run on another machine: it has a name of its own, and knows no process of this one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.project import ROOT, Workspace

_ELSEWHERE = """
import os, platform
_readlink = os.readlink
os.readlink = lambda path, **more: "pid:[{name}]" if path == "/proc/self/ns/pid" else _readlink(path, **more)
platform.node = lambda: "{name}"
"""


class Elsewhere(Workspace):
    """A workspace on a machine of its own; its commands are really started."""

    def __init__(self, directory: Path, name: str, **env: str) -> None:
        super().__init__(directory)
        self.name = name
        self._env = {"ULTRACRAWL_NODE": name, **env}
        place = directory / ".elsewhere"
        place.mkdir(parents=True)
        (place / "sitecustomize.py").write_text(_ELSEWHERE.format(name=name))
        self._env["PYTHONPATH"] = f"{place}:{ROOT}"

    def start(self, *words: str, hosted: bool | None = None, **env: str) -> subprocess.Popen[str]:
        """See `Workspace.start`."""
        return super().start(*words, hosted=False, **{**self._env, **env})
