"""Measure the cost of the portal robot's default filters per page, without parsing and extraction.

    python benchmarks/filters.py [--pages 20000]

Runs MetaData and Data of both default filters, with the twelve rules that are on by default, over parsed resources;
prints CPU microseconds per page as JSON. The goal is less than 100.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib.resources import files
from pathlib import Path

from ultracrawl.model import NO_CAUSE
from ultracrawl.rules.filters.function import Robot
from ultracrawl.rules.filters.phase import FilterKind
from ultracrawl.rules.filters.resource import Fetched, Resource, View
from ultracrawl.sources.filter_files.filter_file import read_filters
from ultracrawl.sources.filter_files.rules_file import read_rules

DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"
BODY = b"<title>T</title><meta name=author content=A><h1>H</h1><p>text <a href=/b>b</a>"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=20_000)
    pages = parser.parse_args().pages
    text = (DEFAULTS / "filterrules.conf").read_text()
    rules, _ = read_rules(text)
    uses = "".join(f"Use rule={rule.name}\n" for rule in rules.rules if rule.default)
    rules, _ = read_rules(f"{text}\n<Site name=h>\n{uses}</Site>")
    compiled = rules.compiled()
    robot = Robot(read=lambda path: (DEFAULTS / Path(path).name).read_text(), load_rules=lambda _: compiled)
    filters = read_filters((DEFAULTS / "filter.conf").read_text())
    enumeration = filters.compile("enumeration-default", FilterKind.ENUMERATION, robot)
    generation = filters.compile("generation-default", FilterKind.GENERATION, robot)
    assert not filters.text.findings, filters.text.findings
    headers = {"content-type": "text/html; charset=utf-8", "last-modified": "Wed, 01 Jan 2025 00:00:00 GMT"}
    resources = [Resource(f"http://h/section/page{number}.html", 3) for number in range(pages)]
    for resource in resources:
        resource.fetched = Fetched(headers, BODY + str(resource.url).encode())
        assert resource.page
    started = time.process_time()
    for resource in resources:
        for program in (enumeration, generation):
            view = View(resource)
            program.judge(view)
            program.inspect(view)
            assert view.cause == NO_CAUSE
    seconds = time.process_time() - started
    print(json.dumps({"pages": pages, "us_per_page": round(1e6 * seconds / pages, 1)}))


if __name__ == "__main__":
    main()
