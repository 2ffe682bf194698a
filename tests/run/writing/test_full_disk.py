"""No room for the state: a clear line for each thing that failed, exit code 1, nothing lost, the next crawl goes on."""

from __future__ import annotations

import os
import re
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.project import Ended, Workspace
from support.site import Site

pytestmark = pytest.mark.processes

LINKS = 500
PAGES = [f"/{number}/{'x' * 600}" for number in range(LINKS)]


@pytest.fixture
def wide(site: Site) -> Site:
    """A site whose second half of links is found late, so that the room ends in the middle of the crawl."""
    site.page("/", title="Home", text="needle", links=PAGES[: LINKS // 2])
    for number, path in enumerate(PAGES):
        links = PAGES[LINKS // 2 :] if number == 20 else []
        site.page(path, title=str(number), text=f"needle {number}", links=links)
    return site


def limited(workspace: Workspace, kilobytes: int) -> Ended:
    """Crawl with a limit of the size of each file (RLIMIT_FSIZE): writing fails as on a full disk."""
    process = workspace.start("crawl", "--json")
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (kilobytes * 1024,) * 2)
    out, err = process.communicate(timeout=60)
    return Ended(process.returncode, out, err)


@contextmanager
def disk(path: Path, size: str) -> Iterator[Path]:
    """Mount a disk of this size."""
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


TOLD = re.compile(
    r"the state file .* cannot be (?:used|written)|document cache .* cannot be written|the disk is full"
)
"""What is said, by what came to its end first; when both did at once, both say it, and a full disk is told once."""


def is_clear(ended: Ended) -> None:
    assert ended.code == 1, ended.err
    assert "Traceback" not in ended.err
    told = [found[0] for line in ended.err.splitlines() if (found := TOLD.search(line))]
    assert told, ended.err
    assert len(told) == len(set(told)), ended.err


def nothing_is_lost(site: Site, workspace: Workspace, asked: int) -> None:
    """The next crawl goes on, asks for nothing twice but what was not durable, and ends with everything."""
    run = workspace.crawl().run
    assert run["resumed"] is True
    rows = workspace.urls()
    assert set(rows) == {"/", *PAGES}
    assert {row["outcome"] for row in rows.values()} == {"NEW"}
    assert len(workspace.indexed()) == LINKS + 1
    assert sum(site.counts().values()) < asked + LINKS + 10


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kilobytes", [500, 900])
def test_a_state_that_may_not_grow(wide: Site, url: str, workspace: Workspace, kilobytes: int) -> None:
    workspace.define(f"{url}/", politeness={"delay": 0.001, "concurrency": 4}, sitemaps={"use": False})
    is_clear(limited(workspace, kilobytes))
    nothing_is_lost(wide, workspace, sum(wide.counts().values()))


@pytest.mark.timeout(120)
@pytest.mark.skipif(os.geteuid() != 0 and os.environ.get("CI") != "true", reason="mounting a disk needs root")
def test_a_state_on_a_full_disk(wide: Site, url: str, workspace: Workspace, tmp_path: Path) -> None:
    workspace.define(f"{url}/", politeness={"delay": 0.001, "concurrency": 4}, sitemaps={"use": False})
    definition = workspace.directory / "ultracrawl.yaml"
    with disk(tmp_path / "disk", "700k") as small:
        definition.write_text(definition.read_text() + f"state: {small}/state\n")
        ended = workspace.command("crawl", "--json")
        is_clear(ended)
        assert "disk is full" in ended.err
        subprocess.run(["mount", "-o", "remount,size=60m", str(small)], check=True)
        nothing_is_lost(wide, workspace, sum(wide.counts().values()))
