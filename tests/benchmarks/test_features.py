"""benchmarks/features.py: what is on by itself is switched off, and counts the other way round."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark

from ultracrawl.sources.dialects import read_definitions


@pytest.fixture
def features(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_benchmark("features", monkeypatch)


@pytest.mark.servers
def test_what_a_feature_adds_is_reported_whichever_way_it_is_switched(
    features: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_then_both = [
        500.0,
        400.0,
        500.0,
        900.0,
        520.0,
        420.0,
        540.0,
        900.0,
        540.0,
        430.0,
        540.0,
        800.0,
        540.0,
    ]
    costs = iter(plain_then_both)
    monkeypatch.setattr(features, "cpu_a_page", lambda url, feature: next(costs))
    added = features.measure(tmp_path, ["duplicates", "near-duplicates"], 3)
    lines = features.table(added).splitlines()
    assert lines[2] == "| duplicates | on | +110 | +100, +110 |", "the second is compared with 520 and 540"
    assert lines[3] == "| near-duplicates | off | +360 | +260, +390 |"


def test_every_feature_is_a_definition_without_a_mistake(features: ModuleType, tmp_path: Path) -> None:
    for feature in features.FEATURES.values():
        text = features.definition("http://127.0.0.1/", source=feature.source, project=feature.project)
        (tmp_path / "ultracrawl.yaml").write_text(text)
        loaded = read_definitions(tmp_path / "ultracrawl.yaml")
        assert loaded.project is not None
        assert loaded.findings == ()
