"""The parameter file `crawler.dat`: what stands before its IMPORT statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.sources import Loaded, load_project, require
from ultracrawl.sources.writing import definition_text


def load(tmp_path: Path, text: str, options: str = "") -> Loaded:
    (tmp_path / "crawler.dat").write_text(text)
    source = f"    start_urls: [https://a.example/]\n    parameter_file: crawler.dat\n    {options}\n"
    (tmp_path / "ultracrawl.yaml").write_text(f"sources:\n  a:\n{source}")
    return load_project(tmp_path / "ultracrawl.yaml")


@pytest.mark.parametrize(
    ("text", "fallback"),
    [
        pytest.param("USE_DESC_FALLBACK true\nIMPORT\n", True, id="ultra_search_59-before"),
        pytest.param(
            "# a comment\nuse_desc_fallback # yes\nIMPORT x.dat\n", True, id="ultra_search_59-alone"
        ),
        pytest.param("USE_DESC_FALLBACK no\nIMPORT\n", False, id="ultra_search_59-switched-off"),
        pytest.param("IMPORT\nUSE_DESC_FALLBACK true\n", False, id="ultra_search_60-after"),
        pytest.param("IMPORT\n", False, id="ultra_search_58-nothing"),
    ],
)
def test_the_description_of_the_body(tmp_path: Path, text: str, fallback: bool) -> None:
    assert require(load(tmp_path, text)).sources["a"].description_fallback is fallback


def test_the_definition_wins_over_the_file(tmp_path: Path) -> None:
    project = require(load(tmp_path, "USE_DESC_FALLBACK yes\nIMPORT\n", "description_fallback: false"))
    assert project.sources["a"].description_fallback is False


@pytest.mark.parametrize(
    ("text", "line", "words", "fatal"),
    [
        pytest.param(
            "IMPORT\n\nUSE_DESC_FALLBACK true\n", 3, "behind IMPORT", False, id="ultra_search_60-behind"
        ),
        pytest.param("LOG_LEVEL 3\nIMPORT\n", 1, "is no parameter", False, id="another"),
        pytest.param("USE_DESC_FALLBACK maybe\n", 1, "neither yes nor no", True, id="value"),
    ],
)
def test_what_has_no_effect_is_said_with_its_line(
    tmp_path: Path, text: str, line: int, words: str, fatal: bool
) -> None:
    (finding,) = load(tmp_path, text).findings
    assert (Path(finding.file).name, finding.line, finding.fatal) == ("crawler.dat", line, fatal)
    assert words in finding.problem


def test_a_missing_file_is_a_finding(tmp_path: Path) -> None:
    loaded = load(tmp_path, "IMPORT\n", "description_fallback: true")
    assert loaded.findings == ()
    (tmp_path / "crawler.dat").unlink()
    (finding,) = load_project(tmp_path / "ultracrawl.yaml").findings
    assert "crawler.dat" in str(finding)


def test_what_is_written_back_means_the_same_without_the_file(tmp_path: Path) -> None:
    text = definition_text(require(load(tmp_path, "USE_DESC_FALLBACK yes\nIMPORT\n")), tmp_path)
    assert "description_fallback: true" in text
    assert "parameter_file" not in text


def test_a_file_under_defaults_holds_for_every_source(tmp_path: Path) -> None:
    (tmp_path / "crawler.dat").write_text("USE_DESC_FALLBACK yes\nIMPORT\n")
    (tmp_path / "ultracrawl.yaml").write_text(
        "defaults: {parameter_file: crawler.dat}\nsources:\n  a: {start_urls: [https://a.example/]}\n"
        "  b: {start_urls: [https://b.example/], description_fallback: false}\n"
    )
    sources = require(load_project(tmp_path / "ultracrawl.yaml")).sources
    assert (sources["a"].description_fallback, sources["b"].description_fallback) == (True, False)
