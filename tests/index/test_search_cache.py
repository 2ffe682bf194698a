"""What a search needs of definitions is kept, and counts as long as their files are what they were."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ultracrawl.index import search_cache
from ultracrawl.index.project_index import searchable_project
from ultracrawl.index.search_cache import FILE, FORMAT, find_searchable_project
from ultracrawl.index.searchable_project import SearchableProject
from ultracrawl.index.searching import Searcher
from ultracrawl.settings.adhoc import add_adhoc_source
from ultracrawl.settings.projects import find_project

MUCH = """
index: {engine: tantivy, boosts: {"https://a.example/new/*": 2}}
indexes: {archive: {path: var/archive}}
destinations: {export: {type: jsonl, path: var/export.jsonl}}
attributes: {Price: number}
lists: {Author: {lee: {en: Lee}}}
search:
  language: de
  synonyms: words.txt
  pins: [{query: vacation, urls: ["https://a.example/vacation"]}]
  weights: {title: 3}
sources:
  one:
    start_urls: ["https://a.example/"]
    groups: [staff, all]
    boundary: {uris: {exclude: [{file: rules.txt}]}}
    feeding: {destinations: {main: {index: archive, primary: true}, copy: {destination: export}}}
  two: {start_urls: ["https://b.example/"], groups: [all]}
"""
OTHER = "start_urls: ['https://c.example/']\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ultracrawl.yaml").write_text(MUCH)
    (tmp_path / "words.txt").write_text("car, automobile\n")
    (tmp_path / "rules.txt").write_text("prefix https://a.example/old/\n")
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "three.yaml").write_text(OTHER)
    (tmp_path / FILE).parent.mkdir(parents=True)
    return tmp_path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Each time that definitions are read."""
    read: list[str | None] = []

    def noted(config: str | None = None, **options: Any) -> Any:
        read.append(config)
        return find_project(config, **options)

    monkeypatch.setattr(search_cache, "find_project", noted)
    return read


def test_definitions_are_read_once_as_long_as_they_stay_what_they_are(
    folder: Path, reads: list[str | None]
) -> None:
    first, hints = find_searchable_project(str(folder))
    assert (list(hints), len(reads)) == ([], 1)
    again, _ = find_searchable_project(str(folder))
    assert len(reads) == 1
    assert again == first == searchable_project(find_project(str(folder))[0])
    assert first.groups == {"staff": ("one",), "all": ("one", "two")}
    assert first.search.synonyms == {"": folder / "words.txt"}
    assert (folder / FILE).stat().st_mode & 0o077 == 0
    with Searcher(again, "archive") as searcher:
        assert len(reads) == 1
        assert searcher.display_name("Author", "lee", "en") == "Lee", "what is not kept is read"
    assert len(reads) == 2


def unpack(file: Path, text: str) -> None:
    """Write a file as an archive does whose files all have one date."""
    before = file.stat()
    file.write_text(text)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size


