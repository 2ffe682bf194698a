"""Functions of your own that say what they are, loaded by a `filter.conf` or a definition."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sentences import sentence

from ultracrawl.rules.filters import filter_function
from ultracrawl.rules.filters.function import Robot
from ultracrawl.rules.filters.phase import FilterKind
from ultracrawl.rules.filters.resource import Fetched, Resource, View
from ultracrawl.sources.filter_files.filter_file import read_filters

MODULE = """
from ultracrawl.rules.filters import REQ_ABORTED, REQ_PROCEED, filter_function

@filter_function(under=["Generate"], needs=["name"], takes=["also"])
def by_department(pb, csf, csr):
    csr.rd["department"] = [pb["name"]]
    return REQ_PROCEED

@filter_function("no-drafts", under=["metadata", "Data"])
def whatever(pb, csf, csr):
    return REQ_ABORTED if "/draft/" in csr.url else None

def unmarked(pb, csf, csr):
    return REQ_PROCEED
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "own_" + tmp_path.name.replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"empty_{name}.py").write_text("")
    (tmp_path / f"broken_{name}.py").write_text("raise ValueError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def compiled(text: str) -> tuple[list[str], View]:
    filters = read_filters(text)
    program = filters.compile("g", FilterKind.GENERATION, Robot())
    view = View(Resource("http://h/draft/x", fetched=Fetched({"content-type": "text/html"}, b"<p>x")))
    program.inspect(view)
    if not view.cause:
        program.use(view)
    return [f"{one.line}: {one.problem}; {one.instead}" for one in filters.text.findings], view


def test_all_marked_functions_of_a_module_are_loaded_by_their_names(module: str) -> None:
    text = f'Setup fn=load-modules module={module}\n<Filter name=g>\nGenerate fn=by-department name="A B"\n</Filter>\n'
    findings, view = compiled(text)
    assert (findings, view.rd) == ([], {"department": ["A B"]})
    findings, view = compiled(text.replace('Generate fn=by-department name="A B"', "Data fn=no-drafts x=1"))
    assert (findings, str(view.cause)) == ([], "no-drafts answered REQ_ABORTED")


MISTAKES = {
    "stands elsewhere": (
        "Data fn=by-department name=A",
        sentence("robot.not_allowed_under_data"),
        "Generate",
    ),
    "lacks a parameter": ("Generate fn=by-department", "lacks name", "name=VALUE"),
    "unknown parameter": (
        "Generate fn=by-department name=A nam=B",
        "by-department takes no parameter `nam`",
        "it takes name, also",
    ),
    "not marked": ("Generate fn=unmarked", sentence("robot.no_function_unmarked"), "load your own"),
}


@pytest.mark.parametrize(("line", "problem", "instead"), MISTAKES.values(), ids=MISTAKES)
def test_what_a_function_says_of_itself_is_checked(
    module: str, line: str, problem: str, instead: str
) -> None:
    text = f"Setup fn=load-modules module={module}\n<Filter name=g>\n{line}\n</Filter>\n"
    findings, _ = compiled(text)
    assert findings[0].startswith(f"3: {problem}")
    assert instead in findings[0]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("module=empty_{}", "marks no functions"),
        ("module=broken_{}", "cannot be loaded: ValueError('no licence')"),
        ("module=no_such_{}", "cannot be loaded: No module named"),
        ("module={} funcs=none", "cannot be loaded: module"),
        ("funcs=one", "names no module"),
    ],
    ids=["nothing marked", "breaks", "missing module", "missing function", "no module"],
)
def test_modules_that_cannot_be_used_are_said_in_a_line(module: str, words: str, problem: str) -> None:
    text = f"Setup fn=load-modules {words.format(module)}\n<Filter name=g>\n</Filter>\n"
    (finding,), _ = compiled(text)
    assert finding.startswith("1: ")
    assert problem in finding


def test_a_directive_that_there_is_not_is_refused_where_it_is_written() -> None:
    with pytest.raises(ValueError, match=sentence("robot.enum_no_directive_filter_write")):
        filter_function(under=["Enum"])
