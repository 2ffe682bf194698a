"""The declared list of features: a feature stands below those that its maker takes from the parts."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

import pytest

from ultracrawl.run.composition import features, making
from ultracrawl.run.composition.features import FEATURES
from ultracrawl.run.composition.parts import Moment

MAKERS = {
    node.name: node for node in ast.parse(inspect.getsource(making)).body if isinstance(node, ast.FunctionDef)
}
ORDER = {row.feature.__name__: (list(Moment).index(row.moment), at) for at, row in enumerate(FEATURES)}


def rows() -> Iterator[tuple[str, ast.expr]]:
    """Yield the feature of each row and the expression that makes it, as written."""
    for node in ast.walk(ast.parse(inspect.getsource(features))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Row":
            yield ast.unparse(node.args[0]), node.args[1]


def needs(made: ast.AST, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return the features that are taken when an expression is evaluated; what it only calls later does not count."""
    if isinstance(made, ast.Name) and made.id in MAKERS and made.id not in seen:
        return needs(ast.Module(MAKERS[made.id].body, []), seen | {made.id})
    found: set[str] = set()
    for node in ast.iter_child_nodes(made):
        if isinstance(node, ast.Lambda | ast.FunctionDef):
            continue
        found |= needs(node, seen)
    if isinstance(made, ast.Subscript) and ast.unparse(made.value) in {"p", "parts"}:
        found.add(ast.unparse(made.slice))
    return found


def needs_of(make: ast.expr) -> set[str]:
    return needs(make.body if isinstance(make, ast.Lambda) else make)


LISTED = list(rows())


def test_the_list_is_read_as_it_is_written() -> None:
    assert [name for name, _ in LISTED] == [row.feature.__name__ for row in FEATURES]
    assert sum(bool(needs_of(make)) for _, make in LISTED) > 5, "some features need others"


def test_a_feature_stands_below_what_it_is_made_of(subtests: pytest.Subtests) -> None:
    for name, make in LISTED:
        with subtests.test(name):
            known = needs_of(make) & ORDER.keys()
            assert sorted(need for need in known if ORDER[need] >= ORDER[name]) == []
