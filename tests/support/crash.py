"""Kills a crawl again and again and compares what is left in the end with an undisturbed one."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.project import Workspace, kill_group
from support.site import Site

MOST_HITS = 1000
"""What `ultracrawl search` shows at the most."""
TIMES = ("first_seen", "last_fetched", "depth")
"""What may differ between two crawls of one site: when, and by which route, a URL was found first."""


def build(site: Site, pages: int) -> None:
    """Fill a site with a tree of pages that link up, down and across, and a few URLs that end otherwise."""
    for number in range(pages):
        children = [f"/p{child}" for child in range(3 * number + 1, 3 * number + 4) if child < pages]
        links = [*children, "/p0", f"/p{number * 7 % pages}", "/gone", "/moved", "/private"]
        site.page(
            f"/p{number}", title=f"Page {number}", links=links, text=f"unique{number} shared words " * 20
        )
    site.redirect("/moved", "/p5")
    site.gone("/gone")
    site.robots("User-agent: *\nDisallow: /private\n")


@dataclass(slots=True)
class Shaken:
    """What the kills hit, and what was left."""

    kills: int = 0
    """How many hit a running crawl."""
    finished: int = 0
    """How many crawls were faster than their kill."""
    differences: list[str] = field(default_factory=list)


def shake(site: Site, url: str, directory: Path, *, pages: int, kills: int, seed: int) -> Shaken:
    """Crawl once undisturbed and once with `kills` kills of the whole process group, and compare the results."""
    calm, shaken = Workspace(directory / "calm"), Workspace(directory / "shaken")
    for workspace in (calm, shaken):
        workspace.directory.mkdir()
        workspace.define(f"{url}/p0", politeness={"delay": 0.004, "concurrency": 4})
    calm.crawl()
    dice, result = random.Random(seed), Shaken()
    while result.kills < kills:
        process = shaken.start("crawl", "--json", *(["--force"] if result.finished % 2 else []))
        try:
            process.wait(timeout=0.3 + dice.random() * 0.9)
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
    return differences


def _rows(workspace: Workspace) -> dict[str, dict[str, Any]]:
    """Return the document table without what may differ; a page found anew or again counts the same."""
    rows = workspace.urls()
    for row in rows.values():
        for name in TIMES:
            del row[name]
        row["url"] = row["display_url"] = row["access_url"] = row["access_url"].split("/", 3)[3]
        if row["outcome"] in ("MODIFIED", "UNMODIFIED", "NOT_MODIFIED"):
            row["outcome"] = "NEW"
        if row["status_code"] == 304:
            row["status_code"] = 200
        del row["status_text"]
    return rows
