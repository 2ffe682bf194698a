"""A service that crawls small sources without rest, whose processes are killed, does not grow with its crawls."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.hourly import hourly_source
from support.project import Workspace
from support.site import Site

from soak.looking import MOST_FILES, MOST_KB_A_CRAWL, gained_by_crawls, tracebacks
from soak.service import Sample, ShakenService

MINUTES = float(os.environ.get("ULTRACRAWL_SOAK_MINUTES", "3"))
SOURCES, PAGES = 12, 8
SAMPLE_SECONDS = 2.0
KILL_AFTER = 10
"""Samples between two kills."""
SEED = 50

pytestmark = [pytest.mark.night, pytest.mark.timeout(MINUTES * 60 + 300)]


def crawls_of(sites: list[Site]) -> int:
    return sum(site.count("/") for site in sites)


def test_a_service_does_not_grow_with_its_crawls(tmp_path: Path) -> None:
    workspace, samples = Workspace(tmp_path), list[tuple[int, Sample]]()
    with ExitStack() as stack:
        without_rest = {"refresh": {"when_idle": True, "interval": "1 d"}}
        made = {
            f"s{number}": hourly_source(stack, f"s{number}", PAGES, **without_rest)
            for number in range(SOURCES)
        }
        sites = [site for site, _ in made.values()]
        workspace.write({"sources": {name: source for name, (_, source) in made.items()}})
        service = ShakenService(workspace, SEED)
        stack.callback(service.kill_all)
        begun = time.monotonic()
        while (passed := time.monotonic() - begun) < MINUTES * 60:
            time.sleep(SAMPLE_SECONDS)
            service.assure()
            samples.append((crawls_of(sites), service.take_sample(passed / 60)))
            if len(samples) % KILL_AFTER == 0:
                print(*samples[-1], flush=True)
                service.kill_child()
        service.stop()
        private, files = gained_by_crawls(samples)
        print(f"{samples[-1][0]} crawls, {service.kills} killed; {private:.1f} kB a crawl, {files} files")
        assert private <= MOST_KB_A_CRAWL
        assert files <= MOST_FILES
        assert tracebacks(workspace) == []
