"""Reads a tree of Python sources without importing it: modules, import graph, lines of code, import cycles."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "ultracrawl"
"""The default package."""
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Graph = Mapping[str, Set[str]]
"""The imported modules by module."""


@dataclass(frozen=True, eq=False)
class Module:
    """A Python file: its dotted name, path and text."""

    name: str
    path: Path
    text: str
    is_package: bool = False

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text, str(self.path))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree, breadth first."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def tokens(self) -> tuple[tokenize.TokenInfo, ...]:
        """All tokens, including comments."""
        return tuple(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @cached_property
    def lines(self) -> int:
        """The number of lines."""
        return len(self.text.splitlines())

    @cached_property
    def code(self) -> frozenset[int]:
        """The numbers of the code lines: not blank, no comment, no docstring (also not of a variable)."""
        prose = {line for node in self.nodes if is_prose(node) for line in extent(node)}
        return frozenset(
            line
            for token in self.tokens
            if token.type not in _NO_CODE
            for line in range(token.start[0], token.end[0] + 1)
            if line not in prose
        )

    @cached_property
    def comments(self) -> Mapping[int, str]:
        """The comments by line."""
        return {token.start[0]: token.string for token in self.tokens if token.type == tokenize.COMMENT}

    def marks(self, pattern: re.Pattern[str]) -> set[int]:
        """Return the lines with a comment that matches a pattern."""
        if not pattern.search(self.text):  # saves tokenizing most modules
            return set()
        return {line for line, comment in self.comments.items() if pattern.search(comment)}


class SourceTree:
    """The modules of a package below a folder, by their dotted names."""

    def __init__(self, root: Path, package: str = PACKAGE) -> None:
        self.root = root
        self.package = package
        self.modules = {module.name: module for module in read_modules(root, package)}

    @cached_property
    def graph(self) -> Graph:
        """The import graph; relative imports, and those in functions or for types only, count too."""
        return {
            name: frozenset(imported_modules(module, self.modules)) - {name}
            for name, module in self.modules.items()
        }

    def subpackage(self, name: str) -> str:
        """Return the name of the direct child of the package that a module belongs to; the package is its own."""
        return [*name.split("."), name][1]

    def place(self, module: Module, line: int) -> str:
        """Return `path:line`, relative to the root."""
        return f"{module.path.relative_to(self.root)}:{line}"


def read_modules(root: Path, folder: str) -> Iterator[Module]:
    """Yield every module in a folder below the root, in the order of their paths."""
    for path in sorted((root / folder).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        yield Module(name, path, path.read_text(encoding="utf-8"), is_package)


def extent(node: ast.AST) -> range:
    """Return the lines of a node."""
    assert isinstance(node, ast.stmt | ast.expr)
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def is_prose(node: ast.AST) -> bool:
    """Return whether a node is a string statement: the docstring of a module, class, function or variable."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def called(node: ast.expr) -> str:
    """Return the last name of an expression, without underscores before it: `session` for `self._session`."""
    if isinstance(node, ast.Name):
        return node.id.lstrip("_")
    return node.attr.lstrip("_") if isinstance(node, ast.Attribute) else ""


def imported_names(module: Module) -> Iterator[tuple[str, str, str]]:
    """Yield (local name, imported module, imported name or empty) of every import."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name, alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            source = _absolute(module, node)
            for alias in node.names:
                yield alias.asname or alias.name, source, alias.name


def bindings(module: Module) -> dict[str, tuple[str, str]]:
    """Return (module, imported name or empty) by local name of the imports of a module."""
    return {called: (source, name) for called, source, name in imported_names(module)}


def imported_modules(module: Module, known: Iterable[str]) -> set[str]:
    """Return those of the known modules that a module imports, in any form."""
    found = set()
    for _, source, name in imported_names(module):
        for candidate in (f"{source}.{name}", source):
            if candidate in known:
                found.add(candidate)
                break
    return found


def cycles(graph: Graph) -> list[list[str]]:
    """Return the groups of modules that import each other in a cycle, largest first (Tarjan's algorithm)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []
    for start in sorted(graph):
        if start in order:
            continue
        work: list[tuple[str, Iterator[str]]] = []
        _enter(start, graph, order, low, path, work)
        while work:
            name, rest = work[-1]
            for following in rest:
                if following not in order:
                    _enter(following, graph, order, low, path, work)
                    break
                if following in path:
                    low[name] = min(low[name], order[following])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == order[name]:
                    found.append(_cut(path, name))
    return sorted((cycle for cycle in found if len(cycle) > 1), key=lambda cycle: (-len(cycle), cycle))


def sibling_cycles(graph: Graph) -> dict[str, list[list[str]]]:
    """Return by folder its children that import each other in a cycle; a child includes all modules below it."""
    folders: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, others in graph.items():
        for other in others:
            apart = _first_difference(name.split("."), other.split("."))
            if apart:
                folder, importer, imported = apart
                folders[folder][importer].add(imported)
    return {folder: found for folder in sorted(folders) if (found := cycles(folders[folder]))}


def _first_difference(one: list[str], other: list[str]) -> tuple[str, str, str] | None:
    """Return the common folder of two names and their children there; None if one is inside the other."""
    for depth, (first, second) in enumerate(zip(one, other, strict=False)):
        if first != second:
            return ".".join(one[:depth]), first, second
    return None


def _enter(
    name: str,
    graph: Graph,
    order: dict[str, int],
    low: dict[str, int],
    path: list[str],
    work: list[tuple[str, Iterator[str]]],
) -> None:
    order[name] = low[name] = len(order)
    path.append(name)
    work.append((name, iter(sorted(graph.get(name, ())))))


def _cut(path: list[str], name: str) -> list[str]:
    at = path.index(name)
    cycle = sorted(path[at:])
    del path[at:]
    return cycle


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    here = parts[: len(parts) - node.level + module.is_package]
    return ".".join([*here, *([node.module] if node.module else [])])
