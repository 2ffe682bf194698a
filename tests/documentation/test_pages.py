"""What the pages say is so: links lead somewhere, definitions load, commands exist, names of modules are right."""

import ast
import json
import re
import tomllib
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from documentation.pages import PAGES, anchors, blocks, commands, links, name_of, understand
from support.project import ROOT

from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.project import DefinitionHead

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
START = "https://www.example.com/"
_OPTION_ROW = re.compile(r"^\| `[a-z_.]+` \|.*$", re.MULTILINE)
"""A row that says what an option does: two sections may have the same option."""
_IN_TICKS = re.compile(r"`([a-z_]+(?:\.\w+)+|[a-z]+)(?:\(\))?`")


def of_all_pages(language: str) -> list[tuple[str, str]]:
    return [
        (f"{name_of(page)} {number}", one)
        for page in PAGES
        for number, one in enumerate(blocks(page, language))
    ]


def test_links_lead_somewhere(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            there = {target: target.exists() for target, _ in links(page)}
            assert [target for target, exists in there.items() if not exists] == []
            named = {(target, anchor) for target, anchor in links(page) if anchor}
            assert [(target, anchor) for target, anchor in named if anchor not in anchors(target)] == []


def test_nothing_stands_twice(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            paragraphs = [one for one in page.read_text(encoding="utf-8").split("\n\n") if len(one) > 200]
            assert len(paragraphs) == len(set(paragraphs))
            written = _OPTION_ROW.sub("", page.read_text(encoding="utf-8"))
            sentences = re.findall(r"[A-Z][^.|`]{60,}\.", written)
            assert sorted(one for one in set(sentences) if sentences.count(one) > 1) == []


def test_numbered_steps_follow_one_another(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(name_of(page)):
            numbers = [int(one) for one in re.findall(r"(?m)^(\d+)\. ", page.read_text(encoding="utf-8"))]
            assert [one for before, one in pairwise([0, *numbers]) if one not in (1, before + 1)] == []


def test_the_readme_names_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in ROOT.glob("docs/*.md") if f"docs/{page.name}" not in readme] == []


def whole(options: dict[str, object], text: str) -> str:
    """Return a definition that has what a page shows a part of."""
    if "sources" in options or "start_urls" in options:
        return text
    is_head = set(options) <= set(DefinitionHead.model_fields)
    source = f"start_urls: [{START}]"
    return f"{text}\nsources: {{example: {{{source}}}}}\n" if is_head else f"{text}\n{source}\n"


def test_definitions_load(tmp_path: Path, subtests: pytest.Subtests) -> None:
    file = tmp_path / "ultracrawl.yaml"
    for place, text in of_all_pages("yaml"):
        with subtests.test(place):
            file.write_text(whole(yaml.safe_load(text), text))
            assert [str(one) for one in read_definitions(file).findings if one.fatal] == []


def test_python_is_python_and_its_imports_exist(subtests: pytest.Subtests) -> None:
    for place, text in of_all_pages("python"):
        with subtests.test(place):
            for node in ast.walk(ast.parse(text, place)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ultracrawl"):
                    module = import_module(node.module or "")
                    assert [one.name for one in node.names if not hasattr(module, one.name)] == []


DATA: dict[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "xml": ElementTree.fromstring,
    "yml": yaml.safe_load,  # of other programs
}


def test_data_can_be_read(subtests: pytest.Subtests) -> None:
    for language, read in DATA.items():
        found = of_all_pages(language)
        assert found, language
        for place, text in found:
            with subtests.test(f"{language} of {place}"):
                assert read(text) is not None


def test_commands_exist_with_their_options(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        for text in blocks(page, "console"):
            for words in commands(text):
                with subtests.test(name_of(page), words=words):
                    understand(words)


def test_modules_and_names_of_the_architecture_exist(subtests: pytest.Subtests) -> None:
    for name in sorted({one for one in _IN_TICKS.findall(ARCHITECTURE) if "." in one}):
        with subtests.test(name):
            first, *rest = name.split(".")
            if not (ROOT / "ultracrawl" / first).is_dir():
                continue
            package = ROOT / "ultracrawl" / first
            place = package.joinpath(*rest)
            if not (place.is_dir() or place.with_suffix(".py").is_file()):
                kind = rf"^(?:class|(?:async )?def) {rest[-1]}\b"
                assert any(re.search(kind, file.read_text(), re.MULTILINE) for file in package.rglob("*.py"))


def test_the_table_has_every_package() -> None:
    table = ARCHITECTURE[ARCHITECTURE.index("| package |") : ARCHITECTURE.index("The packages from")]
    named = set(
        re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    )
    there = {path.stem for path in (ROOT / "ultracrawl").iterdir() if path.suffix in {"", ".py"}}
    assert there - {"__init__", "__main__", "__pycache__", "py"} == named
