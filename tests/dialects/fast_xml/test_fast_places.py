"""What is wrong in a collection is reported at the line of its option, and does not stop more than it must."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fast import fast_xml

from ultracrawl.model import Finding
from ultracrawl.sources import Loaded
from ultracrawl.sources.dialects import read_definitions

START = ("http://a.example/",)


def load(folder: Path, **options: object) -> Loaded:
    named = {key.replace("__", "/"): value for key, value in options.items()}
    (folder / "collection.xml").write_text(fast_xml({"start_uris": START, **named}))  # type: ignore[dict-item]
    return read_definitions(folder / "collection.xml")


def only(loaded: Loaded) -> Finding:
    (finding,) = loaded.findings
    return finding


def line_of(folder: Path, text: str) -> int:
    lines = (folder / "collection.xml").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_missing_file_of_start_uris_is_reported_at_its_member(tmp_path: Path) -> None:
    (tmp_path / "there.txt").write_text("http://a.example/x\n")
    found = only(load(tmp_path, start_uri_files=("there.txt", "nope.txt")))
    assert (found.fatal, found.line) == (True, line_of(tmp_path, "nope.txt"))


def test_a_header_that_no_response_has_excludes_nothing_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "collection.xml").write_text(
        fast_xml(
            {"start_uris": START},
            inside="""<section name="exclude_headers">
            <attrib name="Header Name" type="list-string"><member> .*draft.* </member></attrib>
            <attrib name="X-State" type="list-string"><member> .*draft.* </member></attrib>
            </section>""",
        )
    )
    loaded = read_definitions(tmp_path / "collection.xml")
    found = only(loaded)
    assert (found.fatal, found.line) == (False, line_of(tmp_path, "Header Name"))
    assert loaded.project
    assert [*loaded.project.sources["handbook"].exclude_headers] == ["x-state"]


def test_a_body_for_a_scheme_that_is_not_crawled_stops_nothing(tmp_path: Path) -> None:
    """As the manual prints it, beside a start URI of http."""
    section = (
        '<section name="post_payload"><attrib name="prefix:https://vault.example/secure" type="string">a=1'
        "</attrib></section>"
    )
    (tmp_path / "collection.xml").write_text(fast_xml({"start_uris": START}, inside=section))
    loaded = read_definitions(tmp_path / "collection.xml")
    found = only(loaded)
    assert (found.fatal, found.line) == (False, line_of(tmp_path, "vault"))
    assert loaded.project


@pytest.mark.parametrize(
    ("languages", "fatal"),
    [(("klingonish",), True), (("klingonish", "de"), False)],
    ids=["the only one", "one of two"],
)
def test_a_language_that_does_not_exist_never_widens_the_crawl(
    tmp_path: Path, languages: tuple[str, ...], fatal: bool
) -> None:
    found = only(load(tmp_path, focused__languages=languages))
    assert (found.fatal, found.line) == (fatal, line_of(tmp_path, "klingonish"))
    assert "finnish" not in found.instead
