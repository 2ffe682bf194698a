"""The audit log of a project: who changed what, when, from where, and with what result."""

from __future__ import annotations

import fcntl
import getpass
import json
import logging
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import WorkError
from ultracrawl.model.dates import as_text
from ultracrawl.sources import Project
from ultracrawl.system.files import cause_and_remedy

logger = logging.getLogger(__name__)
FILE = "audit.jsonl"
FILES_KEPT = 5
"""Full logs that are kept beside the present one: `audit.1.jsonl` is the latest."""
_LONGEST = 1000
"""Characters of a text; names come from requests too."""
_MOST_TARGETS = 100
DONE, REFUSED, FAILED, BEGUN = "done", "refused", "failed", "begun"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts, as `token:NAME`, `user:NAME` or `signal:NAME`, and from where: an address or a terminal."""

    who: str
    origin: str = ""

    @classmethod
    def of_process(cls) -> Actor:
        """Return the user of this process, and the terminal of its standard input or error output."""
        name = user_of_process()
        for stream in (0, 2):
            with suppress(OSError):
                return cls(f"user:{name}", os.ttyname(stream))
        return cls(f"user:{name}")


def user_of_process() -> str:
    """Return the name of the user of this process, or the number of one without a name, as in containers."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def record_action(
    project: Project,
    actor: Actor,
    action: str,
    targets: Iterable[str] = (),
    result: str = DONE,
    **details: Any,
) -> None:
    """Append a line to the audit log; an error is logged, because no action fails for it."""
    row = {
        "time": as_text(time.time()),
        "who": actor.who,
        "from": actor.origin or None,
        "action": action,
        "targets": [_shortened(target) for target in targets][:_MOST_TARGETS],
        "result": result,
        **{name: _shortened(value) for name, value in details.items()},
    }
    data = json.dumps(row, default=str).encode() + b"\n"
    path = project.logs.path / FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _opened(path, project.logs.size) as file:
            if os.write(file, data) < len(data):
                raise OSError(None, "the line is incomplete")
    except OSError as error:
        logger.warning("the audit log %s cannot be written: %s", path, cause_and_remedy(error))


def recorded_actions(project: Project) -> Iterator[dict[str, Any]]:
    """Yield the lines of the audit log as objects, the newest first; lines that are damaged are left out."""
    path = project.logs.path / FILE
    for file in (path, *(path.with_stem(f"{path.stem}.{number}") for number in range(1, FILES_KEPT + 1))):
        try:
            lines = file.read_bytes().splitlines()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise WorkError(f"the audit log cannot be read: {cause_and_remedy(error)}") from None
        for line in reversed(lines):
            with suppress(ValueError):
                row = json.loads(line)
                if isinstance(row, dict) and isinstance(row.get("targets"), list):
                    yield row


@contextmanager
def _opened(path: Path, size: int) -> Iterator[int]:
    """Open and lock the log for one line; a full one becomes `audit.1.jsonl` first."""
    while True:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            is_present = path.exists() and os.path.samestat(os.fstat(file), path.stat())
            if is_present and os.fstat(file).st_size < size:
                yield file
                return
            if is_present:
                _rotate(path)
        finally:
            os.close(file)


def _rotate(path: Path) -> None:
    earlier = [path, *(path.with_stem(f"{path.stem}.{number}") for number in range(1, FILES_KEPT + 1))]
    for number in range(FILES_KEPT, 0, -1):
        if earlier[number - 1].exists():
            earlier[number - 1].replace(earlier[number])


def _shortened(value: object) -> object:
    return value[:_LONGEST] if isinstance(value, str) else value
