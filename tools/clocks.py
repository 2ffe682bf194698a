"""Find tests that wait for seconds or measure them: how long something takes depends on the load of the machine.

    python tools/clocks.py [--tree PATH] [--print]

Modules of tests (`test_*.py`, `conftest.py`) wait for what happens by `support.until`; crawls in the process run on the
virtual clock, and what needs a moment asks `support.clock`. `asyncio.sleep(0)` is free: it waits for nothing, but
lets other tasks run on. `EXCEPTIONS` says how often a module reads a clock or sleeps today; it may only shrink.
`--print` writes what it has to say after a change.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from source_tree import Module, bindings, read_modules

CLOCKS: Mapping[str, frozenset[str]] = {
    "time": frozenset(
        f"{clock}{unit}"
        for clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time")
        for unit in ("", "_ns")
    )
    | {"sleep"},
    "asyncio": frozenset({"sleep"}),
}
"""What waits for seconds or measures them, by its module."""
EXCEPTIONS: Mapping[str, int] = {
    "tests/agents/file/remote/test_remote_folders.py": 2,
    "tests/handlers/test_curl_handler.py": 2,
    "tests/index/test_index_damage.py": 4,
    "tests/run/rendering/test_late_answers.py": 1,
    "tests/run/transport/test_hostile_crawl.py": 3,
    "tests/service/api/test_connections.py": 3,
    "tests/service/scrapyd/test_profiles.py": 1,
    "tests/service/searching/test_processes.py": 1,
    "tests/service/supervisor/test_folder_watch.py": 1,
    "tests/service/supervisor/test_shaken.py": 3,
    "tests/soak/test_growth.py": 3,
    "tests/soak/test_service.py": 12,
    "tests/support_selftest/test_hosted_commands.py": 1,
    "tests/support_selftest/test_site.py": 2,
}
"""How often modules of tests do so today: lower a number when it shrinks, add no row."""


@dataclass(frozen=True, order=True)
class Use:
    """A place where a test reads a clock or sleeps."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{self.what}`: wait by `support.until`, or for an order on the virtual clock"


def main(arguments: list[str] | None = None) -> int:
    """Print modules that use clocks more often than they may; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    parser.add_argument("--print", action="store_true", help="print the rows of EXCEPTIONS as they are today")
    given = parser.parse_args(arguments)
    uses = list(clock_uses(given.tree))
    if given.print:
        for file, number in sorted(Counter(one.file for one in uses).items()):
            print(f'    "{file}": {number},')
        return 0
    wrong = list(differences(uses, EXCEPTIONS))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


def clock_uses(root: Path) -> Iterator[Use]:
    """Yield the uses of clocks in the modules of tests, by file and line."""
    for module in read_modules(root, "tests"):
        if module.path.name.startswith("test_") or module.path.name == "conftest.py":
            yield from sorted(_in_module(module, module.path.relative_to(root).as_posix()))


def differences(uses: list[Use], allowed: Mapping[str, int]) -> Iterator[str]:
    """Yield each use in a module that has more of them than it may, and rows that say too much."""
    counts = Counter(one.file for one in uses)
    for file in sorted({*counts, *allowed}):
        if counts[file] > allowed.get(file, 0):
            yield from (str(one) for one in uses if one.file == file)
            yield f"{file}: {counts[file]} uses, {allowed.get(file, 0)} may be"
        elif counts[file] < allowed.get(file, 0):
            yield f"{file}: {counts[file]} uses are left: write that into EXCEPTIONS of tools/clocks.py"


def _in_module(module: Module, file: str) -> Iterator[Use]:
    names = bindings(module)
    turns = set(filter(None, map(_turn, module.nodes)))
    for node in module.nodes:
        if node in turns:
            continue
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            holder, inner = names.get(node.value.id, ("", ""))
            if not inner and node.attr in CLOCKS.get(holder, ()):
                yield Use(file, node.lineno, f"{holder}.{node.attr}")
        elif isinstance(node, ast.Name):
            holder, inner = names.get(node.id, ("", ""))
            if inner in CLOCKS.get(holder, ()):
                yield Use(file, node.lineno, f"{holder}.{inner}")


def _turn(node: ast.AST) -> ast.expr | None:
    """Return the function of a call that sleeps for no time; None of anything else."""
    if isinstance(node, ast.Call) and [ast.unparse(one) for one in node.args] == ["0"]:
        return node.func
    return None


if __name__ == "__main__":
    sys.exit(main())
