"""The public function `crawl`, for scripts, services and notebooks."""

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
    """Crawl the sources of a definition file, or the site of a URL, and return a report for each source.

    Without `where` the project is found as `ultracrawl crawl` finds it: from the environment, the Scrapy project or the
    working directory. `sources` restricts the crawl to the named ones; `force` fetches and indexes every page again.
    The report of a source that could not start has the reason in its `problems`.

    The crawl runs in a child process, so it can be called repeatedly and beside any event loop. Ctrl-C, or the end of
    the calling process for any reason, stops it after the requests in flight; the next call resumes it.
    Raises `UserError` for a mistake in the definition, `WorkError` if a single source cannot start for another reason.
    """
    # The child stops when the write end closes, which also happens when this process is killed.
    read_end, write_end = os.pipe()
    arguments = {
        "where": str(where) if where else None,
        "sources": list(sources),
        "force": force,
        "parent": read_end,
    }
    command = [sys.executable, "-m", "ultracrawl.service.child", json.dumps(arguments)]
    sys.stdout.flush()
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, pass_fds=[read_end]) as child:
            os.close(read_end)
            try:
                output, _ = child.communicate()
            except KeyboardInterrupt:
                child.communicate()  # the child received the same Ctrl-C, and shuts down so that it can be resumed
                raise
    finally:
        os.close(write_end)
    if not output:
        raise WorkError(f"the process of the crawl ended with exit code {child.returncode}")
    result = json.loads(output)
    if "error" in result:
        raise (UserError if result["mistake"] else WorkError)(result["error"])
    return TypeAdapter(list[RunReport]).validate_python(result["reports"])
