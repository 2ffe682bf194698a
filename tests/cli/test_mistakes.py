"""The sentences of the command line: each is used, gets the values that it names, and is one line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from support.project import ROOT

from ultracrawl.cli.mistakes import CommandLineError, Mistake

PACKAGE = ROOT / "ultracrawl" / "cli"


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE), ast.parse(path.read_text(encoding="utf-8"))


def uses() -> Iterator[tuple[str, set[str]]]:
    """Yield the mistake and the values of every place that raises one."""
    for _, tree in modules():
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Attribute(
                        attr="error" | "failure", value=ast.Attribute(attr=name, value=ast.Name(id="Mistake"))
                    ),
                    keywords=values,
                ):
                    yield name, {one.arg or "**" for one in values}


def test_each_mistake_gets_the_values_that_its_sentence_names() -> None:
    named = {
        one.name: {name.partition("!")[0] for _, name, _, _ in Formatter().parse(one.value) if name}
        for one in Mistake
    }
    raised = list(uses())
    assert {name for name, _ in raised} == set(named)
    assert [(name, values) for name, values in raised if values != named[name]] == []


def test_each_sentence_is_one_line_of_its_own() -> None:
    assert len(Mistake.__members__) == len({one.value for one in Mistake})
    assert not any("\n" in one.value for one in Mistake)


def test_no_verb_has_a_sentence_of_its_own() -> None:
    own = [
        f"{path}:{node.lineno}"
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "UserError"
        if any(
            isinstance(one, ast.JoinedStr) or isinstance(getattr(one, "value", None), str)
            for one in node.args
        )
    ]
    assert own == []


@pytest.mark.parametrize(("known", "shown"), [(["b", "a"], "b, a"), ([], "none"), ({"a": 1}, "a")])
def test_several_names_are_a_list(known: object, shown: str) -> None:
    error = Mistake.NO_SUCH_NAME.error(what="schedule", name="x", known=known)
    assert isinstance(error, CommandLineError)
    assert str(error) == Mistake.NO_SUCH_NAME.value.format(what="schedule", name="x", known=shown)
    assert error.values["known"] is known
