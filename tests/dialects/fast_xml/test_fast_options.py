"""The list of options drives everything: whatever it has, something consumes, and what it sets makes a difference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.fast import attrib, fast_options, fast_xml

from ultracrawl.dialects.fast_xml.forms.plain import FORMS
from ultracrawl.dialects.fast_xml.options import OPTIONS, OptionSpec
from ultracrawl.sources import DataSource, Loaded
from ultracrawl.sources.dialects import read_definitions

FILES = {
    "client.pem": "",
    "client.key": "",
    "other.pem": "",
    "other.key": "",
    "seeds.txt": "http://c.example/\n",
    "mirrors.txt": "www.a.example a.example\n",
    "hosts.txt": "suffix .file.example\n",
    "uris.txt": "prefix http://a.example/file/\n",
}
HONOURED = [spec for spec in OPTIONS.all if spec.sets]
OTHERS = [spec for spec in OPTIONS.all if not spec.honoured]


def label(spec: OptionSpec) -> str:
    return f"fast_{spec.number}-{spec.path}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def load(folder: Path, options: dict[str, Any], inside: str = "") -> Loaded:
    file = folder / "collection.xml"
    file.write_text(fast_xml(options, inside=inside))
    return read_definitions(file)


def only(loaded: Loaded) -> DataSource:
    assert loaded.project, [str(finding) for finding in loaded.findings]
    return loaded.project.sources["handbook"]


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Return the options of a dumped definition by dotted path; lists are leaves."""
    if not isinstance(value, dict) or not value:
        return {path: value}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found.update(leaves(inner, f"{path}.{name}".strip(".")))
    return found


BASE: dict[str, Any] = {"start_uris": ("http://a.example/",)}
NEEDED: dict[int, dict[str, Any]] = {
    26: {"proxy": ("proxy.example:3128",)},
    27: {"cert_file": "client.pem", "key_file": "other.key"},
    28: {"cert_file": "other.pem", "key_file": "client.key"},
    49: {"use_javascript": True},
    149: {"workqueue_priority/levels": 3},
    150: {"workqueue_priority/levels": 3},
    153: {"workqueue_priority/levels": 3},
    122: {"feeding/main/collection": "archive"},
    123: {"feeding/main/collection": "archive"},
    124: {"feeding/main/collection": "archive"},
}
"""What an option has to have beside it to make a difference."""


ONE_VALUE = {122}
"""Options with one value, which is their default: writing it changes nothing."""


def login(spec: OptionSpec, value: Any = None) -> str:
    """Return a login for the options that belong to one, with one option set."""
    if not spec.section.startswith("Login"):
        return ""
    options: dict[str, Any] = {"site": "l.example", "form": "/in"}
    fields = {"user": "x"}
    if spec.number == 222:
        options["html_form"] = "http://l.example/form"
    if spec.section == "Login/parameters" and value is not None:
        fields[spec.sample_name] = value
    elif value is not None:
        options[spec.name] = value
    own = "".join(attrib(name, f"Login/{name}", one) for name, one in options.items())
    inner = "".join(attrib(name, f"Login/parameters/{name}", one) for name, one in fields.items())
    return f'<Login name="main">{own}<section name="parameters">{inner}</section></Login>'


OTHER = f'</DomainSpecification><DomainSpecification name="other">{fast_options(BASE)}'
"""A second collection."""


LOGIN = '<Login name="main"><attrib name="site" type="string">l.example</attrib>'
LOGIN += '<attrib name="form" type="string">/in</attrib><section name="parameters">'
LOGIN += '<attrib name="user" type="string">x</attrib></section></Login>'
INSIDE = {5: OTHER, 58: LOGIN, 59: LOGIN}
"""Raw XML that an option needs beside it."""


def named(spec: OptionSpec) -> str:
    """Return the path under which the sample of an option is written."""
    section = spec.section.replace("*", "2" if spec.section.startswith("workqueue") else "main")
    name = (spec.sample_name or "http://a.example/x") if spec.name == "*" else spec.name
    return f"{section}/{name}" if section else name


