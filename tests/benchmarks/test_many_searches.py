"""benchmarks/many_searches.py: its service leaves nothing behind in the project that is measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmarks import load_benchmark

from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.sources import load_project, require

pytestmark = [pytest.mark.servers, pytest.mark.processes]


def test_a_measured_service_takes_its_token_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many_searches = load_benchmark("many_searches", monkeypatch)
    definition = tmp_path / "ultracrawl.yaml"
    definition.write_text("sources: {notes: {type: file, paths: [notes]}}")
    (tmp_path / "notes").mkdir()
    tokens = TokenStore.of_project(require(load_project(definition)))
    with many_searches.served(tmp_path) as (port, token, _):
        with many_searches.client_of(port, token) as ask:
            assert ask("index")["total"] == 0
        assert len(tokens.all_tokens()) == 1
    assert tokens.all_tokens() == []
