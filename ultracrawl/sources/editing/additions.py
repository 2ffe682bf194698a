"""Adds items to a list of a source in its definition file, without any other change of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import yaml

from ultracrawl.errors import UserError
from ultracrawl.sources.editing.excerpt import Excerpt, end_of_pair, member_of
from ultracrawl.sources.reading.tree import Data, OptionPath

_WIDTH = 1 << 30


class NoPlaceError(UserError):
    """An option of a source is written in a way that nothing can be added to by itself."""


def with_items(excerpt: Excerpt, option: OptionPath, items: Sequence[Data], inherited: Sequence[Data]) -> str:
    """Return the text of a file in which a source has more items in a list.

    `inherited` is what the list has where the source does not write it itself: it stands in front then, since a list of
    the source replaces that of `defaults`. Raises `NoPlaceError` if an alias stands for the option, or for a group that
    it is in.
    """
    text, (start, end) = excerpt.definition.text, excerpt.span
    node = excerpt.tree.root
    for name in excerpt.path:
        found = member_of(node, str(name))
        assert found is not None, "the excerpt was found there"
        node = found[1]
    rest = list(option)
    while rest and (found := member_of(node, str(rest[0]))) is not None:
        node = found[1]
        del rest[0]
        if not start <= node.start_mark.index <= end or node.start_mark.index < found[0].end_mark.index:
            raise NoPlaceError(
                f"an alias stands for {'.'.join(map(str, option))}; write it into {excerpt.definition.file}"
            )
    if not rest:
        at, stop, new = _in_list(text, node, items)
    else:
        data: Data = [*inherited, *items]
        for name in reversed(rest[1:]):
            data = {str(name): data}
        at, stop, new = _in_group(text, node, str(rest[0]), data)
    line_end = "\r\n" if "\r\n" in text else "\n"
    return text[:at] + new.replace("\n", line_end) + text[stop:]


def _in_list(text: str, node: yaml.Node, items: Sequence[Data]) -> tuple[int, int, str]:
    """Return what is put into a list, and in place of which part of the text."""
    written = [_flow(item) for item in items]
    first, last = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.ScalarNode):  # one item, or none
        own = [_flow(node.value) if node.style is None else text[first:last]] if node.value else []
        return first, last, f"{'' if own else ' '}[{', '.join([*own, *written])}]"
    is_list = isinstance(node, yaml.SequenceNode)
    if isinstance(node, yaml.CollectionNode) and node.flow_style:  # a group is one item
        one = f"[{', '.join([text[first:last], *written])}]"
        return _between(text, node, written) if is_list else (first, last, one)
    if is_list:
        at, indent = end_of_pair(text, node, node.value[-1]), " " * node.start_mark.column
        return at, at, "".join(f"\n{indent}- {item}" for item in written)
    raise _no_place(node)


def _in_group(text: str, node: yaml.Node, name: str, value: Data) -> tuple[int, int, str]:
    """Return the line of an option that is put into a group, and its place."""
    pair = f"{_flow(name)}: {_flow(value)}"
    if isinstance(node, yaml.MappingNode) and node.flow_style:
        return _between(text, node, [pair])
    if isinstance(node, yaml.MappingNode) and node.value:
        at = max(end_of_pair(text, *one) for one in node.value)
        return at, at, f"\n{' ' * node.start_mark.column}{pair}"
    at = node.start_mark.index
    if isinstance(node, yaml.ScalarNode) and not node.value:
        return at, at, f" {{{pair}}}"
    raise _no_place(node)


def _no_place(node: yaml.Node) -> NoPlaceError:
    return NoPlaceError(f"nothing can be added on line {node.start_mark.line + 1} by itself; write it there")


def _between(text: str, node: yaml.CollectionNode, written: Iterable[str]) -> tuple[int, int, str]:
    """Return what is put behind the last member between brackets; what follows it may be a comment."""
    new = ", ".join(written)
    if not node.value:
        at = node.end_mark.index - 1
        return at, at, new
    last = node.value[-1]
    at = len(text[: (last[1] if isinstance(last, tuple) else last).end_mark.index].rstrip())
    return at, at, f", {new}"


def _flow(value: Data) -> str:
    """Return a value as it stands between brackets."""
    text = yaml.safe_dump([value], default_flow_style=True, width=_WIDTH, allow_unicode=True)
    return text.strip()[1:-1]
