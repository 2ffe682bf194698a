"""Fixtures of tests of kinds of sources: a project in this process, and a kind of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy_ways.runs import Desk
from support import shelf
from support.agent_system import AgentSystem
from support.network import NetworkSite
from support.project import Workspace


@pytest.fixture
def kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> shelf.Shelf:
    """A folder with the documents of the source `s` of the type `shelf`, which is installed."""
    shelf.install(tmp_path / "installed", monkeypatch)
    return shelf.Shelf(tmp_path)


@pytest.fixture
def system(workspace: Workspace) -> AgentSystem:
    """The system that the agent `tracker.Tracker` in the folder of the project reads."""
    return AgentSystem(workspace.directory)


@pytest.fixture
def site() -> NetworkSite:
    return NetworkSite()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
