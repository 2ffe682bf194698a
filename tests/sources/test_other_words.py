"""People who come from other crawlers are told what to write here, and it works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.loading.other_words import _WORDS, advice_for

ADVICE = re.compile(r"`([^`]+)`")


def read(folder: Path, lines: str, top: str = "") -> list[str]:
    file = folder / "ultracrawl.yaml"
    (folder / "seeds.txt").write_text("https://www.example.com/a\n")
    file.write_text(f"sources:\n  NAME:\n    start_urls: [https://www.example.com/docs/a.html]\n{lines}{top}")
    return [str(finding) for finding in read_definitions(file).findings]


def test_what_is_advised_is_accepted(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name in _WORDS:
        with subtests.test(name):
            (written,) = ADVICE.findall(advice_for(name))
            written = written.replace("start_urls:", "own_sites:")  # is there already
            at_top = written.startswith("schedules:")
            mistakes = read(tmp_path, "" if at_top else f"    {written}\n", f"{written}\n" if at_top else "")
            assert mistakes == []


WORDS_OF_OTHERS = ["allowed_domains", "DOWNLOAD_DELAY", "stop-urls", "fetcher.server.delay"]


def test_the_words_of_others_are_answered_with_ours(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name in WORDS_OF_OTHERS:
        with subtests.test(name):
            (mistake,) = read(tmp_path, f"    {name}: 1\n")
            assert ":4 - " in mistake
            assert advice_for(name, 1) in mistake


def test_at_the_top_of_the_file_too(tmp_path: Path) -> None:
    (mistake,) = read(tmp_path, "", "download_delay: 1\n")
    assert advice_for("download_delay", 1) in mistake


NUMBERS: list[tuple[str, object, str]] = [
    ("DEPTH_LIMIT", 3, "depth: 3"),
    ("wait", 1.5, "politeness: {delay: 1.5}"),
    ("limit_rate", 500, "politeness: {delay: 0.5}"),
    ("depth_limit", 0, "depth: 10"),
    ("mirror", True, "refresh: {interval: 24 h}"),
]


def test_a_number_is_taken_over_where_it_means_the_same(subtests: pytest.Subtests) -> None:
    for name, value, written in NUMBERS:
        with subtests.test(name):
            assert ADVICE.findall(advice_for(name, value)) == [written]


def test_no_word_is_an_option_of_ours() -> None:
    ours = {field.alias or name for name, field in DataSource.model_fields.items()}
    assert ours.isdisjoint(_WORDS)
    assert advice_for("no such word") == ""


A_TYPE_OF_DESTINATION_AND_AN_ENGINE_OF_AN_INDEX_ARE_DISTINGUISHED = [
    ("indexes: {out: {type: opensearch, url: 'https://a.example/'}}", "`destinations`"),
    (
        "destinations: {out: {type: opensearch, engine: opensearch, url: 'https://a.example/'}}",
        "`indexes`",
    ),
]


def test_a_type_of_destination_and_an_engine_of_an_index_are_distinguished(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for top, instead in A_TYPE_OF_DESTINATION_AND_AN_ENGINE_OF_AN_INDEX_ARE_DISTINGUISHED:
        with subtests.test(top):
            (mistake,) = read(tmp_path, "", f"{top}\n")
            assert instead in mistake


AN_INDEX_AND_A_DESTINATION_OF_A_SOURCE_ARE_DISTINGUISHED = [
    ("index: far", "destination: far"),
    ("destination: near", "index: near"),
]


def test_an_index_and_a_destination_of_a_source_are_distinguished(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for written, meant in AN_INDEX_AND_A_DESTINATION_OF_A_SOURCE_ARE_DISTINGUISHED:
        with subtests.test(written):
            top = "indexes: {near: {path: near}}\ndestinations: {far: {type: jsonl, path: far}}\n"
            (mistake,) = read(tmp_path, f"    feeding: {{destinations: {{one: {{{written}}}}}}}\n", top)
            assert f"`{meant}`" in mistake
