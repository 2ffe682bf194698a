"""Print metrics of the code: sizes, widths, import cycles, use of a central class, who writes to which objects.

    python tools/mirror.py [--tree PATH] [--hub CLASS] [--json | --check]

`--tree` takes any checkout, so that the metrics of two can be compared. With `--check` only what is too wide (imports
of a module, arguments of a constructor, modules of a folder), imports inside functions that are too many or have no
reason, and objects that several subpackages write are printed; the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import hub
from source_tree import Definition, Module, SourceTree, bindings, cycles, extent, read_modules, sibling_cycles

HUB = "CrawlContext"
"""The default class whose use is counted."""
MAX_FOLDER_MODULES = 15
"""Maximum number of modules in a folder, without `__init__`."""
OVERFULL_FOLDERS = f"folders over {MAX_FOLDER_MODULES} modules"
LONG = 50
"""Lines from which a function is counted as long."""
MAX_IMPORTS = 30
"""Maximum number of imports of a module."""
MAX_ARGUMENTS = 6
"""Maximum number of arguments of a constructor, without `self`."""
WIDE: Mapping[str, int] = {
    "ultracrawl.index.whoosh.index_searcher": 34,
    "ultracrawl.run.composition.assembly": 34,
    "ultracrawl.run.composition.features": 53,
    "ultracrawl.run.lifecycle": 37,
    "ultracrawl.sources.compilation.source": 37,
    "ultracrawl.rules.acceptance.Acceptance": 7,
    "ultracrawl.run.writing.writer.IndexWriter": 10,
}
"""Modules and classes that are wider today, with their width: lower a number when it shrinks, add no row."""

DYNAMIC: Mapping[str, str] = {
    "ultracrawl.cli.groups": "verbs of a group are loaded when they are typed, by their names in its table",
    "ultracrawl.content.converters.convert": "converters are named by their registry, plug-ins among them",
    "ultracrawl.sources.filter_files.custom_functions": "filter functions are named in files of users",
    "ultracrawl.system.compiled_core": "the compiled core is a distribution of its own",
    "ultracrawl.system.plugins": "entry points",
}
"""Modules that import others by a name in a variable, and why: the import contracts do not see these imports."""
LATE_IMPORTS = 117
"""Imports inside functions: lower the number when there are fewer, do not raise it."""

_LATE = re.compile(r"noqa:.*\bPLC0415\b")
_REASON = re.compile(r"\bPLC0415 - \S")

Numbers = dict[str, Any]
Class = tuple[str, str]
"""Module and name of a class."""


@dataclass(frozen=True)
class Defined:
    """A class or function of a module."""

    module: Module
    node: Definition
    public: bool
    """Whether no name on its path has a leading underscore, and it is not inside a function."""

    @property
    def lines(self) -> int:
        """The number of lines, without decorators."""
        return len(extent(self.node))


def main(arguments: list[str] | None = None) -> int:
    """Print the metrics of a tree."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1], help="a checkout")
    parser.add_argument("--hub", default=HUB, metavar="CLASS", help=f"whose use is counted (default: {HUB})")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON instead of lines")
    output.add_argument(
        "--check",
        action="store_true",
        help="print only what is too wide or written from several subpackages",
    )
    options = parser.parse_args(arguments)
    if options.check:
        found = list(excesses(SourceTree(options.tree.resolve())))
        print("\n".join(found) or "nothing is too wide, and no object is written from several subpackages")
        return 1 if found else 0
    numbers = mirror(options.tree.resolve(), options.hub)
    print(json.dumps(numbers, indent=2) if options.json else "\n".join(_as_lines(numbers)))
    return 0


