"""Start URLs from files (FAST 5.1, option 3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.sources import Loaded, load_project, require


def load(tmp_path: Path, text: str | bytes, start: str = "start_urls: [https://a.example/]") -> Loaded:
    seeds = tmp_path / "seeds" / "a.txt"
    seeds.parent.mkdir(exist_ok=True)
    seeds.write_bytes(text if isinstance(text, bytes) else text.encode())
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(f"sources:\n  a:\n    {start}\n    start_url_files: seeds/a.txt\n")
    return load_project(file)


def test_fast_3_urls_of_files_are_added(tmp_path: Path) -> None:
    text = "# seeds\n\nhttps://b.example/\r\n  https://bücher.example/katalog  \n"
    source = require(load(tmp_path, text)).sources["a"]
    assert source.start_urls == ("https://a.example/", "https://b.example/", "https://bücher.example/katalog")


@pytest.mark.parametrize("start", ["start_urls: https://a.example/ https://c.example/", "depth: 3"])
def test_fast_3_they_may_stand_beside_a_text_or_alone(tmp_path: Path, start: str) -> None:
    source = require(load(tmp_path, "https://b.example/\n", start)).sources["a"]
    assert source.start_urls[-1] == "https://b.example/"
    assert len(source.start_urls) == (3 if "c.example" in start else 1)


def test_fast_3_files_are_read_again(tmp_path: Path) -> None:
    load(tmp_path, "https://b.example/\n")
    again = require(load(tmp_path, "https://c.example/\n")).sources["a"]
    assert again.start_urls[-1] == "https://c.example/"


def test_lines_that_are_no_urls_are_said_with_their_line(tmp_path: Path) -> None:
    findings = load(tmp_path, "https://b.example/\nnonsense\n# x\nmailto:a@b\n").findings
    assert [(Path(one.file).name, one.line) for one in findings if one.file.endswith("a.txt")] == [
        ("a.txt", 2),
        ("a.txt", 4),
    ]


@pytest.mark.parametrize(
    ("text", "named"), [(b"\x00\xff\x00", "seeds/a.txt"), (b"", "seeds/none.txt")], ids=["binary", "missing"]
)
def test_files_that_cannot_be_read_are_said_where_they_are_named(
    tmp_path: Path, text: bytes, named: str
) -> None:
    load(tmp_path, text)
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(f"sources:\n  a:\n    start_urls: [https://a.example/]\n    start_url_files: [{named}]\n")
    loaded = load_project(file)
    assert loaded.project is None
    assert any("start URL file" in finding.problem and finding.line for finding in loaded.findings)
