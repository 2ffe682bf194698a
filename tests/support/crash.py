"""Kills a crawl again and again and compares what is left in the end with an undisturbed one."""

from __future__ import annotations

import random
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.project import Workspace, kill_group
from support.same_index import index_differences
from support.site import Site

MOST_HITS = 1000
"""What `ultracrawl search` shows at the most."""
TIMES = ("first_seen", "last_fetched")
"""What may differ between two crawls of one site: when a URL was found first."""
COPIED = 25
"""One page of so many has a copy under a longer URL."""
BEGINS = 30.0
"""Seconds that a crawl may take until it asks for something."""


def build(site: Site, pages: int) -> None:
    """Fill a site with a tree of pages that link up, down and across, and a few URLs that end otherwise.

    Every link says something of its target: some what all links say, some what few do, some to a page of which more is
    said than an index takes, and some of a URL that redirects.
    """
    for number in range(pages):
        across, body = number * 7 % pages, f"unique{number} shared words " * 20
        links = {
            **{f"/p{child}": f"Child {child}" for child in range(3 * number + 1, 3 * number + 4) if child < pages},
            "/p0": f"Home as {number % 40} say",
            f"/p{across}": f"Group {across // 5}" if number % 2 else f"Across {across}, by {number % 9}",
            f"/p{number // 2}": "Next",
            "/gone": "Gone",
            "/moved": f"Moved {number % 3}",
            "/private": "Private",
        }  # fmt: skip
        if number % COPIED == 3:
            links[f"/copy{number}"] = f"Copy of {number}"
            put_page(site, f"/copy{number}", {}, title=f"Page {number}", text=body)
        put_page(site, f"/p{number}", links, title=f"Page {number}", text=body)
    site.redirect("/moved", "/p5")
    site.gone("/gone")
    site.robots("User-agent: *\nDisallow: /private\n")


def put_page(site: Site, path: str, links: dict[str, str], *, title: str, text: str) -> None:
    """Put a page whose links have these texts; its own text does not hold them a second time."""
    said = "".join(f'<a href="{target}">{called}</a>' for target, called in links.items())
    html = f"<html lang=en><title>{title}</title><body><p>{text}</p><nav role=navigation>{said}</nav>"
    site.file(path, html.encode(), "text/html; charset=utf-8")


@dataclass(slots=True)
class Shaken:
    """What the kills hit, and what was left."""

    kills: int = 0
    """How many hit a running crawl."""
    finished: int = 0
    """How many crawls were faster than their kill."""
    differences: list[str] = field(default_factory=list)


def shake(
    site: Site, url: str, directory: Path, *, pages: int, kills: int, seed: int, engine: str = "whoosh"
) -> Shaken:
    """Crawl once undisturbed and once with `kills` kills of the whole process group, and compare the results."""
    calm, shaken = Workspace(directory / "calm"), Workspace(directory / "shaken")
    for workspace in (calm, shaken):
        workspace.directory.mkdir(parents=True)
        define(workspace, f"{url}/p0", engine, politeness={"delay": 0.004, "concurrency": 4})
    calm.crawl()
    dice, result = random.Random(seed), Shaken()
    while result.kills < kills:
        before = len(site.requests)
        process = shaken.start("crawl", "--json", *(["--force"] if result.finished % 2 else []))
        begun = time.monotonic()
        while len(site.requests) == before and process.poll() is None and time.monotonic() < begun + BEGINS:
            time.sleep(0.01)
        try:
            process.wait(timeout=dice.random() * 0.9)
            process.communicate()
            result.finished += 1
        except subprocess.TimeoutExpired:
            kill_group(process)
            result.kills += 1
    final = shaken.crawl(code=None)
    if final.code:
        result.differences.append(f"the last crawl ended with {final.code}: {final.err} {final.out}")
    result.differences += compare(calm, shaken, pages)
    return result


def define(workspace: Workspace, start: str, engine: str, **source: Any) -> None:
    """Write a definition whose documents go to the index in many small segments."""
    workspace.define(start, **source)
    definition = workspace.directory / "ultracrawl.yaml"
    text = f"index: {{path: index, engine: {engine}}}\ncache: {{size: 20 KB}}\n"
    definition.write_text(text + definition.read_text())


def compare(calm: Workspace, shaken: Workspace, pages: int) -> list[str]:
    """Return in what two crawls of the same site differ."""
    differences = []
    expected, rows = _rows(calm), _rows(shaken)
    for path in sorted(expected.keys() | rows.keys()):
        if expected.get(path) != rows.get(path):
            differences.append(f"{path}: {expected.get(path)} against {rows.get(path)}")
    expected_documents, documents = calm.indexed(), shaken.indexed()
    if documents != expected_documents:
        held = f"{len(documents)} documents ({len(set(documents))} different)"
        differences.append(f"the index holds {held}, not {len(expected_documents)}")
    if len(documents) != pages:
        differences.append(f"{len(documents)} of {pages} pages are in the index")
    if len(shaken.search("shared")) != min(pages, MOST_HITS):
        differences.append("the index does not answer as it should")
    return differences + index_differences(calm, shaken)


def _rows(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Return the document table without what may differ; a page found anew or again counts the same."""
    rows = workspace.urls()
    for row in rows.values():
        for name in TIMES:
            del row[name]
        row["url"] = row["display_url"] = row["access_url"] = row["access_url"].split("/", 3)[3]
        if row["outcome"] in ("MODIFIED", "REINDEXED", "UNMODIFIED", "NOT_MODIFIED"):
            row["outcome"] = "NEW"
        if row["status_code"] == 304:
            row["status_code"] = 200
        if row["status_code"] == 910:  # a duplicate as before
            row["status_code"] = 909
        del row["status_text"]
    return rows