CHANGES: dict[str, Callable[[Path], object]] = {
    "the definition": lambda folder: (folder / "ultracrawl.yaml").write_text(MUCH.replace("title: 3", "title: 4")),
    "another one of its date and size": lambda folder: unpack(
        folder / "ultracrawl.yaml", MUCH.replace("title: 3", "title: 4")
    ),
    "a source": lambda folder: (folder / "sources" / "three.yaml").write_text(OTHER + "groups: [all]\n"),
    "a source more": lambda folder: (folder / "sources" / "four.yaml").write_text(OTHER),
    "a source less": lambda folder: (folder / "sources" / "three.yaml").unlink(),
    "rules": lambda folder: (folder / "rules.txt").write_text("prefix https://a.example/older/\n"),
    "synonyms": lambda folder: (folder / "words.txt").write_text("car, vehicle\n"),
    "what is kept": lambda folder: (folder / FILE).write_text('{"head": ['),
    "what is kept, to what no JSON is": lambda folder: (folder / FILE).write_text("[" * 100_000),
    "its form": lambda folder: (folder / FILE).write_text(
        json.dumps({**json.loads((folder / FILE).read_text()), "project": {"indexes": []}})
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_what_changes_a_file_has_them_read_anew(
    folder: Path, reads: list[str | None], change: Callable[[Path], object]
) -> None:
    find_searchable_project(str(folder))
    change(folder)
    assert find_searchable_project(str(folder))[0] == searchable_project(find_project(str(folder))[0])
    assert len(reads) == 2
    find_searchable_project(str(folder))
    assert len(reads) == 2


def test_another_version_another_file_and_another_place_of_data_have_them_read_anew(
    folder: Path, reads: list[str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_searchable_project(str(folder))
    find_searchable_project(str(folder / "ultracrawl.yaml"))
    assert len(reads) == 2, "a folder is another place than the file in it"
    monkeypatch.setattr(search_cache, "__version__", "99")
    find_searchable_project(str(folder / "ultracrawl.yaml"))
    assert len(reads) == 3
    (tmp_path / "data" / FILE).parent.mkdir(parents=True)
    monkeypatch.setenv("ULTRACRAWL_DATA", str(tmp_path / "data"))
    for _ in range(2):
        found, _ = find_searchable_project(str(folder / "ultracrawl.yaml"))
        assert found.indexes["default"].path == tmp_path / "data" / "var" / "index"
    assert len(reads) == 4


@pytest.mark.parametrize(
    "wrong",
    ["sources: {one: {start_urls: ['https://a.example/'], depth: much}}", "sources: {one: {start_urls: []}}"],
)
def test_definitions_with_a_finding_are_read_each_time(
    folder: Path, reads: list[str | None], wrong: str
) -> None:
    (folder / "ultracrawl.yaml").write_text(wrong)
    for _ in range(2):
        find_searchable_project(str(folder))
    assert len(reads) == 2
    assert not (folder / FILE).exists()


def test_a_folder_of_sources_that_comes_later_counts(folder: Path, reads: list[str | None]) -> None:
    (folder / "sources" / "three.yaml").unlink()
    (folder / "sources").rmdir()
    find_searchable_project(str(folder / "ultracrawl.yaml"))
    (folder / "sources").mkdir()
    (folder / "sources" / "three.yaml").write_text(OTHER)
    assert "three" in find_searchable_project(str(folder / "ultracrawl.yaml"))[0].readable
    assert len(reads) == 2


def test_what_was_crawled_by_url_is_kept_too(
    tmp_path: Path, reads: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    add_adhoc_source(("https://a.example/",), tmp_path)
    (tmp_path / FILE).parent.mkdir()
    for _ in range(2):
        assert set(find_searchable_project()[0].readable) == {"a.example"}
    add_adhoc_source(("https://a.example/",), tmp_path)
    find_searchable_project()
    assert len(reads) == 1, "to crawl it once more changes nothing"
    add_adhoc_source(("https://b.example/",), tmp_path)
    assert set(find_searchable_project()[0].readable) == {"a.example", "b.example"}
    (tmp_path / "ultracrawl.yaml").write_text("sources: {one: {start_urls: ['https://c.example/']}}")
    assert set(find_searchable_project()[0].readable) == {"a.example", "b.example", "one"}
    assert len(reads) == 3


def test_what_was_crawled_by_url_is_not_kept_in_a_scrapy_project(
    tmp_path: Path, reads: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    add_adhoc_source(("https://a.example/",), tmp_path)
    (tmp_path / FILE).parent.mkdir()
    for _ in range(2):
        find_searchable_project()
    assert len(reads) == 2, "settings may name data of spiders, which come first"


def test_no_folder_is_made_for_it_and_other_formats_are_read_each_time(
    folder: Path, reads: list[str | None]
) -> None:
    (folder / FILE).parent.rmdir()
    find_searchable_project(str(folder))
    assert not (folder / FILE).parent.exists()
    (folder / FILE).parent.mkdir()
    xml = '<?xml version="1.0"?><CrawlerConfig><DomainSpecification name="a"/></CrawlerConfig>'
    (folder / "crawl.xml").write_text(xml)
    find_searchable_project(str(folder / "crawl.xml"))
    assert not (folder / FILE).exists()
    assert len(reads) == 2


def test_what_is_kept_of_a_small_definition_is_what_the_number_of_the_form_stands_for(folder: Path) -> None:
    (folder / "sources" / "three.yaml").unlink()
    (folder / "ultracrawl.yaml").write_text("sources: {one: {start_urls: ['https://a.example/']}}")
    find_searchable_project(str(folder))
    kept = json.loads((folder / FILE).read_text())["project"]
    assert (FORMAT, kept) == (
        9,
        {
            "indexes": {"default": ["whoosh", str(folder / "var" / "index"), {}, {}, "index"]},
            "key_file": None,
            "destinations": {},
            "attributes": {
                **dict.fromkeys(
                    ("Title", "Author", "Description", "Subject", "Mimetype", "Language", "Host"), "string"
                ),
                "LastModifiedDate": "date",
            },
            "searched": [],
            "readable": {"one": ["default"]},
            "starts": {"one": ["https://a.example/"]},
            "groups": {},
            "boosts": {},
            "kinds": {"one": 900},
            "state": ["sqlite", str(folder / "var" / "state")],
            "definitions": str(folder / "ultracrawl.yaml"),
            "language": "",
            "synonyms": {},
            "pins": [],
            "weights": {
                "text": 1, "title": 20, "headings": 4, "anchors": 4, "section_anchors": 4, "address": 1.5,
                "depth": 0.01, "freshness": 0,
            },
            "fold_copies": True,
            "derived_readers": [],
        },
    ), "raise FORMAT when something else is kept"  # fmt: skip


def test_it_is_the_same_after_its_way_through_json(folder: Path) -> None:
    project = find_project(str(folder))[0]
    known = searchable_project(project)
    assert SearchableProject.from_json(json.loads(json.dumps(known.to_json())), lambda: project) == known
