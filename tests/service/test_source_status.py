"""The status of a source while it is crawled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.project import Workspace

from ultracrawl.service import source_status
from ultracrawl.sources import load_project, require
from ultracrawl.stores.control_channel import CrawlStatus


def test_the_run_that_goes_on_is_not_the_next_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Workspace(tmp_path).define("http://a.example/", refresh={"interval": "1 h"})
    project = require(load_project(tmp_path))
    (source,) = project.known_sources.values()
    assert source_status.source_status(project, source)["next_run"] is not None
    monkeypatch.setattr(source_status, "readable_status", lambda *_: CrawlStatus("a", os.getpid()))
    assert source_status.source_status(project, source)["next_run"] is None