def test_the_list_is_complete() -> None:
    assert sorted(spec.number for spec in OPTIONS.all) == list(range(1, 225))
    assert Counter(spec.group for spec in OPTIONS.all) == {"CORE": 184, "OPS": 28, "CLUSTER": 12}
    assert all(spec.meaning and len(spec.meaning) < 100 for spec in OPTIONS.all)


def test_each_option_has_exactly_one_fate(subtests: pytest.Subtests) -> None:
    for spec in OPTIONS.all:
        with subtests.test(label(spec)):
            assert sum(map(bool, (spec.sets, spec.shown, spec.no_effect, spec.not_yet))) == 1
            assert not (spec.no_effect and spec.group == "CORE"), "what decides something has an effect"
            assert spec.form in FORMS
            if spec.sets:
                assert spec.sample is not None
                assert (spec.sample != spec.default) is (spec.number not in ONE_VALUE)


def test_an_option_changes_the_definition_where_the_list_says(
    folder: Path, subtests: pytest.Subtests
) -> None:
    for spec in HONOURED:
        with subtests.test(label(spec)):
            needed = {**BASE, **NEEDED.get(spec.number, {})}
            inside = INSIDE.get(spec.number, "")
            without = load(folder, needed, inside or login(spec))
            if spec.section.startswith("Login"):
                loaded = load(folder, needed, login(spec, spec.sample))
            else:
                loaded = load(folder, {**needed, named(spec): spec.sample}, inside)
            said = [one for one in loaded.findings if one.fatal or not one.key.endswith("start_uris")]
            assert [one for one in said if not one.problem.startswith("N-SECRET")] == []
            before = leaves(only(without).model_dump(mode="json", by_alias=True))
            after = leaves(only(loaded).model_dump(mode="json", by_alias=True))
            changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
            assert bool(changed) is (spec.number not in ONE_VALUE)
            allowed = [target.partition(".*")[0] for target in (*spec.sets, *ALSO.get(spec.number, ()))]
            assert [path for path in changed if not path.startswith(tuple(allowed))] == []


ALSO = {
    3: ("start_urls",),
    10: ("sites.aliases",),
    24: ("robots.name",),
    206: ("feeds.urls",),
    **dict.fromkeys(range(69, 76), ("boundary.domains.include",)),
}
"""What changes with an option beside what it sets."""


def set_up(spec: OptionSpec, value: Any) -> tuple[dict[str, Any], str]:
    """Return options and raw XML that set one option."""
    if not spec.section.startswith("Login"):
        return {**BASE, named(spec): value}, ""
    name = spec.sample_name or "user" if spec.name == "*" else spec.name
    written = fast_options({name: value}).replace('type="string"', f'type="{spec.kind}"')
    if spec.section == "Login/parameters":
        written = f'<section name="parameters">{written}</section>'
    return BASE, f'<Login name="main">{written}</Login>'


VALUES: dict[str, Any] = {"boolean": True, "integer": 7, "real": 7.5, "string": "x", "list-string": ("x/y",)}


def test_an_option_without_effect_says_so_once(folder: Path, subtests: pytest.Subtests) -> None:
    plain = only(load(folder, BASE))
    for spec in OTHERS:
        with subtests.test(label(spec)):
            value = next((word for word in spec.words if word != spec.default), VALUES[spec.kind])
            if spec.kind == "boolean":
                value = not spec.default
            elif spec.kind == "list-string" and isinstance(value, str):
                value = (value,)
            loaded = load(folder, *set_up(spec, value))
            code = "N-MISSING" if spec.not_yet else "N-CLUSTER" if spec.group == "CLUSTER" else "N-TUNING"
            (finding,) = [one for one in loaded.findings if one.problem.startswith(code)]
            assert (spec.no_effect or spec.not_yet) in finding.problem
            assert finding.line > 1
            assert only(loaded) == plain
