"""The traces that are stored: read, compared, written anew."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Any

TRACES = Path(__file__).with_name("traces")
WRITING = os.environ.get("ULTRACRAWL_GOLDEN") == "write"
WIDTH = 118


def check(name: str, found: dict[str, Any]) -> None:
    """Compare a part of a trace with what is stored, or store it."""
    if WRITING:
        parts = sorted((stored(name) | found).items(), key=lambda part: (part[0] == "look", part[0]))
        file = TRACES / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(written(dict(parts)) + "\n")
        return
    trace = stored(name)
    assert_same({part: trace.get(part) for part in found}, found)


def stored(name: str) -> dict[str, Any]:
    """Return a trace; empty if there is none."""
    file = TRACES / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def assert_same(expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Fail with the lines that differ."""
    here, there = written(expected).splitlines(), written(found).splitlines()
    differences = list(difflib.unified_diff(here, there, "trace", "now", n=3, lineterm=""))
    assert not differences, "\n".join(["what happens now is not what the trace says:", *differences[:200]])


def written(value: Any, indent: int = 0) -> str:
    """Return JSON for people: what fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list):
        return line
    pad = " " * (indent + 1)
    if isinstance(value, list):
        return "[\n" + ",\n".join(pad + written(one, indent + 1) for one in value) + f"\n{' ' * indent}]"
    inner = ",\n".join(
        f"{pad}{json.dumps(k, ensure_ascii=False)}: {written(v, indent + 1)}" for k, v in value.items()
    )
    return "{\n" + inner + f"\n{' ' * indent}}}"
