"""`Excerpt`: the lines of a definition file with one source or all schedules, replaced without any other byte."""

from __future__ import annotations

import hashlib
import re
from functools import cached_property

import yaml

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.sources.editing.hidden_values import Span, hidden_spans, scalar_paths
from ultracrawl.sources.loading.yaml_loader import is_single_source
from ultracrawl.sources.reading.locations import DefinitionText
from ultracrawl.sources.reading.tree import OptionPath
from ultracrawl.sources.reading.yaml_tree import YamlTree, parse_yaml

SCHEDULES = "schedules"
"""The option of a file that is edited as a source is."""
HIDDEN = '"(hidden)"'
"""What stands in place of a value that may be a secret."""
_MOVED = (
    f"a hidden value was moved, removed or added; leave each {HIDDEN} where it is, and change it in the file"
)
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Excerpt:
    """The lines with one source, or with all schedules, of a definition file that was read."""

    definition: DefinitionText
    tree: YamlTree
    path: OptionPath
    """Where they stand in the file; empty: the file is the source."""
    span: Span
    """The place of the lines in the text, without the last line break; empty where they are not there yet."""
    glue: str = ""
    """What comes before the lines if they are not there yet: at least the end of the line before."""

    @property
    def first_line(self) -> int:
        """The number of the first line, from 1."""
        return self.definition.text.count("\n", 0, self.span[0]) + self.glue.count("\n") + 1

    @cached_property
    def shown(self) -> str:
        """The lines as people see them: each ends with a line feed, and values that may be secrets are hidden."""
        return _LINE_END.sub("\n", self._with_spans_hidden())

    @property
    def revision(self) -> str:
        """What differs if the lines differ; empty if they are not there yet."""
        start, end = self.span
        if start == end:
            return ""
        return hashlib.sha256(self.definition.text[start:end].encode(errors="surrogatepass")).hexdigest()[:32]

    def with_lines(self, lines: str) -> YamlTree:
        """Return the whole file with other lines, in which hidden values are restored; without lines if there are none.

        Raises `DefinitionError` if it is not YAML, `UserError` unless all hidden values are where they were: an alias
        would show one elsewhere.
        """
        text, moved = self._restored(lines)
        tree = parse_yaml(text, self.definition.file)
        before = scalar_paths(self.definition.text, self.tree.root)
        after = scalar_paths(text, tree.root)
        if any(after.get(now) != before[was] for was, now in moved.items()):
            raise UserError(_MOVED)
        return tree

    def _restored(self, lines: str) -> tuple[str, dict[int, int]]:
        """Return the text of the file with other lines, and where each hidden value of the file begins in it."""
        start, end = self.span
        text = self.definition.text
        parts = _LINE_END.sub("\n", lines).rstrip("\n").split(HIDDEN)
        before = text[:start]
        if not any(parts):  # then the line is not there either
            before = before if self.glue else re.sub(r"(\r\n|\r|\n)\Z", "", before)
        else:
            before += self.glue
        if len(parts) != len(self._hidden) + 1:
            raise UserError(_MOVED)
        line_end = _break(text)
        new, moved = before + parts[0].replace("\n", line_end), dict[int, int]()
        for (first, last), part in zip(self._hidden, parts[1:], strict=True):
            moved[first] = len(new)
            new += text[first:last] + part.replace("\n", line_end)
        shift = len(new) - end
        for first, _ in self._hidden_in_file:
            moved.setdefault(first, first + shift if first >= end else first)
        return new + text[end:], moved

    @cached_property
    def _hidden_in_file(self) -> list[Span]:
        return hidden_spans(self.definition.text, self.tree.root, is_source=not self.path)

    @property
    def _hidden(self) -> list[Span]:
        start, end = self.span
        return [span for span in self._hidden_in_file if start <= span[0] and span[1] <= end]

    def _with_spans_hidden(self) -> str:
        text, (at, end) = self.definition.text, self.span
        parts = []
        for first, last in self._hidden:
            parts += [text[at:first], HIDDEN]
            at = last
        return "".join([*parts, text[at:end]])


def find_excerpt(definition: DefinitionText, source: str) -> Excerpt | None:
    """Return the lines of a source; None if it is not in the file. Raises `DefinitionError` if that is not YAML."""
    tree = parse_yaml(definition.text, definition.file)
    if is_single_source(tree):
        length = len(definition.text)
        lines = definition.text.rstrip("\r\n")
        return (
            Excerpt(definition, tree, (), (0, min(length, len(lines)))) if definition.stem == source else None
        )
    return _excerpt(definition, tree, member_of(member_of(tree.root, "sources"), source), ("sources", source))


def find_schedules(definition: DefinitionText) -> Excerpt | None:
    """Return the lines of all schedules; None if the file has none. Raises `DefinitionError` if it is not YAML."""
    tree = parse_yaml(definition.text, definition.file)
    return _excerpt(definition, tree, member_of(tree.root, SCHEDULES), (SCHEDULES,))


