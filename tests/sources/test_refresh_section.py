"""The sections `refresh` and `orphans`: values, short forms, mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.one_source import load_one
from support.sentences import sentence

from ultracrawl.rules.recrawl.cycle import RefreshMode


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        pytest.param("1500", 90_000.0, id="fast_60 minutes"),
        pytest.param("0.5", 30.0, id="fast_60 parts of a minute"),
        pytest.param("90 s", 90.0, id="seconds"),
        pytest.param("36 h", 129_600.0, id="hours"),
        pytest.param("2days", 172_800.0, id="days"),
        pytest.param("1 w", 604_800.0, id="week"),
        pytest.param("null", None, id="none"),
    ],
)
def test_lengths_of_time(tmp_path: Path, written: str, seconds: float | None) -> None:
    loaded = load_one(tmp_path, f"    refresh: {{interval: {written}}}\n")
    assert loaded.findings == ()
    assert loaded.project.sources["s"].refresh.interval == seconds


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("refresh: {interval: soon}", sentence("definitions.not_length_time_write_minutes")),
        ("refresh: {interval: 0}", "out of range"),
        ("refresh: {interval: 2 years}", sentence("definitions.not_length_time")),
        ("refresh: {interval: true}", sentence("definitions.not_length_time")),
        ("refresh: {mode: scratchy}", "scratch"),
        ("orphans: {after: 0}", "orphans.after"),
    ],
)
def test_mistakes_are_findings(tmp_path: Path, line: str, told: str) -> None:
    (finding,) = load_one(tmp_path, f"    {line}\n").findings
    assert told in str(finding)
    assert "ultracrawl.yaml:4" in str(finding)


def test_the_defaults_ask_for_every_known_url(tmp_path: Path) -> None:
    source = load_one(tmp_path, "").project.sources["s"]
    assert source.refresh.mode is RefreshMode.KNOWN
    assert (source.refresh.interval, source.refresh.when_idle) == (None, False)
    assert (source.orphans.after, source.orphans.delete) == (5, False), "fast_63, fast_64"
