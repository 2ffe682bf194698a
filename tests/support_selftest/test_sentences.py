"""Sentences of the program stand in one file, and nowhere else in what tests expect.

A test expects a text if an assertion or `pytest.raises(match=...)` names it, or names a name that has it: a column of
`pytest.mark.parametrize`, the target of a loop over a table, a parameter of a helper that asserts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.sentences import all_sentences

ROOT = Path(__file__).resolve().parents[2]
NOT_OF_THE_PROGRAM = ("benchmarks", "tools")
"""Folders of tests of what is not in the package."""
WORDS_OF_A_SENTENCE = 5
"""Fewer are a name, a value or a part of a line."""
SHARED_WORDS = 3
"""A literal most of whose words stand in rows of so many in the package is one of its sentences."""
_CODE = re.compile(r"SELECT |try \{|\w+ fn=|[<{].*[>}]$", re.DOTALL)
"""The beginning of what is no sentence: SQL, a script, a line of a filter, markup, JSON."""
_WORD = re.compile(r"[A-Za-z']+")
_PLAIN_WORD = re.compile(r"(?<![\w/.:-])[A-Za-z']+(?![\w/:-])")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Constants = Mapping[str, ast.expr]
"""The values of the names of a module."""


def test_what_tests_expect_of_the_program_in_words_stands_in_one_file() -> None:
    told = set(_rows_of_words(ROOT / "ultracrawl"))
    trees = {
        path.relative_to(ROOT / "tests"): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "tests").rglob("*.py"))
    }
    helpers = {helper.name: helper for tree in trees.values() for helper in _helpers(tree)}
    found = {
        f"{path}:{node.lineno}: {node.value}"
        for path, tree in trees.items()
        if path.parts[0] not in NOT_OF_THE_PROGRAM
        for node in _expected(tree, helpers)
        if _is_sentence(node.value, told)
    }
    assert sorted(found) == [], "put it into tests/golden/sentences.yaml, and write sentence(...)"


def test_a_text_is_found_wherever_a_test_expects_it() -> None:
    tree = ast.parse(
        """
ROWS = {"name": ("input", "by a loop")}
TABLE = [("input", "by a column")]

def checked(line, wanted):
    assert line.startswith(wanted)

@pytest.mark.parametrize(("line", "wanted"), TABLE)
def test_lines(line, wanted, other="in a default"):
    assert wanted in line, "in a message"
    assert "by itself" in line
    checked("of a line", "by a helper")
    with pytest.raises(ValueError, match="by a pattern"):
        ask("in a call")
    for name, (line, told) in ROWS.items():
        assert told in ask(line)
"""
    )
    helpers = {helper.name: helper for helper in _helpers(tree)}
    assert {node.value for node in _expected(tree, helpers)} == {
        "by a column",
        "by a helper",
        "by a loop",
        "by a pattern",
        "by itself",
        "input",  # of a loop's row as a whole
        "of a line",
    }


def test_every_sentence_of_the_file_is_expected_somewhere() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    named = {key for text in texts for key in re.findall(r"\bsentence\(\s*[\"']([\w.]+)[\"']", text)}
    assert named == {f"{group}.{name}" for group, names in all_sentences().items() for name in names}


@dataclass(frozen=True)
class _Helper:
    """A function that asserts something of its arguments."""

    name: str
    parameters: Sequence[str]
    """Those that a call can give by position."""
    judged: frozenset[str]


def _helpers(tree: ast.AST) -> Iterator[_Helper]:
    for node in ast.walk(tree):
        if isinstance(node, Function) and not node.name.startswith("test_"):
            parameters = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
            judged = _judged(node) & {*parameters, *(one.arg for one in node.args.kwonlyargs)}
            if judged:
                yield _Helper(node.name, parameters[parameters[:1] == ["self"] :], frozenset(judged))


def _expected(tree: ast.Module, helpers: Mapping[str, _Helper]) -> Iterator[ast.Constant]:
    """Yield the texts that the tests of a module expect."""
    constants = dict(_constants(tree.body))
    for node in ast.walk(tree):
        for expression in _judgements(node):
            yield from _texts(expression)
        if isinstance(node, ast.Call) and (helper := helpers.get(_called(node))):
            given = [
                *zip(helper.parameters, node.args, strict=False),
                *((one.arg, one.value) for one in node.keywords),
            ]
            for name, value in given:
                if name in helper.judged:
                    yield from _texts(value)
        if isinstance(node, Function):
            judged = _judged(node)
            for names, rows in _tables(node):
                for place, name in enumerate(names):
                    if name & judged:
                        for value in _column(rows, place, len(names), constants):
                            yield from _texts(value)


def _constants(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _judgements(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what an assertion compares, or the pattern of an exception."""
    if isinstance(node, ast.Assert):
        yield node.test
    elif isinstance(node, ast.Call) and _called(node) == "raises":
        yield from (one.value for one in node.keywords if one.arg == "match")


def _judged(function: Function) -> set[str]:
    return {
        name for node in ast.walk(function) for expression in _judgements(node) for name in _names(expression)
    }


def _tables(function: Function) -> Iterator[tuple[list[set[str]], ast.expr]]:
    """Yield what a function goes through: for each place of a row the names that have it, and the rows."""
    for node in ast.walk(function):
        match node:
            case ast.For(target=target, iter=rows) | ast.comprehension(target=target, iter=rows):
                yield (
                    [_names(one) for one in (target.elts if isinstance(target, ast.Tuple) else [target])],
                    rows,
                )
            case ast.Call(args=[names, rows, *_]) if _called(node) == "parametrize":
                columns = [text.value for text in _texts(names)]
                yield [{name.strip()} for text in columns for name in text.split(",")], rows


def _column(rows: ast.expr, place: int, places: int, constants: Constants) -> Iterator[ast.expr]:
    """Yield the expressions at one place of the rows of a table."""
    match rows:
        case ast.Name(id=name) if name in constants:
            yield from _column(constants[name], place, places, constants)
        case ast.Call(func=ast.Attribute(attr="items" | "values" as ways, value=ast.Name(id=name))) if (
            name in constants
        ):
            if isinstance(table := constants[name], ast.Dict):
                yield from filter(None, table.keys if ways == "items" and place == 0 else table.values)
        case ast.List(elts=each) | ast.Tuple(elts=each) | ast.Set(elts=each):
            for row in each:
                parts = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [row])
                if places == 1:
                    yield row
                elif place < len(parts):
                    yield parts[place]


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def _names(node: ast.expr) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _is_sentence(text: str, told: set[tuple[str, ...]]) -> bool:
    rows = list(_rows(text))
    return (
        len(_PLAIN_WORD.findall(text)) >= WORDS_OF_A_SENTENCE
        and not _CODE.match(text)
        and sum(row in told for row in rows) > len(rows) / 2
    )


def _texts(node: ast.AST) -> Iterator[ast.Constant]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner


def _rows_of_words(folder: Path) -> Iterator[tuple[str, ...]]:
    for path in folder.rglob("*.py"):
        for text in _texts(ast.parse(path.read_text(encoding="utf-8"))):
            yield from _rows(text.value)


def _rows(text: str) -> Iterator[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    for start in range(len(words) - SHARED_WORDS + 1):
        yield tuple(words[start : start + SHARED_WORDS])