def place_for_source(definition: DefinitionText, source: str) -> Excerpt | None:
    """Return the place for the lines of a new source, behind the last one; None if the file has no such place.

    Raises `DefinitionError` if the file is not YAML.
    """
    tree = parse_yaml(definition.text, definition.file)
    path, found = ("sources", source), member_of(tree.root, "sources")
    if is_single_source(tree):
        return None
    if found is None:
        return _place_at_end(definition, tree, path, "sources:\n")
    key, value = found
    if isinstance(value, yaml.MappingNode) and not value.flow_style:
        at = max(end_of_pair(definition.text, *pair) for pair in value.value)
    elif isinstance(value, yaml.ScalarNode) and not value.value:
        at = _line_end(definition.text, key.end_mark.index)
    else:
        return None
    return Excerpt(definition, tree, path, (at, at), _break(definition.text))


def place_for_schedules(definition: DefinitionText) -> Excerpt | None:
    """Return the place for schedules, at the end of a file that has none; None if the file has one source.

    Raises `DefinitionError` if the file is not YAML.
    """
    tree = parse_yaml(definition.text, definition.file)
    return None if is_single_source(tree) else _place_at_end(definition, tree, (SCHEDULES,), "")


def has_braced_sources(definition: DefinitionText) -> bool:
    """Return whether the sources of a file stand between braces. Raises `DefinitionError` if it is not YAML."""
    found = member_of(parse_yaml(definition.text, definition.file).root, "sources")
    return found is not None and isinstance(found[1], yaml.MappingNode) and bool(found[1].flow_style)


def source_to_copy(source: str, start_url: str) -> str:
    """Return a new source as one line, which fits behind the others of a file, also between braces."""
    entry = {source: {"start_urls": [start_url]}}
    return yaml.safe_dump(entry, default_flow_style=True, width=10_000, allow_unicode=True).strip()[1:-1]


def new_source_lines(place: Excerpt, start_url: str) -> str:
    """Return lines of a new source with one start URL, indented as the other sources of its file."""
    found = member_of(place.tree.root, "sources")
    mapping = found[1].value if found is not None and isinstance(found[1], yaml.MappingNode) else ()
    indent = " " * next((key.start_mark.column for key, _ in mapping), 2)
    urls = yaml.safe_dump([start_url], default_flow_style=True, width=10_000, allow_unicode=True).strip()
    return f"{indent}{place.path[-1]}:\n{indent * 2}start_urls: {urls}"


def _place_at_end(definition: DefinitionText, tree: YamlTree, path: OptionPath, header: str) -> Excerpt:
    text = definition.text
    at = len(text.rstrip())
    at = _line_end(text, at)
    line_end = _break(text)
    return Excerpt(
        definition, tree, path, (at, at), (line_end if at else "") + header.replace("\n", line_end)
    )


def _break(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _excerpt(
    definition: DefinitionText, tree: YamlTree, found: tuple[yaml.Node, yaml.Node] | None, path: OptionPath
) -> Excerpt | None:
    if found is None:
        return None
    key, value = found
    start = key.start_mark.index - key.start_mark.column
    return Excerpt(definition, tree, path, (start, end_of_pair(definition.text, key, value)))


def member_of(
    node: yaml.Node | tuple[yaml.Node, yaml.Node] | None, name: str
) -> tuple[yaml.Node, yaml.Node] | None:
    """Return a key of a group with its value; None if the group does not write it itself."""
    mapping = node[1] if isinstance(node, tuple) else node
    members = mapping.value if isinstance(mapping, yaml.MappingNode) else ()
    return next((pair for pair in members if pair[0].value == name), None)


def end_of_pair(text: str, key: yaml.Node, value: yaml.Node) -> int:
    """Return the end of the last line of a source, option or item, with comments that are indented below its key."""
    at = max(_last_index(key), _last_index(value))
    if text[at - 1] in "\r\n":  # a block of text ends where the next line begins
        at = len(text[:at].rstrip("\r\n"))
    end = _line_end(text, at)
    comment = re.compile(rf"(?:\r?\n[ ]*)*\r?\n[ ]{{{key.start_mark.column + 1},}}#[^\r\n]*")
    while found := comment.match(text, end):
        end = found.end()
    return end


def _line_end(text: str, at: int) -> int:
    found = _LINE_END.search(text, at)
    return found.start() if found else len(text)


def _last_index(node: yaml.Node) -> int:
    """Return where the last value of a node ends; the end of a block itself may be many lines below."""
    if not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return int(node.end_mark.index)
    pairs = node.value if isinstance(node, yaml.MappingNode) else ((item, item) for item in node.value)
    return max(
        (max(_last_index(key), _last_index(value)) for key, value in pairs), default=node.start_mark.index
    )
