"""Parses YAML into plain data with line numbers. Limits size and nesting."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.sources.reading.tree import Data, OptionPath, Place

MAX_DEPTH = 50
"""Maximum levels of nesting; a definition needs about ten."""
MAX_VALUES = 1_000_000
"""Maximum values in a file; an alias counts every time it is used."""
_SAFE_NESTING = 5_000
_INTEGER = re.compile(r"[-+]?(0|[1-9]\d{0,17})")
_TRUE = frozenset({"true", "yes", "on"})
_MERGE = "tag:yaml.org,2002:merge"
_TAGS = frozenset(
    f"tag:yaml.org,2002:{name}"
    for name in ("map", "seq", "str", "int", "float", "bool", "null", "timestamp", "merge", "value")
)


@dataclass(slots=True)
class YamlTree:
    """One parsed file: `data` as dicts, lists and scalars, and the line of every path in it.

    `findings` are mistakes in the YAML that do not prevent reading it: duplicate keys, tags.
    """

    file: str
    root: yaml.Node
    text: str
    data: Data = None
    findings: list[Finding] = field(default_factory=list)

    def line(self, path: OptionPath) -> int:
        """Return the line of a path, from 1, or of the nearest path above it if it is not in the file."""
        node, line = self.root, _line(self.root)
        for step in path:
            found = _child(node, step)
            if found is None:
                break
            line, node = found
        return line

    def place(self, path: OptionPath) -> Place:
        """Return the place of an option, named by its dotted path."""
        key = ".".join(step for step in path if isinstance(step, str)) or "file"
        return Place(self.file, self.line(path), key)

    @property
    def options(self) -> tuple[str, ...]:
        """The top-level options; empty if the file holds something else."""
        return tuple(self.data) if isinstance(self.data, dict) else ()

    def get(self, key: str) -> Data:
        """Return the value of a top-level option, or None."""
        return self.data.get(key) if isinstance(self.data, dict) else None


def parse_yaml(text: str, file: str) -> YamlTree:
    """Parse one document. Raises `DefinitionError` if it cannot be parsed."""
    try:
        _check_nesting(text, file)
        root = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        from ultracrawl.sources.reading.yaml_mistakes import (  # noqa: PLC0415 - only after a mistake
            explained,
            line_of,
        )

        if _is_too_deep(error):
            raise _too_deep(file, line_of(error)) from None
        raise _unreadable(file, *explained(error, text)) from None
    except yaml.YAMLError as error:
        raise _unreadable(file, 0, f"is not YAML: {error}", "write plain UTF-8 text") from None
    if root is None:
        raise _unreadable(file, 0, "is empty", "write at least one source below `sources:`")
    tree = YamlTree(file, root, text)
    tree.data = _Reader(tree).read(root, (), 0)
    return tree


def _unreadable(file: str, line: int, problem: str, instead: str) -> DefinitionError:
    return DefinitionError([Finding(file, line, "file", problem, instead)])


def _is_too_deep(error: yaml.MarkedYAMLError) -> bool:
    """Whether the scanner refuses the nesting: libyaml since 0.2.6 does, before it yields the first event."""
    words = error.context or ""
    return words.startswith("while increasing")  # sentence: PyYAML has no class of errors for it


def _check_nesting(text: str, file: str) -> None:
    """Refuse nesting that would overflow the stack of the recursive parser."""
    longest = max(map(len, text.splitlines()), default=0)
    if text.count("[") + text.count("{") + longest < _SAFE_NESTING:
        return
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _too_deep(file, _line(event))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _too_deep(file: str, line: int) -> DefinitionError:
    return _unreadable(file, line, f"is nested more than {MAX_DEPTH} levels deep", "write flatter groups")


def _child(node: yaml.Node, step: str | int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        item = node.value[step]
        return _line(item), item
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == step:
                return _line(key), value
        for merged in _merged(node):
            found = _child(merged, step)
            if found is not None:
                return found
    return None


def _merged(node: yaml.MappingNode) -> Iterator[yaml.Node]:
    for key, value in node.value:
        if key.tag == _MERGE:
            yield from value.value if isinstance(value, yaml.SequenceNode) else [value]


class _Reader:
    """Converts nodes to data; an aliased node is read once, but counted every time it is used."""

    def __init__(self, tree: YamlTree) -> None:
        self._tree = tree
        self._done: dict[int, tuple[Data, int]] = {}
        self._open: set[int] = set()
        self._size = 0

    def read(self, node: yaml.Node, path: OptionPath, depth: int) -> Data:
        """Return the data of a node. Raises `DefinitionError` for recursive, too deep or too large data."""
        if isinstance(node, yaml.ScalarNode):
            self._count(1, node)
            return self._scalar(node, path)
        known = self._done.get(id(node))
        if known is not None:
            self._count(known[1], node)
            return known[0]
        if id(node) in self._open:
            raise _unreadable(
                self._tree.file, _line(node), "an alias stands inside its own anchor", "write the value out"
            )
        if depth >= MAX_DEPTH:
            raise _too_deep(self._tree.file, _line(node))
        before = self._size
        self._open.add(id(node))
        data = self._collection(node, path, depth)
        self._open.discard(id(node))
        self._done[id(node)] = data, self._size - before + 1
        return data

    def _count(self, size: int, node: yaml.Node) -> None:
        self._size += size
        if self._size > MAX_VALUES:
            problem = f"holds more than {MAX_VALUES:,} values, aliases counted"
            raise _unreadable(self._tree.file, _line(node), problem, "use fewer aliases or several files")

    def _collection(self, node: yaml.Node, path: OptionPath, depth: int) -> Data:
        self._check_tag(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*path, i), depth + 1) for i, item in enumerate(node.value)]
        assert isinstance(node, yaml.MappingNode)
        own = self._own_keys(node, path, depth)
        merged: dict[str, Data] = {}
        for base in reversed(list(_merged(node))):
            data = self.read(base, path, depth + 1)
            merged.update(data if isinstance(data, dict) else {})
        return {**merged, **own}

    def _own_keys(self, node: yaml.MappingNode, path: OptionPath, depth: int) -> dict[str, Data]:
        own: dict[str, Data] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            if key.tag == _MERGE:
                continue
            if not isinstance(key, yaml.ScalarNode):
                self._add_finding(
                    key, path, "a list or group stands where the name of an option belongs", "write a name"
                )
                continue
            name = str(key.value)
            if name in lines:
                problem = f"`{name}` is written twice, first on line {lines[name]}"
                self._add_finding(key, (*path, name), problem, "keep one of the two")
            else:
                lines[name] = _line(key)
                own[name] = self.read(value, (*path, name), depth + 1)
        return own

    def _scalar(self, node: yaml.ScalarNode, path: OptionPath) -> Data:
        text = str(node.value)
        match node.tag.rpartition(":")[2]:
            case "null":
                return None
            case "bool":
                return text.lower() in _TRUE
            case "int":
                return int(text) if _INTEGER.fullmatch(text) else text
            case "float":
                return _float(text)
        self._check_tag(node, path)
        return text

    def _check_tag(self, node: yaml.Node, path: OptionPath) -> None:
        if node.tag not in _TAGS:
            # An unquoted `!secret` is a tag too; it may be a password.
            shown = "behind `!`" if node.tag.startswith("!") else f"`{node.tag}`"
            problem = f"the tag {shown} has no meaning here"
            self._add_finding(
                node, path, problem, "write the value without a tag, or in quotes if it begins with `!`"
            )

    def _add_finding(self, node: yaml.Node, path: OptionPath, problem: str, instead: str) -> None:
        key = ".".join(str(step) for step in path if isinstance(step, str)) or "file"
        self._tree.findings.append(Finding(self._tree.file, _line(node), key, problem, instead))


def _float(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _line(node: yaml.Node | yaml.Event) -> int:
    return node.start_mark.line + 1 if node.start_mark else 0
