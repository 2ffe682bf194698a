"""The program of a crawl for somebody else's Python program: `python -m ultracrawl.service.child ORDER`.

`ultracrawl.python_api` starts it. ORDER is a JSON object: the arguments of `crawl()`, and the file descriptor of a pipe
whose end stops the crawl. The answer is one JSON value on standard output: the reports, or the error that kept the
crawl from beginning.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from pydantic import TypeAdapter

from ultracrawl.errors import UltracrawlError, UserError
from ultracrawl.model import RunReport
from ultracrawl.service.lifeline import end_with
from ultracrawl.service.run import run_sources
from ultracrawl.settings.adhoc import add_adhoc_source
from ultracrawl.settings.projects import find_project
from ultracrawl.sources import Catalog


def main(order: str) -> None:
    """Crawl and answer."""
    answer = _answer_alone()
    wanted = json.loads(order)
    end_with(wanted.pop("parent"))
    try:
        reports = _crawl(**wanted)
    except UltracrawlError as error:
        said: dict[str, object] = {"error": str(error), "mistake": isinstance(error, UserError)}
    else:
        said = {"reports": TypeAdapter(list[RunReport]).dump_python(reports, mode="json")}
    with answer:
        answer.write(json.dumps(said))


def _answer_alone() -> TextIO:
    """Return standard output; what spiders and libraries print goes to standard error from now on."""
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return answer


def _crawl(where: str | None, sources: Iterable[str], *, force: bool) -> list[RunReport]:
    settings = {"LOG_LEVEL": "ERROR"}
    if where is not None and "://" in where:
        project, made = add_adhoc_source((where,), Path.cwd())
        return run_sources(project, [made], force=force, settings=settings, asked=(where,))
    project, _ = find_project(where)
    chosen, refused = Catalog(project).select_for_crawl(sources)
    return [*run_sources(project, chosen, force=force, settings=settings), *refused]


if __name__ == "__main__":
    main(sys.argv[1])
