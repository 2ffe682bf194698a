"""`convert`: every honoured option of a collection means the same once it is written as YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dialects.fast_xml.test_fast_options import (
    BASE,
    FILES,
    HONOURED,
    INSIDE,
    NEEDED,
    ONE_VALUE,
    OTHER,
    ids,
    login,
    named,
)
from support.fast import fast_options, fast_xml

from ultracrawl.dialects.fast_xml.options import OptionSpec
from ultracrawl.sources import Project, compile_source, load_project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.writing import definition_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def both(folder: Path, options: dict[str, Any], inside: str = "") -> tuple[Project, Project]:
    """Return the project of an XML file, and that of the YAML file that is written of it."""
    xml, yaml = folder / "collection.xml", folder / "ultracrawl.yaml"
    xml.write_text(fast_xml(options, inside=inside))
    project = require(read_definitions(xml))
    yaml.write_text(definition_text(project, folder))
    return project, require(load_project(yaml))


def same(project: Project, again: Project) -> None:
    """Check that all sources are the same, and let the same in, and make the same of it."""
    assert list(again.sources) == list(project.sources)
    for name, source in project.sources.items():
        other = again.sources[name]
        assert other.model_dump() == source.model_dump()
        ours, theirs = (compile_source(one) for one in (source, other))
        assert (theirs.scope, theirs.recipe, theirs.seeds) == (ours.scope, ours.recipe, ours.seeds)
        assert dict(theirs.headers) == dict(ours.headers)


@pytest.mark.parametrize("spec", HONOURED, ids=ids)
def test_an_option_survives(spec: OptionSpec, folder: Path) -> None:
    options = {**BASE, **NEEDED.get(spec.number, {})}
    plain, _ = both(folder, options, INSIDE.get(spec.number, "") or login(spec))
    if spec.section.startswith("Login"):
        project, again = both(folder, options, login(spec, spec.sample))
    else:
        project, again = both(folder, {**options, named(spec): spec.sample}, INSIDE.get(spec.number, ""))
    same(project, again)
    differs = again.sources["handbook"].model_dump() != plain.sources["handbook"].model_dump()
    assert differs is (spec.number not in ONE_VALUE), "and it is there"


def test_all_of_them_together_survive(folder: Path) -> None:
    plain = {
        named(spec): spec.sample
        for spec in HONOURED
        if spec.number not in (2, 5) and not spec.section.startswith("Login")
    }
    own = [login(spec, spec.sample) for spec in HONOURED if spec.section.startswith("Login")]
    logins = "".join(one.replace('name="main"', f'name="login {n}"', 1) for n, one in enumerate(own))
    project, again = both(folder, {**plain, **BASE, "workqueue_priority/levels": 3}, logins)
    same(project, again)
    assert len(again.sources["handbook"].logins) == len(own) == 11


def test_several_collections_with_their_parts_survive(folder: Path) -> None:
    rules = fast_options({"include_uris/prefix": ("http://a.example/docs/",), "refresh": 60.0})
    part = f'<SubDomain name="docs">{rules}</SubDomain>'
    project, again = both(folder, {**BASE, "send_links_to": "other", "delay": 2.0}, part + OTHER)
    same(project, again)
    assert list(again.sources) == ["handbook", "handbook.docs", "other"]


def test_what_a_node_says_survives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULTRACRAWL_NODE", "crawler_b")
    node = f'<Node name="crawler_b">{fast_options({"delay": 12.0})}</Node>'
    project, again = both(folder, {**BASE, "delay": 2.0}, node)
    same(project, again)
    assert again.sources["handbook"].politeness.delay == 12.0
