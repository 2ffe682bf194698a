"""What is done with the data of a project, by whatever version, and what is noted of it.

The version that made the data says what has to come out, so that the same is asked of both in the same words.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.project import Ended, Workspace
from support.proxy import Proxy
from support.site import Site

from upgrade.projects import APPROVE, APPROVE_DELETIONS, CRAWL, LOSE_INDEX, PROXY, REINDEX, Project

Noted = dict[str, Any]

AS_BEFORE = "as before"
"""Stands for what is shown after a step just as it was before it."""

_NOT_COMPARED = {
    "took_ms",
    "score",
    "bytes",
    "segments",
    "snippet",
    "snippet_html",
    "suggestion",
    "problem",
    "note",
}
"""What a later version may do otherwise, or another machine."""
_OF_THE_CLOCK = {
    "started", "finished", "seconds", "first_seen", "last_fetched", "next_expiry", "time",
    "rd-last-modified", "RD_Last_Modified",
}  # fmt: skip
"""What is another one after each crawl."""
_CHANGING = {CRAWL, REINDEX, APPROVE, APPROVE_DELETIONS}
_KEPT_FOR_A_WHILE = ("/robots.txt", "/sitemap.xml", "/map.xml")
_OF_A_RUN = ("outcomes", "status_codes", "fetched", "indexed", "deleted", "scheduled", "resumed", "ended_by")


@contextmanager
def served(site: Site, directory: Path, names: list[str]) -> Iterator[None]:
    """Serve a site under names of its own, and write the address of the proxy into the definitions of a folder."""
    with site.serve() as url, Proxy(dict.fromkeys(names, int(url.rpartition(":")[2]))) as proxy:
        for path in definitions(directory):
            path.write_text(path.read_text().replace(PROXY, proxy.url.removeprefix("http://")))
        yield


def definitions(directory: Path) -> list[Path]:
    """Return the files of a project beside its data."""
    found = [path for path in directory.rglob("*") if path.is_file()]
    return [path for path in found if path.relative_to(directory).parts[0] not in ("var", "robot")]


def journey(workspace: Workspace, project: Project, site: Site) -> list[Noted]:
    """Look at the data, take the steps of the project, and note after each what came of it."""
    commands = {"urls": ("urls", "--json"), "documents": ("index", "dump"), **project.extra_looks}
    whole = {**commands, "status": ("status", "--json"), "check": ("index", "check", "--json")}
    searches = {
        f"search {words}": ("search", "--json", "--limit", "1000", words) for words in project.searches
    }
    noted: list[Noted] = [{"step": "look", **look(workspace, project, {**whole, **searches}, _NOT_COMPARED)}]
    for number, words in enumerate(project.steps, 1):
        site.reset()
        done = {"step": " ".join(words), **_step(workspace, project, words), "requests": requests(site)}
        asked = whole if number == len(project.steps) else commands if words in _CHANGING else {}
        now = look(workspace, project, asked, _NOT_COMPARED | _OF_THE_CLOCK)
        noted.append(done | now)
    return noted


def condensed(noted: list[Noted]) -> list[Noted]:
    """Leave out what is shown after a step just as it was before it."""
    before, short = without(noted[0], _OF_THE_CLOCK), noted[:1]
    for step in noted[1:]:
        short.append(
            {name: AS_BEFORE if before.get(name) == shown else shown for name, shown in step.items()}
        )
        before |= step
    return short


def in_full(short: list[Noted]) -> list[Noted]:
    """Return what was condensed as it was."""
    before, noted = without(short[0], _OF_THE_CLOCK), short[:1]
    for step in short[1:]:
        noted.append({name: before[name] if shown == AS_BEFORE else shown for name, shown in step.items()})
        before |= noted[-1]
    return noted


def look(
    workspace: Workspace, project: Project, commands: Mapping[str, tuple[str, ...]], but: set[str]
) -> Noted:
    """Note what commands print that change nothing, and what was set aside as damaged."""
    noted: Noted = {}
    for name, words in commands.items():
        ended = workspace.command(*words, *project.config)
        noted[name] = {"code": ended.code, "printed": without(_printed(ended), but)}
    noted["damage"] = sorted(path.name for path in workspace.directory.rglob("*damaged*"))
    return noted


def requests(site: Site) -> list[str]:
    """Note what was asked for, on which condition, and what the answer was; not what versions keep for a while."""
    conditions = {"if-none-match": "etag", "if-modified-since": "date"}
    return sorted(
        " ".join(
            [one.path, *(said for name, said in conditions.items() if one.header(name)), str(one.status)]
        )
        for one in site.requests
        if one.path not in _KEPT_FOR_A_WHILE
    )


def _step(workspace: Workspace, project: Project, words: tuple[str, ...]) -> Noted:
    if words == LOSE_INDEX:
        shutil.rmtree(workspace.directory / "var" / "index")
        return {}
    ended = workspace.command(*words, *project.config)
    printed = (
        {"printed": without(_printed(ended), _NOT_COMPARED | _OF_THE_CLOCK)} if "--json" in words else {}
    )
    return {"code": ended.code, **printed}


def _printed(ended: Ended) -> Any:
    """Return what was printed as JSON, in an order of its own."""
    try:
        printed = ended.json
    except json.JSONDecodeError:
        printed = ended.lines
    if isinstance(printed, list):
        printed = [row for row in printed if not row.get("url", "").endswith(_KEPT_FOR_A_WHILE)]
        return sorted(printed, key=lambda row: json.dumps(row, sort_keys=True))
    printed.get("hits", []).sort(key=lambda hit: (hit["url"], hit["source"]))
    for of_source in printed.get("sources", []):
        of_source["last_run"] = _run(of_source["last_run"])
    return {**printed, "runs": list(map(_run, printed["runs"]))} if "runs" in printed else printed


def _run(report: Noted) -> Noted:
    return {name: report[name] for name in _OF_A_RUN if name in report}


def without(value: Any, names: set[str]) -> Any:
    """Return a value without what has one of these names, at any depth."""
    if isinstance(value, dict):
        return {name: without(one, names) for name, one in value.items() if name not in names}
    return [without(one, names) for one in value] if isinstance(value, list) else value
