"""`ULTRACRAWL_DATA` moves the data of a project, and only what was relative."""

import sys
from pathlib import Path

import pytest

from ultracrawl.settings.locations import ProjectLocations, scrapy_locations, with_data_folder
from ultracrawl.sources import Project, load_project, require


@pytest.fixture
def project(tmp_path: Path) -> Project:
    text = "index: deep/index\ncache: /elsewhere/cache\nsources: {a: {start_urls: [https://a.example/]}}\n"
    (tmp_path / "ultracrawl.yaml").write_text(text)
    return require(load_project(tmp_path))


@pytest.mark.parametrize("how", ["argument", "variable", "argument wins"])
def test_relative_paths_move(project: Project, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.delenv("ULTRACRAWL_DATA", raising=False)
    if how != "argument":
        monkeypatch.setenv("ULTRACRAWL_DATA", "/data" if how == "variable" else "/nowhere")
    moved = with_data_folder(project, None if how == "variable" else "/data")
    assert moved.index.path == Path("/data/deep/index")
    assert moved.state.path == Path("/data/var/state")
    assert moved.cache.path == Path("/elsewhere/cache")
    assert moved.base == Path("/data")
    assert (moved.sources, moved.index.engine) == (project.sources, project.index.engine)


@pytest.mark.parametrize("folder", [None, ""])
def test_nothing_moves_without_a_name(
    project: Project, monkeypatch: pytest.MonkeyPatch, folder: str | None
) -> None:
    monkeypatch.setenv("ULTRACRAWL_DATA", "")
    assert with_data_folder(project, folder) is project


def test_a_scrapy_project_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = place_settings\n")
    (tmp_path / "place_settings.py").write_text('ULTRACRAWL_CONFIG = "pkg:"\nULTRACRAWL_DATA = "/data"\n')
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "to be restored")
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE")
    monkeypatch.chdir(below)
    assert scrapy_locations() == ProjectLocations("pkg:", "/data")
    monkeypatch.chdir("/")
    assert scrapy_locations() == ProjectLocations(), (
        "a program that goes on elsewhere is not in that project any more"
    )


def test_outside_a_scrapy_project_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCRAPY_SETTINGS_MODULE", raising=False)
    monkeypatch.chdir(tmp_path)
    assert scrapy_locations() == ProjectLocations()
