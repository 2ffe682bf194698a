"""Reading a tree: its imports in every form, its cycles, its lines of code."""

from __future__ import annotations

import pytest
from source_tree import cycles

IMPORTS = {
    "from a package": "from ultracrawl.low import thing",
    "of a module": "import ultracrawl.low.thing",
    "of a module by another name": "import ultracrawl.low.thing as other",
    "of a name in a module": "from ultracrawl.low.thing import NAME",
    "relative": "from ..low import thing",
    "relative, of a name": "from ..low.thing import NAME",
    "in a function": "def use():\n    from ultracrawl.low.thing import NAME\n    return NAME",
    "for types only": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ultracrawl.low.thing import NAME"
    ),
}


@pytest.mark.parametrize("form", IMPORTS)
def test_every_form_of_import_counts(grow, form):
    tree = grow(
        {
            "ultracrawl/__init__.py": "",
            "ultracrawl/low/__init__.py": "",
            "ultracrawl/low/thing.py": "NAME = 1",
            "ultracrawl/high/__init__.py": "",
            "ultracrawl/high/user.py": IMPORTS[form],
        }
    )
    assert tree.graph["ultracrawl.high.user"] == {"ultracrawl.low.thing"}


def test_the_face_of_a_package_counts_from_where_it_stands(grow):
    tree = grow({"ultracrawl/low/__init__.py": "from . import thing", "ultracrawl/low/thing.py": "import os"})
    assert tree.graph["ultracrawl.low"] == {"ultracrawl.low.thing"}
    assert tree.graph["ultracrawl.low.thing"] == frozenset()


@pytest.mark.parametrize(
    ("arrows", "expected"),
    [
        pytest.param({"a": "b", "b": "c", "c": ""}, [], id="a line"),
        pytest.param({"a": "bc", "b": "d", "c": "d", "d": ""}, [], id="two ways to one end"),
        pytest.param({"a": "b", "b": "a", "c": "a"}, ["ab"], id="a pair, and one that looks at it"),
        pytest.param(
            {"a": "b", "b": "ac", "c": "de", "d": "c", "e": "c"}, ["cde", "ab"], id="the larger first"
        ),
        pytest.param({"a": "b", "b": "c", "c": "d", "d": "b"}, ["bcd"], id="entered from outside"),
        pytest.param(
            {"a": "b", "b": "ce", "c": "d", "d": "a", "e": "d"}, ["abcde"], id="two circles that meet"
        ),
    ],
)
def test_cycles(arrows, expected):
    graph = {name: frozenset(others) for name, others in arrows.items()}
    assert cycles(graph) == [list(cycle) for cycle in expected]


def test_blanks_comments_and_docstrings_are_no_code(grow):
    tree = grow(
        {
            "ultracrawl/one.py": '''
                """What it is.

                More of it.
                """

                # a comment
                X = 1  # and one more
                """What X is."""


                def use(
                    a: int,
                ) -> str:
                    """Say it."""
                    return """two

                    lines"""
                '''
        }
    )
    module = tree.modules["ultracrawl.one"]
    assert [module.text.splitlines()[line - 1].strip() for line in sorted(module.code)] == [
        "X = 1  # and one more",
        "def use(",
        "a: int,",
        ") -> str:",
        'return """two',
        "",
        'lines"""',
    ]