def mirror(root: Path, hub_class: str = HUB) -> Numbers:
    """Return the metrics of a tree by section and name; lists have the details of a number."""
    tree = SourceTree(root)
    modules = list(tree.modules.values())
    tests = list(read_modules(root, "tests"))
    code = sum(len(module.code) for module in modules)
    return {
        "size": {"code lines": code, "modules": len(modules), **_module_sizes(modules)},
        "widths": _widths(modules),
        "functions": _function_sizes(modules),
        "classes": _class_sizes(tree),
        "cycles": _cycle_sizes(tree),
        "folders": _folder_sizes(tree),
        "prose": _documented(modules),
        "per 1000 code lines": {
            name: round(1000 * count / code, 1) if code else 0.0
            for name, count in _pattern_counts(modules).items()
        },
        "tests": _test_sizes(tests, code),
        "hub": {**hub.widest_class(modules), **hub.uses(modules, hub_class)},
        "written from several subpackages": hub.shared_writes(tree),
    }


def excesses(tree: SourceTree) -> Iterator[str]:
    """Yield a line for what is too wide, imported late without a reason, or written by several subpackages."""
    for module in tree.modules.values():
        if (count := imports_of(module)) > WIDE.get(module.name, MAX_IMPORTS):
            yield f"{module.name}: {count} imports; a module has at most {MAX_IMPORTS}"
        if module.name not in DYNAMIC and imports_by_name(module):
            yield f"{module.name}: imports by name, which no contract sees; import at the top, or add it to DYNAMIC"
        for name, count in _constructors(module):
            if count > WIDE.get(name, MAX_ARGUMENTS):
                yield f"{name}: {count} arguments; a constructor has at most {MAX_ARGUMENTS}"
    yield from _late_imports(tree)
    for folder in _folder_sizes(tree)[OVERFULL_FOLDERS]:
        yield f"{folder}: more modules than {MAX_FOLDER_MODULES} in a folder"
    for shared in hub.shared_writes(tree)["each"]:
        yield f"{shared}; one subpackage writes an object, the others tell it by its methods"


def imports_of(module: Module) -> int:
    """Return the number of import statements of a module, those for types included and `__future__` not."""
    below = [node for one in module.tree.body if isinstance(one, ast.If) for node in one.body]
    return sum(
        isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__"
        for node in (*module.tree.body, *below)
    )


def _late_imports(tree: SourceTree) -> Iterator[str]:
    """Yield a line for each import inside a function that lacks a reason, one if they are many, and those of faces."""
    count = 0
    for module in tree.modules.values():
        late = module.marks(_LATE)
        count += len(late)
        for line in sorted(late - module.marks(_REASON)):
            yield f"{tree.place(module, line)}: an import inside a function; say why: `# noqa: PLC0415 - WHY`"
    if count > LATE_IMPORTS:
        yield f"{count} imports inside functions; there are at most {LATE_IMPORTS}"
    yield from _faces_of_others(tree)


def _faces_of_others(tree: SourceTree) -> Iterator[str]:
    """Yield a line for each face with a name from outside its package: contracts see the package, not its stub."""
    for stub in sorted((tree.root / tree.package).rglob("__init__.pyi")):
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and node.level != 1):
                yield f"{stub.relative_to(tree.root)}:{node.lineno}: a face has only names of its package"


def imports_by_name(module: Module) -> bool:
    """Return whether a module calls `import_module` or `__import__`."""
    calls = (node.func for node in module.nodes if isinstance(node, ast.Call))
    names = {ast.unparse(function).rpartition(".")[2] for function in calls}
    return bool(names & {"import_module", "__import__"})


def _constructors(module: Module) -> Iterator[tuple[str, int]]:
    """Yield each class that has a constructor, with the number of its arguments."""
    for owner in (one for one in module.nodes if isinstance(one, ast.ClassDef)):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                arguments = node.args
                count = len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]) - 1
                yield f"{module.name}.{owner.name}", count


def defined(module: Module) -> Iterator[Defined]:
    """Yield every class and function of a module, also nested ones."""
    hidden = any(part.startswith("_") and part != "__main__" for part in module.name.split("."))
    yield from _defined_in(module, module.tree, public=not hidden)


