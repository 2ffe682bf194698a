"""benchmarks/latency.py: crawls of sites far away and searches during a crawl, all of it small."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark

pytestmark = pytest.mark.servers


@pytest.fixture
def latency(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_benchmark("latency", monkeypatch)


def test_sites_far_away_are_crawled_to_the_last_page(latency: ModuleType, tmp_path: Path) -> None:
    with latency.far_sites(tmp_path, 3, 4, 0.01) as sites:
        assert sites.pages == 12
        for number, crawl in enumerate(latency.CRAWLERS.values()):
            folder = tmp_path / f"crawl{number}"
            folder.mkdir()
            pages, cost = crawl(sites, folder)
            assert pages == 12 if crawl is not latency.plain else pages >= 12
            assert cost.cpu > 0


def test_words_are_searched_for_until_it_is_stopped(
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
