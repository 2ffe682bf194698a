"""Numbers of former manuals, in docstrings and names of tests, can be looked up in docs/spec."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ultracrawl.dialects.fast_xml.options import OPTIONS

ROOT = Path(__file__).parents[2]
PAGES = {
    "FAST": "fast.md",
    "portal robot": "portal-robot.md",
    "Ultra Search": "ultra-search.md",
}
CHAPTER = re.compile(r"^\| (\d[\d.]*(?: [A-K])?) \| (.+?) \| `(\S+)` \|$", re.MULTILINE)
POINTS = re.compile(r"^\| (\d+(?:, \d+)*) \| [^|]+ \|$", re.MULTILINE)
CITED = re.compile(r"\b(FAST|portal robot|Ultra Search)\s+(\d[\w.]*(?:(?:, | and | to | )[A-K]?\d[\w.]*)*)")
NUMBER = re.compile(r"(?<![\w.])([A-K]?)(\d+(?:\.\d+)*)")
TEST = re.compile(r"\b(fast|portal_robot|ultra_search)((?:_\d+)+)(?![\dx])")
MESSAGE = 10_000
"""Larger numbers are those of messages."""


def chapters(manual: str) -> set[str]:
    return {row[0] for row in CHAPTER.findall(page(manual))}


def points(manual: str) -> set[int]:
    if manual == "FAST":
        return {spec.number for spec in OPTIONS.all}
    return {int(number) for row in POINTS.findall(page(manual)) for number in row.split(", ")}


def page(manual: str) -> str:
    return (ROOT / "docs" / "spec" / PAGES[manual]).read_text(encoding="utf-8")


def unknown(manual: str, text: str) -> list[str]:
    """Return the numbers of a citation that its page lacks; options of FAST have a letter, or follow chapter 5.1."""
    known, options = chapters(manual), points(manual) if manual == "FAST" else set()
    return [
        number
        for letter, number in NUMBER.findall(text)
        if not (
            int(number) in options
            if letter
            else number in known or (number.isdigit() and int(number) in options)
        )
    ]


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def test_each_cited_chapter_is_in_its_page() -> None:
    cited = [
        (path.relative_to(ROOT), manual, text)
        for path in sources("ultracrawl")
        for manual, text in CITED.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(cited) > 100
    assert [place for place in cited if unknown(*place[1:])] == []


@pytest.mark.parametrize("manual", PAGES)
def test_each_number_in_the_name_of_a_test_is_in_its_page(manual: str) -> None:
    known = points(manual) | {int(chapter) for chapter in chapters(manual) if chapter.isdigit()}
    name, found, lost = manual.lower().replace(" ", "_"), 0, set[str]()
    for path in sources("tests"):
        for cited, numbers in TEST.findall(path.read_text(encoding="utf-8")):
            if cited == name:
                found += 1
                first = int(numbers.split("_")[1])
                if first not in known and first < MESSAGE:
                    lost.add(f"{path.name}: {cited}{numbers}")
    assert found > 50
    assert lost == set()


@pytest.mark.parametrize("manual", PAGES)
def test_the_places_exist_and_the_numbers_have_no_gap(manual: str) -> None:
    assert [place for _, _, place in CHAPTER.findall(page(manual)) if not (ROOT / place).exists()] == []
    known = points(manual)
    assert known == set(range(1, len(known) + 1))


def test_a_number_that_no_page_has_is_found() -> None:
    assert unknown("FAST", "5.1 J63, J999") == ["999"]
    assert unknown("portal robot", "13.1, 99") == ["99"]
