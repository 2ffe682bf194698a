"""The little changes of a Python file that tests ought to notice."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
MOVED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_UNTOUCHED = frozenset({"annotation", "returns", "type_params"})
"""Fields of nodes that say types."""
_LOGS = frozenset({"logger", "logging"})
"""What writes to the log: no test looks at these lines."""


class Operator(StrEnum):
    """A kind of change."""

    COMPARISON = "comparison"
    BOUNDARY = "boundary"
    NEGATION = "negation"
    AND_OR = "and/or"
    CONSTANT = "constant"
    RETURN = "return"
    REMOVED = "removed"


@dataclass(frozen=True)
class Mutant:
    """A change of one place of a file; `begin` and `end` are offsets in its bytes."""

    path: str
    scope: str
    lines: range
    """The lines by which tests that run the place are found."""
    operator: Operator
    begin: int
    end: int
    source: str
    """The lines of the file it is in, without spaces around them."""
    was: str
    now: str
    at_import: bool
    """Whether it is run when its module is imported, and not when a function is called."""
    nth: int = 0
    """How many of the same change are before it in its scope."""

    @property
    def key(self) -> str:
        """An id that stays while its lines are the same, wherever they move within their function."""
        parts = (self.path, self.scope, self.operator, self.source, self.was, self.now, str(self.nth))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def rank(self, seed: int) -> str:
        """Return the place of the mutant in an order drawn with `seed`: other mutants do not change it."""
        return hashlib.sha256(f"{seed} {self.key}".encode()).hexdigest()

    def apply(self, text: str) -> str:
        """Return the text of the file with the change."""
        data = text.encode()
        return (data[: self.begin] + self.now.encode() + data[self.end :]).decode()


def mutants_of(path: str, text: str) -> list[Mutant]:
    """Return all mutants of a file, as they come in it."""
    finder = _Finder(path, text)
    finder.visit(ast.parse(text))
    met: Counter[str] = Counter()
    found = []
    for one in finder.found:
        found.append(replace(one, nth=met[one.key]))
        met[one.key] += 1
    return found


class _Finder(ast.NodeVisitor):
    """Collects the changes of a file."""

    def __init__(self, path: str, text: str) -> None:
        self.found: list[Mutant] = []
        self._path = path
        self._lines = text.encode().splitlines(keepends=True)
        self._starts = list(accumulate(map(len, self._lines), initial=0))
        self._scope: list[str] = []
        self._depth = 0
        self._statement: ast.stmt | None = None

    # Where nothing is changed

    def generic_visit(self, node: ast.AST) -> None:
        outer = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node
            self._of_statement(node)
        for name, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and name not in _UNTOUCHED:
                    self.visit(child)
        self._statement = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not any(ast.unparse(base).startswith("Protocol") for base in node.bases):
            self._scope.append(node.name)
            self.generic_visit(node)
            self._scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any(ast.unparse(one).endswith("overload") for one in node.decorator_list):
            return
        self._scope.append(node.name)
        for one in (*node.decorator_list, node.args):
            self.visit(one)
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1
        self._scope.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts are for people."""

    def visit_Expr(self, node: ast.Expr) -> None:
        if not (_is_log(node.value) or isinstance(node.value, ast.Constant)):
            self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not ast.unparse(node.test).endswith("TYPE_CHECKING"):
            self._negate(node.test)
            self.generic_visit(node)

    # What is changed

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._negate(test)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(Operator.NEGATION, node, f"({ast.unparse(node.operand)})")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for operator, table in ((Operator.COMPARISON, SWAPPED), (Operator.BOUNDARY, MOVED)):
            for place, sign in enumerate(node.ops):
                if other := table.get(type(sign)):
                    changed = copy.copy(node)
                    changed.ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                    self._add(operator, node, f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy.copy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._add(Operator.AND_OR, node, f"({ast.unparse(changed)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(Operator.CONSTANT, node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._add(Operator.CONSTANT, node, str(node.value + 1))

    def _of_statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Return):
            if node.value is not None and ast.unparse(node.value) not in ("None", "True", "False"):
                self._add(Operator.RETURN, node, "return None")
        elif _is_removable(node):
            self._add(Operator.REMOVED, node, "pass")

    def _negate(self, test: ast.expr) -> None:
        """Add the negation of a condition, unless another operator makes the same of it."""
        is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        if not is_not and not (isinstance(test, ast.Compare) and len(test.ops) == 1):
            self._add(Operator.NEGATION, test, f"(not ({ast.unparse(test)}))")

    def _add(self, operator: Operator, node: ast.expr | ast.stmt, now: str) -> None:
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        source = self._lines[node.lineno - 1 : node.end_lineno]
        self.found.append(
            Mutant(
                path=self._path,
                scope=".".join(self._scope),
                lines=_run_lines(node, self._statement),
                operator=operator,
                begin=begin,
                end=end,
                source=" ".join(line.strip().decode() for line in source),
                was=ast.unparse(node),
                now=now,
                at_import=not self._depth,
            )
        )


def _run_lines(node: ast.expr | ast.stmt, statement: ast.stmt | None) -> range:
    """Return the lines of which one is run when the node is: those of the node, and where its statement begins."""
    first = statement.lineno if statement and not hasattr(statement, "body") else node.lineno
    return range(first, (node.end_lineno or node.lineno) + 1)


def _is_removable(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets)
    if isinstance(node, ast.Raise):
        return node.exc is None or "NotImplementedError" not in ast.unparse(node.exc)
    return isinstance(node, ast.Expr | ast.AugAssign | ast.Delete | ast.Break | ast.Continue)


def _is_log(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and ast.unparse(node.func.value).rpartition(".")[2].lstrip("_").lower() in _LOGS
    )
