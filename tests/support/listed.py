"""Crawls of one source that is listed (a folder, a table, an agent), and what is found of it."""

from __future__ import annotations

import re
from typing import Any

from support.project import Workspace


def crawl(workspace: Workspace, *words: str, code: int = 0) -> dict[str, Any]:
    """Crawl the source; returns the report of the run."""
    return workspace.crawl(*words, code=code).run


def outcomes(run: dict[str, Any]) -> dict[str, int]:
    """Return the outcomes that a run had, with their numbers."""
    return {name: number for name, number in run["outcomes"].items() if number}


def found(workspace: Workspace, *query: str, principal: str = "") -> list[str]:
    """Return the last parts of the URLs of all hits, sorted; also checks that their number is the total."""
    who = ("--principal", principal) if principal else ()
    answer = workspace.command("search", "--as-typed", *query, *who, "--limit", "1000", "--json").json
    assert answer["total"] == len(answer["hits"])
    return sorted(re.split("[/=]", hit["url"])[-1] for hit in answer["hits"])
