"""Find behaviour that depends on the wording of a text.

    python tools/sentences.py [--tree PATH]

Texts for people may be reworded at any time, so no decision may depend on them; it needs a code, an enum or data of
its own. Reported are, with file and line:

* texts for people (`reason`, `message`, `str(error)`, ...) that are compared, matched, split or looked up,
* comparisons with a sentence, that is, a text of several words,
* SQL conditions on a column with such a text.

An exception, for a text of another program, needs a reason on its line: `# sentence: SQLite has no code for it`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from source_tree import Module, SourceTree, bindings, extent, is_prose

TELLING = ("cause", "detail", "error", "leaving", "message", "problem", "reason", "removal", "why")
"""Last words of names of texts for people."""
ERRORS = ("e", "err", "error", "exc", "exception", "failure", "fault")
"""Last words of names of exceptions, in addition to those of `except ... as`."""
MARK = re.compile(r"#\s*sentence:\s*\S")

_TAKEN_APART = {
    "count",
    "endswith",
    "find",
    "index",
    "partition",
    "removeprefix",
    "removesuffix",
    "rfind",
    "rindex",
    "rpartition",
    "split",
    "rsplit",
    "startswith",
}
_COMPARING = {"endswith", "find", "index", "removeprefix", "removesuffix", "rfind", "startswith"}
_MATCHING = {"findall", "finditer", "fullmatch", "match", "search"}
_SHAPING = {"casefold", "format", "join", "lower", "lstrip", "replace", "rstrip", "strip", "title", "upper"}
_SENTENCE = re.compile(r"[^\W\d_]{2,}[,;:]? [^\W\d_]{2,}")
_EXCEPTION = re.compile(r"(Error|Exception)\b(?!\])")
_SQL = re.compile(
    rf"""\b(?: (?:substr|instr) \s* \( \s* (?:\w+\.)? (?:{"|".join(TELLING)}) \b
         | (?:where|and|or|when|on|having) \s+ (?:\w+\.)? (?:{"|".join(TELLING)})
           \s* (?: (?:not\s+)? (?:like|glob|in) \b | (?:=|==|<>|!=) \s* '[^'] ) )""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, order=True)
class Found:
    """A place where behaviour depends on a text."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


def main(arguments: list[str] | None = None) -> int:
    """Print the findings; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    options = parser.parse_args(arguments)
    found = list(deciding_texts(SourceTree(options.tree.resolve())))
    print(*found, sep="\n", end="\n" if found else "")
    if found:
        print(
            f"{len(found)} places depend on a text; give them a code, or say on the line why: # sentence: WHY"
        )
    return bool(found)


def deciding_texts(tree: SourceTree) -> Iterator[Found]:
    """Yield the places of a tree where behaviour depends on a text, and unused `sentence:` comments."""
    constants = Constants(tree)
    for module in tree.modules.values():
        marks = module.marks(MARK)
        excused = set()
        for line, what, lines in sorted(_in_module(module, constants), key=lambda one: one[:2]):
            if marked := marks.intersection(lines):
                excused |= marked
            else:
                yield Found(tree.place(module, line), what)
        for line in sorted(marks - excused):
            yield Found(tree.place(module, line), "the mark `sentence:` excuses nothing")


class Constants:
    """The values of string constants by name, also of imported names."""

    def __init__(self, tree: SourceTree) -> None:
        self._bindings = {name: bindings(module) for name, module in tree.modules.items()}
        self._values: dict[tuple[str, str], ast.expr] = {}
        for module in tree.modules.values():
            for name, value in _assigned(module.tree.body):
                self._values[module.name, name] = value
            for node in module.tree.body:
                if isinstance(node, ast.ClassDef) and not _is_enum(node):
                    for name, value in _assigned(node.body):
                        self._values[module.name, f"{node.name}.{name}"] = value

    def texts(self, module: str, node: ast.expr, asked: int = 0) -> frozenset[str]:
        """Return the texts of an expression: a string, the members of a collection, the keys of a dict."""
        if asked > 20:  # a cycle of names
            return frozenset()
        match node:
            case ast.Constant(value=str(text)):
                return frozenset({text} - {""})
            case ast.JoinedStr(values=parts):
                return self._joined(parts)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                return self._of_all(module, parts, asked)
            case ast.Dict(keys=keys):
                return self._of_all(module, filter(None, keys), asked)
            case ast.Starred(value=inner) | ast.NamedExpr(value=inner):
                return self.texts(module, inner, asked + 1)
            case ast.BinOp(left=left, right=right):
                return self._of_all(module, (left, right), asked)
            case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple" | "sorted"), args=parts):
                return self._of_all(module, parts, asked)
            case ast.Name() | ast.Attribute():
                return self._named(module, ast.unparse(node), asked)
        return frozenset()

    def _of_all(self, module: str, parts: Iterable[ast.expr], asked: int) -> frozenset[str]:
        return frozenset().union(*(self.texts(module, part, asked + 1) for part in parts))

    @staticmethod
    def _joined(parts: Iterable[ast.expr]) -> frozenset[str]:
        text = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
        return frozenset({text} - {""})

    def _named(self, module: str, name: str, asked: int) -> frozenset[str]:
        if value := self._values.get((module, name)):
            return self.texts(module, value, asked + 1)
        head, _, rest = name.partition(".")
        source, taken = self._bindings.get(module, {}).get(head, ("", ""))
        if not source or asked > 20:
            return frozenset()
        if f"{source}.{taken}" in self._bindings:  # a module, not a name in one
            return self._named(f"{source}.{taken}", rest, asked + 1)
        return self._named(source, ".".join(filter(None, (taken, rest))), asked + 1)


