"""`crawling_mode` in definitions: its values, and which sources may be examined."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.sources import compile_source, load_project
from ultracrawl.sources.checking.checks import check_crawling_mode
from ultracrawl.sources.definition import DataSource


def source(mode: str, kind: str = "web") -> DataSource:
    plain = DataSource(name="s", start_urls=("http://h/",), crawling_mode=mode)
    return plain.model_copy(update={"type": kind})


def test_a_source_that_is_no_web_source_cannot_be_examined__ultra_search_118() -> None:
    (doubt,) = check_crawling_mode(source("examine", "file"))
    assert doubt.fatal
    assert doubt.path == ("crawling_mode",)
    assert "web sources only" in doubt.problem


@pytest.mark.parametrize(
    ("mode", "kind"), [("examine", "web"), ("accept-all", "file"), ("index-only", "file")]
)
def test_other_modes_and_web_sources_are_taken__ultra_search_118(mode: str, kind: str) -> None:
    assert list(check_crawling_mode(source(mode, kind))) == []


def test_the_mode_alone_makes_no_page_be_processed_again() -> None:
    marks = {
        (one.scope, one.recipe)
        for one in (compile_source(source(mode)) for mode in ("accept-all", "examine", "index-only"))
    }
    assert len(marks) == 1


def test_an_unknown_mode_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "ultracrawl.yaml"
    file.write_text("sources:\n  s:\n    start_urls: [http://h/]\n    crawling_mode: exam\n")
    (finding,) = load_project(file).findings
    assert (finding.line, finding.key) == (4, "sources.s.crawling_mode")
    assert "`examine`" in finding.instead
