"""Counts the uses of a class from other files, and finds objects that several subpackages write.

Types are not inferred. A name counts as an object of a class if it is annotated so, or if it is the last word
of the class: `context`, `self.context` and `self._context` for a `CrawlContext`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from source_tree import Module, SourceTree, called

_WORD = re.compile(r"[A-Z][a-z0-9]*|[A-Z]+(?![a-z])")


def widest_class(modules: Iterable[Module]) -> dict[str, Any]:
    """Return the class with the most attributes, and their number."""
    widths = {
        f"{module.name}.{node.name}": len(attributes_of(node))
        for module in modules
        for node in module.nodes
        if isinstance(node, ast.ClassDef)
    }
    widest = max(widths, key=lambda name: widths[name], default="")
    return {"widest class": widest, "attributes of the widest class": widths.get(widest, 0)}


def uses(modules: list[Module], class_name: str) -> dict[str, Any]:
    """Count the uses of a class in other files: names, files, uses."""
    homes = [(module, node) for module in modules for node in _classes(module) if node.name == class_name]
    names = {name for _, node in homes for name in attributes_of(node) | _members(node)}
    home = {module.name for module, _ in homes}
    touched: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for module in modules:
        if module.name in home:
            continue
        receivers = _receivers(module, class_name)
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and node.attr in names and called(node.value) in receivers:
                touched[node.attr] += 1
                files[module.name] += 1
    return {
        "class": class_name if homes else f"{class_name} (there is none)",
        "attributes": max((len(attributes_of(node)) for _, node in homes), default=0),
        "names touched from outside": len(touched),
        "files that touch it": len(files),
        "touches": touched.total(),
        "touches by subpackage": _by_subpackage(files),
    }


def _by_subpackage(files: Counter[str]) -> list[str]:
    subpackages: Counter[str] = Counter()
    for name, count in files.items():
        subpackages[".".join(name.split(".")[:2])] += count
    return [
        f"{count} {subpackage}"
        for subpackage, count in sorted(subpackages.items(), key=lambda item: (-item[1], item[0]))
    ]


def shared_writes(tree: SourceTree) -> dict[str, Any]:
    """Count the attributes of objects that are set from more than one subpackage.

    Writes by a class to itself count for its own subpackage. Frozen dataclasses cannot be written.
    """
    modules = list(tree.modules.values())
    objects = {
        node.name: attributes_of(node)
        for module in modules
        for node in _classes(module)
        if not _is_frozen(node)
    }
    own = {node.name: tree.subpackage(module.name) for module in modules for node in _classes(module)}
    writers: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module in modules:
        stores = [
            one for one in module.nodes if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
        ]
        for name, fields in objects.items():
            written = [one for one in stores if one.attr in fields]
            receivers = _receivers(module, name) if written else set()
            for one in written:
                if called(one.value) in receivers:
                    writers[name][one.attr].add(tree.subpackage(module.name))
    several = {}
    for name, fields_written in writers.items():
        subpackages = set().union(*fields_written.values())
        if len(subpackages) > 1:
            several[name] = (len(fields_written), sorted(subpackages | {own[name]}))
    listed = sorted(several.items(), key=lambda item: (-item[1][0], item[0]))
    return {
        "objects": len(several),
        "names set": sum(count for count, _ in several.values()),
        "each": [
            f"{name}: {count} names, from {', '.join(subpackages)}" for name, (count, subpackages) in listed
        ],
    }


def attributes_of(node: ast.ClassDef) -> set[str]:
    """Return the attributes of a class: annotated or set in its body, or set on `self`."""
    set_in_body = {
        target.id
        for one in node.body
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    set_on_self = {
        one.attr
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and called(one.value) == "self"
    }
    return set_on_self | set_in_body | _fields(node)


def _classes(module: Module) -> Iterator[ast.ClassDef]:
    return (node for node in module.nodes if isinstance(node, ast.ClassDef))


def _members(node: ast.ClassDef) -> set[str]:
    """Return the public names in the body of a class: methods, properties, annotated attributes."""
    functions = {one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    return {name for name in functions | _fields(node) if not name.startswith("__")}


def _fields(node: ast.ClassDef) -> set[str]:
    return {
        one.target.id
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }


def _is_frozen(node: ast.ClassDef) -> bool:
    return any("frozen=True" in ast.unparse(decorator) for decorator in node.decorator_list)


def _receivers(module: Module, class_name: str) -> set[str]:
    """Return the names in a module that refer to an object of a class."""
    words = [word.lower() for word in _WORD.findall(class_name)]
    named = {words[-1], "_".join(words)} if words else set()
    annotated = re.compile(rf"\b{class_name}\b(?!\[)")
    for node in module.nodes:
        if isinstance(node, ast.arg) and node.annotation and _is_of(node.annotation, annotated):
            named.add(node.arg.lstrip("_"))
        elif isinstance(node, ast.AnnAssign) and _is_of(node.annotation, annotated):
            named.add(called(node.target))
    return named - {"", "self", "cls"}


def _is_of(annotation: ast.expr, class_name: re.Pattern[str]) -> bool:
    """Return whether an annotation is the class or optional; a collection or type of it is not."""
    text = ast.unparse(annotation).strip("'\"")
    return any(class_name.fullmatch(part.strip()) for part in text.split("|"))
