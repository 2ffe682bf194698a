"""Random answers and random faults at random stages: the run ends in time, the report adds up, nothing is forgotten."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from support.faults import FAULTS, Fault
from support.project import Workspace
from support.site import Site

pytestmark = pytest.mark.servers  # much time


PAGES = 14
SECONDS = 12.0
"""The time limit of a run; with a loaded machine in mind it is far more than a crawl needs."""
STARTING = 20.0
"""What starting and ending a process may take besides."""
FAILED = {"FAILED", "HTTP_ERROR", "NETWORK_ERROR", "QUEUED"}
STATUSES = (201, 204, 300, 304, 305, 399, 400, 403, 404, 410, 418, 500, 503, 599, 600, 955, 999)
CUT = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<p>cut"


def answers(site: Site, chosen: random.Random, names: list[str]) -> None:
    """Put something at each path; every page links to a few others, so that what fails hides nothing."""
    for name in names:
        links = chosen.sample(names, 3)
        match chosen.randrange(9):
            case 0 | 1 | 2 | 3:
                site.page(name, title=name, text=f"words of {name}", links=links)
            case 4:
                status = chosen.choice(STATUSES)
                site.respond(name, status=status, headers={"Content-Type": "text/html"}, body="<p>odd")
            case 5:
                site.redirect(name, chosen.choice(names), status=chosen.choice((301, 302, 307, 308)))
            case 6:
                site.raw(name, b"")
            case 7:
                site.raw(name, CUT)
            case 8:
                site.page(name, title=name, text="the same words everywhere", links=links)


def together(faults: list[Fault]) -> dict[str, Any]:
    """Return the options of a source in which all of them happen."""
    options: dict[str, Any] = {"settings": {}}
    for fault in faults:
        given = fault.options()
        options.update({name: value for name, value in given.items() if name != "settings"})
        for name, value in given.get("settings", {}).items():
            options["settings"].setdefault(name, {}).update(value)
    return options


@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_the_run_ends_and_the_next_one_goes_on(
    site: Site, url: str, workspace: Workspace, seed: int
) -> None:
    chosen = random.Random(seed)
    names = [f"/{'hit' if chosen.random() < 0.3 else 'page'}-{number}" for number in range(PAGES)]
    site.page("/", title="Home", links=[*names, "/changing"], text="words")
    site.page("/changing", title="Changing", text="heron")
    answers(site, chosen, names)
    faults = chosen.sample([one for one in FAULTS.values() if one.act == "raise"], 3)
    faults[0].install(workspace.directory)
    patient = {"delay": 0, "concurrency": 8, "backoff": {"longest": 0.01, "limit": 1000}}
    limits = {"timeout": 0.3, "seconds": SECONDS, "retries": 0}
    workspace.define(f"{url}/", limits=limits, politeness=patient, **together(faults))
    run = workspace.crawl(code=None, timeout=2 * SECONDS + STARTING).run
    assert run["seconds"] < 2 * SECONDS
    table = workspace.urls()
    assert run["outcomes"] == Counter(row["outcome"] for row in table.values()) - Counter(
        QUEUED=run["scheduled"] - sum(run["outcomes"].values())
    )
    ended_well = {path for path, row in table.items() if row["outcome"] not in FAILED}
    assert "/" in ended_well

    site.change("/changing", text="bittern")
    site.reset()
    workspace.define(f"{url}/", politeness=patient, limits={"retries": 0})
    again = workspace.crawl(code=None).run
    while again["resumed"]:
        again = workspace.crawl(code=None).run
    assert table.keys() - ended_well <= set(site.paths())
    assert workspace.search("bittern") == ["/changing"]
