"""The small version of benchmarks/answers.py: a manual of three pages whose index has five terms."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark

PAGES = {
    "index.html": """<title>Manual</title><a href=boats.html>One</a> <a href=tides.html>Two</a>
      <a href=bookindex.html>Index</a>""",
    "boats.html": """<title>Boats</title><h2 id="KEEL">Keel</h2><p>A keel keeps her upright.
      <h2 id=SAIL>Sails</h2><p>Of cloth.""",
    "tides.html": "<title>Tides</title><p>Ebb and flood, each for six hours; the flood_level is measured in metres.",
    "bookindex.html": """<title>Index</title><div class="indexdiv"><dl>
      <dt>ebb, <a class="indexterm" href="tides.html">Tides</a></dt>
      <dt>flood_level configuration parameter, <a class="indexterm" href="tides.html">Tides</a></dt>
      <dt>keel, <a class="indexterm" href="boats.html#KEEL">Keel</a></dt>
      <dd><dl><dt>upright, <a class="indexterm" href="boats.html#KEEL">Keel</a></dt></dl></dd>
      <dt>anchor, <a class="indexterm" href="boats.html">Boats</a></dt></dl></div>""",
}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_benchmark("answers", monkeypatch)


def test_terms_of_a_manual_are_asked_of_all_engines_and_judged_by_its_own_index(
    answers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manual = tmp_path / "packages/boats-doc/html"
    manual.mkdir(parents=True)
    for name, text in PAGES.items():
        (manual / name).write_text(text)
    sets = {"terms": answers.CORPORA["postgresql"].sets["terms"]}
    corpus = answers.Corpus("boats", "test", "boats-doc", "html", sets, exclude=("bookindex.html",))
    monkeypatch.setattr(answers, "CORPORA", {"boats": corpus})
    engines = ["--engines", "whoosh", "tantivy", "stock whoosh", "fts5"]
    folders = ["--packages", str(tmp_path / "packages"), "--reuse", str(tmp_path / "kept")]

    answers.main([*engines, *folders, "--json", "--worst", "3"])

    said = capsys.readouterr()
    (boats,) = json.loads(said.out)["corpora"]
    assert boats["pages"] == 3, "the index of the manual is not among the pages"
    by_engine = {row["engine"]: row for row in boats["results"]}
    assert set(by_engine) == {"whoosh", "tantivy", "stock whoosh", "fts5"}
    for row in by_engine.values():
        assert row["questions"] == 6, "one entry is asked with its kind and without"
        assert row["success_1"] >= 0.5
        assert row["none"] <= 0.5
    assert "'anchor'  wants boats.html" in said.err

    answers.main(["--engines", "whoosh", *folders, "--rebuild"])

    assert "| boats | 6 terms | whoosh |" in capsys.readouterr().out
