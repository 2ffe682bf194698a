"""Crawling from somebody's Python program: any number of times, in scripts, services and notebooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import RunReport


def crawl(
    where: str | Path | None = None, *, sources: Iterable[str] = (), force: bool = False
) -> list[RunReport]:
    """Crawl the sources of a definition file, or the site of a URL, and return a report of each.

    Without `where` the project is the one that `ultracrawl crawl` would take: of the environment, the Scrapy project
    or the working directory. `sources` names some of it; `force` fetches and indexes every page again. A source that
    cannot begin has a report that says why in its `problems`.

    It runs in a process of its own, so that it may be called as often as wanted, beside any event loop. Ctrl-C stops
    it after the requests in flight; the next call goes on. So does the end of the calling process, however it comes.
    Raises `UserError` for a mistake in the definition, `WorkError` if a single source cannot begin for another reason.
    """
    theirs, ours = os.pipe()  # it ends with ours, also when this process is killed
    order = {
        "where": str(where) if where else None,
        "sources": list(sources),
        "force": force,
        "parent": theirs,
    }
    command = [sys.executable, "-m", "ultracrawl.service.child", json.dumps(order)]
    sys.stdout.flush()
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[theirs]) as child:
            os.close(theirs)
            try:
                answer, _ = child.communicate()
            except KeyboardInterrupt:
                child.communicate()  # it got the same Ctrl-C, and leaves everything so that the next run goes on
                raise
    finally:
        os.close(ours)
    if not answer:
        raise WorkError(f"the process of the crawl ended with exit code {child.returncode}")
    said = json.loads(answer)
    if "error" in said:
        raise (UserError if said["mistake"] else WorkError)(said["error"])
    return TypeAdapter(list[RunReport]).validate_python(said["reports"])