def _assigned(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value


def _is_enum(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(("Enum", "Flag")) for base in node.bases)


def _in_module(module: Module, constants: Constants) -> Iterator[tuple[int, str, range]]:
    """Yield (line, finding, lines where the `sentence:` comment may be)."""
    reader = _Reader(module.name, constants, frozenset(_exceptions(module)))
    prose = {id(node.value) for node in module.nodes if isinstance(node, ast.Expr) and is_prose(node)}
    for node in module.nodes:
        if id(node) in prose:
            continue
        what = reader.judge(node)
        if what:
            lines = extent(node)
            yield lines[0], what, lines


def _exceptions(module: Module) -> Iterator[str]:
    """Yield the names of exceptions: of `except ... as`, and of arguments annotated so."""
    for node in module.nodes:
        match node:
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.arg(arg=name, annotation=ast.expr() as kind) if _EXCEPTION.search(ast.unparse(kind)):
                yield name


class _Reader:
    """Checks the expressions of one module."""

    def __init__(self, module: str, constants: Constants, caught: frozenset[str]) -> None:
        self._module = module
        self._constants = constants
        self._caught = caught

    def judge(self, node: ast.AST) -> str:
        """Return how a node depends on a text; empty if it does not."""
        match node:
            case ast.Compare(ops=ops) if any(
                isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in ops
            ):
                return self._comparison(node)
            case ast.Call(func=ast.Attribute(attr=method, value=value), args=args):
                return self._call(node, method, value, args)
            case ast.Subscript(value=table, slice=key) if self._tells(key) and self._texts(table):
                return f"looks up `{ast.unparse(key)}`, a text, in `{ast.unparse(table)}`"
            case ast.Match(subject=subject):
                return self._match(node, subject)
            case ast.Constant(value=str(text)) if found := _SQL.search(text):
                return f"SQL that looks into a text: `{' '.join(found.group().split())}`"
        return ""

    def _comparison(self, node: ast.Compare) -> str:
        sides = [node.left, *node.comparators]
        texts = frozenset[str]().union(*map(self._texts, sides))
        for side in sides:
            if self._tells_error(side) or (self._tells(side) and texts):
                return f"compares `{ast.unparse(side)}`: {_short(node)}"
        return _sentence_in(texts, node)

    def _call(self, node: ast.Call, method: str, value: ast.expr, args: list[ast.expr]) -> str:
        if method in _TAKEN_APART and args and self._tells(value):
            return f"takes `{ast.unparse(value)}` apart: {_short(node)}"
        if method in _MATCHING and any(map(self._tells, args)):
            return f"matches a text: {_short(node)}"
        if method == "get" and args and self._tells(args[0]) and self._texts(value):
            return f"looks up `{ast.unparse(args[0])}`, a text, in `{ast.unparse(value)}`"
        if method in _COMPARING and args:
            return _sentence_in(self._texts(args[0]), node)
        return ""

    def _match(self, node: ast.Match, subject: ast.expr) -> str:
        values = [
            one.value
            for case in node.cases
            for one in ast.walk(case.pattern)
            if isinstance(one, ast.MatchValue)
        ]
        texts = frozenset[str]().union(*map(self._texts, values))
        if texts and self._tells(subject):
            return f"compares `{ast.unparse(subject)}` in a match"
        return _sentence_in(texts, subject)

    def _texts(self, node: ast.expr) -> frozenset[str]:
        return self._constants.texts(self._module, node)

    def _tells(self, node: ast.expr) -> bool:
        """Return whether an expression is a text for people."""
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name.strip("_").rpartition("_")[2] in TELLING and not name.isupper()
            case ast.Subscript(slice=ast.Constant(value=str(key))):
                return key in TELLING
            case ast.NamedExpr(value=inner) | ast.Subscript(value=inner, slice=ast.Slice()):
                return self._tells(inner)
            case ast.Subscript(value=ast.Call() as inner):
                return self._tells(inner)
            case ast.BoolOp(values=parts):
                return any(map(self._tells, parts))
            case ast.Call(func=ast.Attribute(attr="join"), args=[inner]):
                return self._tells(inner)
            case ast.Call(func=ast.Attribute(attr=method, value=inner)) if method in _SHAPING | {"split"}:
                return self._tells(inner)
        return self._tells_error(node)

    def _tells_error(self, node: ast.expr) -> bool:
        """Return whether an expression is the text of an exception."""
        match node:
            case ast.Call(func=ast.Name(id="str" | "repr"), args=[inner]):
                return self._is_error(inner)
            case (
                ast.Attribute(attr="args", value=inner)
                | ast.Subscript(value=ast.Attribute(attr="args", value=inner))
            ):
                return self._is_error(inner)
        return False

    def _is_error(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return name in self._caught or name.strip("_").rpartition("_")[2] in ERRORS
        return False


def _sentence_in(texts: Iterable[str], node: ast.AST) -> str:
    sentence = next((text for text in sorted(texts) if _SENTENCE.search(text)), "")
    return f"compares with the sentence {sentence!r}: {_short(node)}" if sentence else ""


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 100 else f"{text[:97]}..."


if __name__ == "__main__":
    sys.exit(main())
