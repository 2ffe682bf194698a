"""The child process of `ultracrawl.python_api.crawl`: `python -m ultracrawl.service.child ARGUMENTS`.

ARGUMENTS is a JSON object: the arguments of `crawl()`, and as `parent` the file descriptor of a pipe; when its other
end closes, the crawl stops. The result is one JSON object on standard output: the reports, or the error that kept the
crawl from starting.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import TextIO

from pydantic import TypeAdapter

from ultracrawl.errors import UltracrawlError, UserError
from ultracrawl.model import RunReport
from ultracrawl.service.crawling import crawl_sources
from ultracrawl.settings.projects import find_project, project_of_urls
from ultracrawl.sources import Catalog
from ultracrawl.system.parent_watch import exit_on_close


def main(arguments: str) -> None:
    """Crawl and write the result."""
    output = _reserve_stdout()
    options = json.loads(arguments)
    exit_on_close(options.pop("parent"))
    try:
        reports = _crawl(**options)
    except UltracrawlError as error:
        result: dict[str, object] = {"error": str(error), "mistake": isinstance(error, UserError)}
    else:
        result = {"reports": TypeAdapter(list[RunReport]).dump_python(reports, mode="json")}
    with output:
        output.write(json.dumps(result))


def _reserve_stdout() -> TextIO:
    """Return standard output for the result, and redirect prints of spiders and libraries to standard error."""
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return output


def _crawl(where: str | None, sources: Iterable[str], *, force: bool) -> list[RunReport]:
    settings, given_urls, refused = {"LOG_LEVEL": "ERROR"}, tuple[str, ...](), list[RunReport]()
    if where is not None and "://" in where:
        given_urls = (where,)
        project, source = project_of_urls(given_urls)
        chosen = [source]
    else:
        project, _ = find_project(where)
        chosen, refused = Catalog(project).select_for_crawl(sources)
    return [*crawl_sources(project, chosen, force=force, settings=settings, given_urls=given_urls), *refused]


if __name__ == "__main__":
    main(sys.argv[1])