def _defined_in(module: Module, parent: ast.AST, *, public: bool) -> Iterator[Defined]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, Definition):
            seen = public and not node.name.startswith("_")
            yield Defined(module, node, seen)
            yield from _defined_in(module, node, public=seen and isinstance(node, ast.ClassDef))
        elif not isinstance(node, ast.expr):  # expressions contain no definitions
            yield from _defined_in(module, node, public=public)


def _percentiles(sizes: list[int]) -> Numbers:
    if len(sizes) < 2:  # quantiles of one number are not defined
        return {"median": sizes[0] if sizes else 0, "p90": sizes[0] if sizes else 0}
    return {"median": round(median(sizes)), "p90": round(quantiles(sizes, n=10, method="inclusive")[8])}


def _module_sizes(modules: list[Module]) -> Numbers:
    largest = sorted(modules, key=lambda module: -module.lines)[:5]
    return {
        "module lines median": round(median([module.lines for module in modules])) if modules else 0,
        "module lines largest": max((module.lines for module in modules), default=0),
        "largest modules": [f"{module.lines} {module.name}" for module in largest],
    }


def _widths(modules: list[Module]) -> Numbers:
    imports = sorted(((imports_of(module), module.name) for module in modules), reverse=True)
    constructors = sorted(
        ((count, name) for one in modules for name, count in _constructors(one)), reverse=True
    )
    return {
        "imports median": round(median([count for count, _ in imports])) if imports else 0,
        f"constructors over {MAX_ARGUMENTS} arguments": sum(
            count > MAX_ARGUMENTS for count, _ in constructors
        ),
        "widest modules": [f"{count} {name}" for count, name in imports[:5]],
        "widest constructors": [f"{count} {name}" for count, name in constructors[:5]],
    }


def _function_sizes(modules: list[Module]) -> Numbers:
    found = [one for module in modules for one in defined(module) if not isinstance(one.node, ast.ClassDef)]
    sizes = [one.lines for one in found]
    percentiles = _percentiles(sizes)
    return {
        "functions": len(found),
        "lines median": percentiles["median"],
        "lines p90": percentiles["p90"],
        f"over {LONG} lines %": _percent(sum(size > LONG for size in sizes), len(sizes)),
        "largest functions": _largest(found),
    }


def _largest(found: list[Defined]) -> list[str]:
    largest = sorted(found, key=lambda one: (-one.lines, one.module.name))[:5]
    return [f"{one.lines} {one.module.name}.{one.node.name}" for one in largest]


def _class_sizes(tree: SourceTree) -> Numbers:
    found = [
        one
        for module in tree.modules.values()
        for one in defined(module)
        if isinstance(one.node, ast.ClassDef)
    ]
    depths = inheritance_depths(tree)
    deepest = max(depths, key=lambda one: depths[one], default=("", ""))
    return {
        "classes": len(found),
        "largest classes": _largest(found),
        "inheritance depth": depths.get(deepest, 0),
        "deepest class": ".".join(deepest),
    }


def inheritance_depths(tree: SourceTree) -> Mapping[Class, int]:
    """Return the inheritance depth of every class: the length of its longest chain of classes in the tree."""
    bases = {
        (module.name, node.name): [ast.unparse(base).partition("[")[0] for base in node.bases]
        for module in tree.modules.values()
        for node in module.nodes
        if isinstance(node, ast.ClassDef)
    }
    bound = {name: bindings(module) for name, module in tree.modules.items()}

    def resolved(module: str, name: str, asked: int = 0) -> Class | None:
        if (module, name) in bases:
            return module, name
        head, _, rest = name.partition(".")
        source, taken = bound.get(module, {}).get(head, ("", ""))
        if not source or asked > 20:  # imported in a cycle
            return None
        if not rest:
            return resolved(source, taken, asked + 1)
        inner = f"{source}.{taken}" if taken else source
        return resolved(inner, rest, asked + 1)

    depths: dict[Class, int] = {}

    def depth(one: Class) -> int:
        if one not in depths:
            depths[one] = 1
            above = [found for base in bases[one] if (found := resolved(one[0], base)) and found != one]
            depths[one] = 1 + max((depth(base) for base in above), default=0)
        return depths[one]

    for one in bases:
        depth(one)
    return depths


