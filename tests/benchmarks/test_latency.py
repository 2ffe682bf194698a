"""benchmarks/latency.py: crawls of sites far away and searches during a crawl, all of it small."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.project import ROOT

pytestmark = pytest.mark.servers
FOLDER = ROOT / "benchmarks"


@pytest.fixture
def latency(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location("benchmark_latency", FOLDER / "latency.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_sites_far_away_are_crawled_to_the_last_page(latency: ModuleType, tmp_path: Path) -> None:
    with latency.far_sites(tmp_path, 3, 4, 0.01) as sites:
        assert sites.pages == 12
        for number, crawl in enumerate(latency.CRAWLERS.values()):
            folder = tmp_path / f"crawl{number}"
            folder.mkdir()
            pages, cost = crawl(sites, folder)
            assert pages == 12 if crawl is not latency.plain else pages >= 12
            assert cost.cpu > 0


def test_words_are_searched_for_until_told_to_stop(
    latency: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<title>Index</title><p>To create an index, say so.")
    monkeypatch.setattr(latency, "PAUSE", 0)
    with latency.nginx_site(site) as server:
        urls = {"first": f"{server.url}/index.html", "second": f"{server.url}/none.html"}
        (tmp_path / "ultracrawl.yaml").write_text(latency.TWO_MANUALS.format(engine="tantivy", **urls))
        latency.ultracrawl(tmp_path, "crawl", "--json", "first")
    assert len(latency.asked(tmp_path, lambda done: done >= 5)) == 5
