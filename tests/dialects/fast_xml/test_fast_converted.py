"""`convert`: every honoured option of a collection means the same once it is written as YAML, and edited there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from dialects.fast_xml.test_fast_options import (
    BASE,
    FILES,
    HONOURED,
    INSIDE,
    NEEDED,
    OTHER,
    label,
    leaves,
    load,
    login,
    named,
)
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.fast import fast_options

from ultracrawl.dialects.fast_xml.options import OptionSpec
from ultracrawl.sources import Project, compile_source, load_project, require
from ultracrawl.sources.editing.draft import draft_of
from ultracrawl.sources.editing.excerpt import HIDDEN, Excerpt, find_excerpt
from ultracrawl.sources.reading.locations import DefinitionText
from ultracrawl.sources.writing import definition_text


def with_files(folder: Path) -> Path:
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_files(tmp_path)


def both(folder: Path, options: dict[str, Any], inside: str = "") -> tuple[Project, Project]:
    """Return the project of an XML file, and that of the YAML file that is written of it."""
    project = require(load(folder, options, inside))
    file = folder / "ultracrawl.yaml"
    file.write_text(definition_text(project, folder))
    return project, require(load_project(file))


def differences(one: Any, other: Any) -> dict[str, Any]:
    before, after = leaves(one), leaves(other)
    paths = before.keys() | after.keys()
    return {
        name: (before.get(name), after.get(name)) for name in paths if before.get(name) != after.get(name)
    }


def known(project: Project) -> dict[str, Any]:
    """Return what all sources are, and what they let in, and what they make of it."""
    found: dict[str, Any] = {}
    for name, source in project.sources.items():
        rules = compile_source(source)
        made = [rules.scope, rules.recipe, rules.seeds, dict(rules.headers)]
        found[name] = {**source.model_dump(), "scope, recipe, seeds and headers": made}
    return found


def written(specs: Sequence[OptionSpec]) -> tuple[dict[str, Any], str]:
    """Return options and raw XML that set these options to their samples, those of logins each in its own."""
    options: dict[str, Any] = dict(BASE)
    inside = ""
    for number, spec in enumerate(specs):
        options = {**NEEDED.get(spec.number, {}), **options}
        if spec.section.startswith("Login"):
            inside += login(spec, spec.sample).replace('name="main"', f'name="login {number}"', 1)
        else:
            options[named(spec)] = spec.sample
    beside = {INSIDE[spec.number] for spec in specs if spec.number in INSIDE}
    return options, inside + "".join(sorted(beside, key=lambda one: one == OTHER))


def lost(folder: Path, specs: Sequence[OptionSpec]) -> dict[str, Any]:
    """Return what differs, by dotted path, once a collection is YAML: what it means, what `lint` and a draft say."""
    project = require(load(folder, *written(specs)))
    file = folder / "ultracrawl.yaml"
    file.write_text(definition_text(project, folder))
    again = load_project(file)
    if again.project is None:
        return {one.key: one.problem for one in again.fatal}
    found = differences(known(project), known(again.project))
    plain, source = excerpt(definition_text(require(load(folder, BASE)), folder)), excerpt(file.read_text())
    found |= {f"{one}, if nothing is edited": source.shown for one in draft_of(source, source.shown).changes}
    if HIDDEN not in source.shown:  # else it cannot be edited into the plain one
        edited = {str(one) for one in draft_of(plain, source.shown).changes}
        data = (yaml.safe_load(one.definition.text)["sources"]["handbook"] for one in (plain, source))
        changed = differences(*data)
        found |= {one: "is not told of a draft" for one in changed if not at_or_below(one, edited)}
        found |= {
            one: "is told of a draft" for one in edited if not any(at_or_below(it, [one]) for it in changed)
        }
    return found


def excerpt(text: str) -> Excerpt:
    found = find_excerpt(DefinitionText("ultracrawl.yaml", "ultracrawl", text), "handbook")
    assert found
    return found


def at_or_below(path: str, paths: Iterable[str]) -> bool:
    return any(f"{path}.".startswith(f"{one}.") for one in paths)


SECRET = {25, 58, 59, 177, 178, 204, *range(214, 225)}
"""Options with values that pages hide."""
MANY = 20
"""Failing options that tell enough of a fault that all have."""


@pytest.mark.essential
@settings(max_examples=3, phases=[Phase.generate])  # an option alone tells more than shrinking
@given(st.randoms(use_true_random=True), st.integers(10, 60))
def test_options_survive_in_any_company(
    tmp_path_factory: pytest.TempPathFactory, random: Random, size: int
) -> None:
    """Each option is in one of the sets, whatever is drawn; those with hidden values come last."""
    specs = sorted(random.sample(HONOURED, len(HONOURED)), key=lambda one: one.number in SECRET)
    folder = with_files(tmp_path_factory.mktemp("sets"))
    failing: dict[str, Any] = {}
    for start in range(0, len(specs), size):
        together = specs[start : start + size]
        if found := lost(folder, together):
            alone = {label(spec): one for spec in together if (one := lost(folder, [spec]))}
            failing |= alone or {", ".join(map(label, together)): found}
        if len(failing) > MANY:
            break
    assert failing == {}, "\n".join(f"{one}: {what}" for one, what in failing.items())


def test_all_of_them_together_survive(folder: Path) -> None:
    project, again = both(folder, *written(HONOURED))
    assert differences(known(project), known(again)) == {}
    assert len(again.sources["handbook"].logins) == 12


def test_several_collections_with_their_parts_survive(folder: Path) -> None:
    rules = fast_options({"include_uris/prefix": ("http://a.example/docs/",), "refresh": 60.0})
    part = f'<SubDomain name="docs">{rules}</SubDomain>'
    project, again = both(folder, {**BASE, "send_links_to": "other", "delay": 2.0}, part + OTHER)
    assert differences(known(project), known(again)) == {}
    assert list(again.sources) == ["handbook", "handbook.docs", "other"]


def test_what_a_node_says_survives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULTRACRAWL_NODE", "crawler_b")
    node = f'<Node name="crawler_b">{fast_options({"delay": 12.0})}</Node>'
    project, again = both(folder, {**BASE, "delay": 2.0}, node)
    assert differences(known(project), known(again)) == {}
    assert again.sources["handbook"].politeness.delay == 12.0
