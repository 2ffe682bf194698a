"""Counts what each process of a command does: calls, what functions in C are given, and what its start makes.

`counter/sitecustomize` counts in the processes. The periodic tasks of a crawl come with its pages
(`counter/ticks_by_pages`), and the compiled core is off.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support import started

from measuring.cost import COMPILED, CommandError, run
from measuring.ours import INDEX_PROCESS, command
from ultracrawl.system.compiled_core import SWITCH

COUNTER = Path(__file__).parent / "counter"
NOT_COUNTED = (
    *("ultracrawl/cli/crawl/progress", "ultracrawl/service/run", "ultracrawl/system/plugins"),
    "ultracrawl/dataclass",
)
"""Files whose calls hang on the time that a crawl takes, and on the packages that are installed; that which makes the
methods of dataclasses, once each: these are counted with the start."""
PROJECT = "cache: {phases: two}\nindex: {engine: whoosh}"
"""The lines of a project whose crawls are counted: there is one commit, whenever the documents come."""
TICKS = "ticks_by_pages.TicksByPages"
CALLS = "calls"

Counted = Mapping[str, Any]
"""What one process counted: `counter/sitecustomize` writes it."""


def source(*extensions: str) -> str:
    """Return the lines of a source whose crawls are counted, with the names of further extensions of Scrapy."""
    named = ", ".join(f"{name}: {order}" for order, name in enumerate((TICKS, *extensions), 1))
    return f"settings: {{EXTENSIONS: {{{named}}}}}"


def counted(folder: Path, tree: Path, *arguments: str) -> list[Counted]:
    """Run a command in a folder; returns what its processes counted, its own first. Raises `CommandError`."""
    words, environment = command(*arguments, tree=tree)
    with _counts(tree, environment) as counts:
        run(words, folder, environment=environment)
        return _own_first(counts, words[1:])


def counted_service(folder: Path, tree: Path) -> Counted:
    """Start the service in a folder, and end it as soon as it answers; returns what its process counted."""
    words, environment = command("serve", "--port", "0", tree=tree)
    with _counts(tree, environment) as counts:
        log = folder / "serve.log"
        service = started.start(log, *words[3:], **COMPILED, **environment)
        try:
            started.address(log, service)
            started.end(service, log)
        finally:
            started.kill(service)
        return _own_first(counts, words[1:])[0]


@contextmanager
def _counts(tree: Path, environment: dict[str, str]) -> Iterator[Path]:
    """Have the processes of an environment count; gives the folder that they write to."""
    with tempfile.TemporaryDirectory() as counts:
        environment["PYTHONPATH"] = os.pathsep.join([str(COUNTER), environment["PYTHONPATH"]])
        environment |= {"PYTHONHASHSEED": "0", SWITCH: "0", "CALLS_FOLDER": counts, "CALLS_TREE": str(tree)}
        yield Path(counts)


def _own_first(counts: Path, words: Sequence[str]) -> list[Counted]:
    processes = [json.loads(file.read_text()) for file in counts.iterdir()]
    own = [one for one in processes if one["command"][1:] == words]
    if len(own) != 1:
        raise CommandError(f"{len(own)} processes of {' '.join(words)} have counted")
    return own + [one for one in processes if one is not own[0]]


def is_of_index(process: Counted) -> bool:
    """Return whether a process writes the index."""
    return INDEX_PROCESS in " ".join(process["command"])


def by_file(process: Counted) -> dict[str, Counter[str]]:
    """Return by kind what each file of the package did: calls of and by its functions, and what it gave to C."""
    calls = Counter(process["functions"]) + Counter(process["in_c"])
    kinds = {CALLS: calls, **{kind: Counter(given) for kind, given in process["given"].items()}}
    return {
        kind: Counter({file: number for file, number in files.items() if not file.startswith(NOT_COUNTED)})
        for kind, files in kinds.items()
    }