def _cycle_sizes(tree: SourceTree) -> Numbers:
    found = cycles(tree.graph)
    return {
        "modules in cycles": sum(len(cycle) for cycle in found),
        "modules in cycles %": _percent(sum(len(cycle) for cycle in found), len(tree.modules)),
        "cycles": [f"{len(cycle)}: {', '.join(cycle)}" for cycle in found],
        "folders with cycles of siblings": [
            f"{folder}: {'; '.join(', '.join(cycle) for cycle in cycles)}"
            for folder, cycles in sibling_cycles(tree.graph).items()
        ],
    }


def _folder_sizes(tree: SourceTree) -> Numbers:
    names = {
        parts[1] for name in tree.modules if len(parts := name.split(".")) > 1 and parts[1] != "__main__"
    }
    folders = Counter(
        name.rpartition(".")[0] for name, module in tree.modules.items() if not module.is_package
    )
    return {
        f"names below {tree.package}": len(names),
        OVERFULL_FOLDERS: [
            f"{count} {name}" for name, count in folders.most_common() if count > MAX_FOLDER_MODULES
        ],
    }


def _documented(modules: list[Module]) -> Numbers:
    public = [one for module in modules for one in defined(module) if one.public and not _derived(one.node)]
    bare = [one for one in public if ast.get_docstring(one.node) is None]
    return {
        "public classes and functions": len(public),
        "documented %": _percent(len(public) - len(bare), len(public)),
        "not documented": [f"{one.module.name}.{one.node.name}" for one in bare[:10]],
    }


def _derived(node: Definition) -> bool:
    """Return whether a function shares the docstring of another: an overload, a property setter."""
    names = [ast.unparse(decorator) for decorator in node.decorator_list]
    return any(name.endswith(("overload", ".setter", ".deleter")) for name in names)


def _pattern_counts(modules: list[Module]) -> Mapping[str, int]:
    nodes = [node for module in modules for node in module.nodes]
    comments = [comment for module in modules for comment in module.comments.values()]
    return {
        "Any": sum(isinstance(node, ast.Name) and node.id == "Any" for node in nodes),
        "suppressions": sum("# noqa" in one or "# type: ignore" in one for one in comments),
        "except Exception": sum(isinstance(node, ast.ExceptHandler) and _catches_all(node) for node in nodes),
    }


def _catches_all(node: ast.ExceptHandler) -> bool:
    if node.type is None:
        return True
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(isinstance(one, ast.Name) and one.id in ("Exception", "BaseException") for one in caught)


def _test_sizes(tests: list[Module], code: int) -> Numbers:
    functions = sum(one.node.name.startswith("test_") for module in tests for one in defined(module))
    patches = sum(_is_patch(node) for module in tests for node in module.nodes)
    lines = sum(len(module.code) for module in tests)
    return {
        "code lines of tests": lines,
        "test code to code": round(lines / code, 2) if code else 0.0,
        "test functions": functions,
        "patches per 100 tests": round(100 * patches / functions, 1) if functions else 0.0,
    }


def _is_patch(node: ast.AST) -> bool:
    """Return whether a call replaces something: `monkeypatch.setattr` and the functions of `unittest.mock`."""
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    stem, _, last = called.rpartition(".")
    if last in ("setattr", "setitem", "delattr", "delitem"):
        return stem.endswith(("monkeypatch", "patch"))
    return (
        called in ("patch", "mocker.patch")
        or "patch.object" in called
        or last in ("Mock", "MagicMock", "AsyncMock")
    )


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 1) if whole else 0.0


def _as_lines(numbers: Numbers) -> Iterator[str]:
    for section, values in numbers.items():
        yield section
        for name, value in values.items():
            if isinstance(value, list):
                yield f"  {name + ':':32}{'' if value else 'none'}"
                yield from (f"    {one}" for one in value)
            else:
                yield f"  {name + ':':32}{value}"


if __name__ == "__main__":
    sys.exit(main())
