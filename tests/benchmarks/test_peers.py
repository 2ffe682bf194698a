"""benchmarks/peers.py: what it prints of stored runs, that the documentation shows them, a run over a small site."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark
from support.project import ROOT


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_benchmark("peers", monkeypatch)


def run_of(pages: int, seconds: float, cpu: float) -> dict[str, float]:
    return {"pages": pages, "seconds": seconds, "cpu": cpu, "peak_mb": 100.0, "index_cpu": cpu / 4}


def test_ratios_of_the_best_runs_are_held_against_the_aims(peers: ModuleType) -> None:
    rows = {
        "whoosh": [run_of(100, seconds, cpu) for seconds, cpu in ((1, 3), (0.5, 2), (0.25, 2.5))],
        "no_anchors": [run_of(100, 0.5, 1.84)],
        "no_documents": [run_of(100, 0.25, 1)],
        "stock": [run_of(100, 4, 8)],
        "spider": [run_of(90, 0.125, 0.36)],
    }
    head = {"version": "1.2.3", "date": "2026-11-22", "machine": "a machine"}

    said = peers.table.report(
        peers.Results.from_json({"stamp": head, "runs": {"pg": rows}, "reading": {"pg": [700, 500]}})
    )

    lines = said.splitlines()
    assert lines[0] == "Version 1.2.3, 2026-11-22, a machine"
    assert "| **ultracrawl, first crawl to searchable, whoosh** | 200 | 20 | 100 |" in lines
    assert "| plain Scrapy CrawlSpider + stock Whoosh | 8 |  |" in lines, "200 pages/s are 8 times 25"
    assert (
        "| first crawl, whoosh, to stock Scrapy + Whoosh: pages/s | 5.8 | 8, reached | 20 | not measured |"
        in lines
    )
    texts = "| texts of links: share of the CPU of a first crawl | 5 % | 8 %, not, by 60 %: 600 µs too many |"
    texts += " 5 % | not measured |"
    assert texts in lines, "8 of 100 are 1,600 µs of 20 ms, and 5 of 100 are 1,000"
    assert "| all 304: pages/s |  |  | 2,700 | not measured |" in lines, (
        "an aim stands there without a figure, too"
    )
    assert "| first crawl, tantivy, to the same: pages/s | 5.8 | not measured | 20 | not measured |" in lines
    by_four = "| reading a page to the parser's own way through it (less is better) | 2 | 1.4, reached |"
    by_four += " 1.8 | not measured |"
    assert by_four in lines
    spider = "| no documents: CPU a page to spider's links only (less is better) | 3 | 2.5, reached |"
    spider += " 2 | not measured |"
    assert spider in lines
    assert "* pg: spider (Rust): fetch, links saw 90 pages, the first crawl 100" in lines


def test_aims_hold_for_the_compiled_core_where_it_was_measured(peers: ModuleType) -> None:
    rows = {
        "whoosh": [run_of(100, 1, 2)],
        "whoosh_core": [run_of(100, 0.5, 1)],
        "no_anchors": [run_of(100, 1, 1.5)],
        "no_anchors_core": [run_of(100, 0.5, 0.97)],
        "tantivy": [run_of(100, 0.8, 1)],
        "stock": [run_of(100, 4, 8)],
    }
    head = {"version": "1.2.3", "date": "2026-11-22", "machine": "a machine"}

    lines = peers.table.report(
        peers.Results.from_json({"stamp": head, "runs": {"pg": rows}, "reading": {}})
    ).splitlines()

    rows_of = (line.split(" | ") for line in lines)
    found = {cells[0]: cells[2] for cells in rows_of if len(cells) == 5}
    assert found["| first crawl, whoosh, to stock Scrapy + Whoosh: pages/s"] == "8, reached"
    assert found["| first crawl, tantivy, to the same: pages/s"].startswith("5, not")
    assert found["| texts of links: share of the CPU of a first crawl"] == "3 %, reached"


def test_the_documentation_shows_the_stored_runs(
    peers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs" / "images").mkdir(parents=True)
    pages = ("README.md", "docs/performance.md")
    for page in pages:
        (tmp_path / page).write_text((ROOT / page).read_text())
    stored = peers.STORED
    monkeypatch.setattr(peers, "ROOT", tmp_path)
    monkeypatch.setattr(peers, "STORED", tmp_path / "docs/images/peers.json")
    monkeypatch.setattr(peers, "PICTURE", tmp_path / "docs/images/peers.svg")

    peers.main(["--from", str(stored), "--write", "--json"])

    assert json.loads(capsys.readouterr().out) == json.loads(stored.read_text())
    for page in pages:
        assert (tmp_path / page).read_text() == (ROOT / page).read_text(), (
            f"{page}: peers.py --write was not run"
        )
    assert (tmp_path / "docs/images/peers.svg").read_text().startswith("<?xml")


@pytest.mark.servers
def test_crawlers_run_in_turns_and_what_is_missing_is_left_out_with_a_line(
    peers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manual = tmp_path / "packages/boats-doc/html"
    manual.mkdir(parents=True)
    (manual / "index.html").write_text(
        "<title>Boats</title><a href=keel.html>Keel</a> <a href=sail.html>Sail</a>"
    )
    (manual / "keel.html").write_text("<title>Keel</title><p>We create a keel. <a href=sail.html#a>Sail</a>")
    (manual / "sail.html").write_text("<title>Sail</title><p>Of cloth.")
    corpus = peers.MANUALS["postgresql"]
    boats = type(corpus)("boats", "test", "boats-doc", "html", {})
    monkeypatch.setattr(peers, "CORPORA", {"boats": boats})
    monkeypatch.setenv("PATH", "/nothing:/usr/sbin:/sbin")
    folders = ["--packages", str(tmp_path / "packages"), "--builds", str(tmp_path / "builds")]
    monkeypatch.setitem(peers.REPEATS, "boats", 2)

    peers.main(["--corpora", "boats", *folders, "--only", "whoosh", "stock", "omindex", "--json"])

    said = capsys.readouterr()
    runs = json.loads(said.out)["runs"]["boats"]
    assert {row: [one["pages"] for one in found] for row, found in runs.items()} == {
        "whoosh": [3, 3],
        "unchanged": [3, 3],
        "search": [1, 1],
        "stock": [3, 3],
    }
    assert all(one["cpu"] > 0 and one["peak_mb"] > 10 for found in runs.values() for one in found)
    assert all(one["index_cpu"] > 0 for one in runs["whoosh"])
    assert "omindex: left out, there is no wget" in said.err
