"""Find names that say nothing, and print what to write instead.

    python tools/words.py [--tree PATH]

Checked are the names of modules, classes, functions and attributes of the package, but not those of variables; of
parameters only a few that do not say what is passed. Of tests, the words of modules, classes and functions are
checked. A name of the package that has to stay needs a reason in a comment on its line (for a module on the line of
its docstring): `# word: the name of the program`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from source_tree import Definition, Module, SourceTree, called, extent, is_prose, read_modules

PARTS: Mapping[str, str] = {
    "book": "what it is: a cache, a store",
    "desk": "what it does: a manager, a chain, a policy",
    "keeper": "what it does: a store, a sweeper",
}
"""Words that say nothing in any name."""
CLASS_ENDS: Mapping[str, str] = dict.fromkeys(
    ("blame", "doubt", "fault", "notice", "remark"), "Finding, with a severity"
)
"""Last words of class names that say nothing."""
MODULES: Mapping[str, str] = dict.fromkeys(
    ("common", "helper", "helpers", "misc", "opening", "util", "utils"), "what is in it"
)
"""Module names that say nothing about the contents."""
VERBS: Mapping[str, str] = dict.fromkeys(
    ("take", "put", "end", "ended"), "a verb with its noun, so that a search finds it"
)
"""Verbs that are no name of a public function without a noun."""
PARAMETERS: Mapping[str, str] = {
    "asked": "what is passed: URLs, words, headers",
    "say": "what calls it: `write_line`",
    "told": "what calls it: `on_report`",
}
"""Parameters that do not say what is passed."""
TESTS: Mapping[str, str] = {"told": "what happens: `is_reported`, `is_refused`, `is_distinguished`"}
"""Words that say nothing in the name of a test, or of what tests share."""
MARK = re.compile(r"#\s*word:\s*\S")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class Kind(StrEnum):
    """The kind of a named thing."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    ATTRIBUTE = "attribute"
    PARAMETER = "parameter"


@dataclass(frozen=True, order=True)
class Found:
    """A name that says nothing: its place, a description, what to write instead."""

    place: str
    what: str
    write: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}: write {self.write}"


def main(arguments: list[str] | None = None) -> int:
    """Print the names that say nothing; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    tree = SourceTree(parser.parse_args(arguments).tree.resolve())
    found = [*empty_words(tree), *empty_words_of_tests(tree)]
    print(*found, sep="\n", end="\n" if found else "")
    if found:
        print(f"{len(found)} names say nothing; if one has to stay, say on the line why: # word: WHY")
    return bool(found)


def empty_words(tree: SourceTree) -> Iterator[Found]:
    """Yield the names of a package that say nothing, and unused `word:` comments."""
    for module in tree.modules.values():
        marks = module.marks(MARK)
        excused = set()
        for line, last, what, write in sorted(_in_names(module)):
            if marked := marks.intersection(range(line, last + 1)):
                excused |= marked
            else:
                yield Found(tree.place(module, line), what, write)
        for line in sorted(marks - excused):
            yield Found(tree.place(module, line), "the mark `word:` excuses nothing", "the line without it")


def empty_words_of_tests(tree: SourceTree) -> Iterator[Found]:
    """Yield the names of test modules, and of their classes and functions, that do not say what happens."""
    for module in read_modules(tree.root, "tests"):
        defined = [(node.lineno, node.name) for node in module.nodes if isinstance(node, Definition)]
        for line, name in sorted([(1, module.name.rpartition(".")[2]), *defined]):
            for word in TESTS.keys() & set(words_of(name)):
                yield Found(tree.place(module, line), f"`{name}`", TESTS[word])


def instead_of(name: str, kind: Kind) -> str:
    """Return what to write instead of a name; empty if it is allowed."""
    words = words_of(name)
    if kind is Kind.PARAMETER:
        return PARAMETERS.get(name, "")
    if kind is Kind.MODULE and name in MODULES:
        return MODULES[name]
    if kind is Kind.FUNCTION and name in VERBS:
        return VERBS[name]
    if kind is Kind.CLASS and words and words[-1] in CLASS_ENDS:
        return CLASS_ENDS[words[-1]]
    return next((PARTS[word] for word in words if word in PARTS), "")


@cache
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case."""
    return tuple(word.lower() for word in _WORD.findall(name))


def _in_names(module: Module) -> Iterator[tuple[int, int, str, str]]:
    """Yield (first and last line where the `word:` comment may be, description, replacement)."""
    called = module.name.rpartition(".")[2]
    if write := instead_of(called, Kind.MODULE):
        body = module.tree.body
        yield 1, extent(body[0])[-1] if body and is_prose(body[0]) else 1, f"module `{called}`", write
    seen = set()
    for line, name, kind in sorted(_names(module)):
        if name not in seen and (write := instead_of(name, kind)):
            seen.add(name)
            yield line, line, f"{kind} `{name}`", write


def _names(module: Module) -> Iterator[tuple[int, str, Kind]]:
    """Yield the names that a module defines: classes, functions, attributes of modules, classes and `self`."""
    for owner in module.nodes:
        if isinstance(owner, ast.ClassDef | ast.Module):
            yield from ((line, name, Kind.ATTRIBUTE) for line, name in _assigned(owner.body))
        if isinstance(owner, Definition):
            kind = Kind.CLASS if isinstance(owner, ast.ClassDef) else Kind.FUNCTION
            yield owner.lineno, owner.name, kind
            if not isinstance(owner, ast.ClassDef):
                yield from ((one.lineno, one.arg, Kind.PARAMETER) for one in _parameters(owner.args))
        elif (
            isinstance(owner, ast.Attribute)
            and isinstance(owner.ctx, ast.Store)
            and called(owner.value) == "self"
        ):
            yield owner.lineno, owner.attr, Kind.ATTRIBUTE


def _parameters(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[int, str]]:
    for node in body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.lineno, target.id


if __name__ == "__main__":
    sys.exit(main())
