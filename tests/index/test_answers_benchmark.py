"""The small version of benchmarks/answers.py: a manual of three pages whose index has five terms."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

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
    sets = {name: answers.CORPORA["postgresql"].sets[name] for name in ("terms", "names")}
    corpus = answers.Corpus("boats", "test", "boats-doc", "html", sets, exclude=("bookindex.html",))
    monkeypatch.setattr(answers, "CORPORA", {"boats": corpus})
    engines = ["--engines", "whoosh", "tantivy", "stock whoosh", "fts5", "--sets", "terms"]
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

    answers.main(["--engines", "whoosh", "tantivy", *folders, "--completion", "--json"])

    (boats,) = json.loads(capsys.readouterr().out)["corpora"]
    figures = {row["set"]: row for row in boats["completions"]}
    assert [row["engine"] for row in boats["completions"]] == ["whoosh"] * 3 + ["tantivy"] * 3
    assert figures["names"]["completed_5"] == figures["names"]["possible"] == 1.0
    assert figures["titles"]["names"] == 3
    assert figures["letters"]["names"] == 26

    answers.main(["--engines", "whoosh", *folders, "--sets", "terms", "--rebuild"])

    assert "| boats | 6 terms | whoosh |" in capsys.readouterr().out


LISTS = {
    "Options-Index.html": """<table><tr><td><a href="Options.html#index-AUTO_005fCD"><code>AUTO_CD</code></a></td><td><a
      href="Options.html#X">1 Options</a></td></tr><tr><td><a href="Options.html#index-AUTOCD">AUTOCD</a></table>""",
    "Options.html": """<p>x</p><span id="index-AUTO_005fCD"></span> <span id="index-AUTOCD"></span>
      <dl><dt id="o">AUTO_CD</dt><dd id="d">Changes.</dd></dl><a href="m.5.html#size">size</a>""",
    "functions_func.html": """<div class=contents><ul><li>add()&#160;:&#160;<a href="A.html#a1">A</a>, <a
      href="B.html#b1">B</a></li><li>A()&#160;:&#160;<a href="A.html#a0">A</a></li></ul></div>""",
    "m.5.html": "<a href='m.5.html#size'>size</a><a href='m.5.html#size'>see there</a><a href='o.html#time'>time</a>",
    "Chapter4.html": "<a name=ab></a><h4>4.9.1 Abort</h4><p><a name=c></a><h2>4.9 Two words</h2>",
}


def test_lists_of_manuals_name_the_places(tmp_path: Path, answers: ModuleType) -> None:
    truth = sys.modules["judging.truth"]
    for name, text in LISTS.items():
        (tmp_path / name).write_text(text)

    def found(names: Iterator[Any]) -> list[tuple[str, str]]:
        return [(one.name, one.place) for one in names]

    options = found(truth.texinfo_names("Options-Index.html", tmp_path))
    assert options == [("AUTO_CD", "Options.html#index-AUTO_005fCD")], "the text has no AUTOCD"
    assert found(truth.doxygen_names(tmp_path)) == [("add", "A.html#a1"), ("add", "B.html#b1")]
    assert set(found(truth.linked_names("m.5.html", tmp_path))) == {("size", "m.5.html#size")}
    assert found(truth.headed_names("Chapter4.html", tmp_path)) == [("Abort", "Chapter4.html#ab")]
    right = truth.right_anchors(truth.read(tmp_path / "Options.html"), "index-AUTO_005fCD")
    assert right == {"index-AUTO_005fCD", "index-AUTOCD", "o"}, "there is no text between them"


def test_of_a_name_four_letters_are_typed_behind_a_beginning_that_many_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    completing = load_benchmark("judging/completing", monkeypatch)
    names = [f"wal_level_{letter}" for letter in "abcdef"] + ["wal_buffers", "port", "id"]
    asked = {one.name: (one.text, one.others) for one in completing.typed(names)}
    assert asked["wal_level_c"] == ("wal_level_c", 0)
    assert asked["wal_buffers"] == ("wal_buff", 0)
    assert (asked["port"], asked["id"]) == (("port", 0), ("id", 0))
    assert completing.has_name("wal_level", ["20.5. WAL_LEVEL (enum)"])
    assert not completing.has_name("wal_level", ["wal_level_a", "wal level"])
