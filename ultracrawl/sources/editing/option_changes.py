"""The options in which two versions of a source differ, and which of them users of the pages may change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from ultracrawl.sources.reading.tree import Data, OptionPath
from ultracrawl.sources.sections.section import OptionMark, Section

_FILE = "file"
"""The key of an entry that names a file with rules, in lists of rules."""


class _Missing:
    """What is not written."""


_MISSING: Final = _Missing()
_Written = Data | _Missing


class OptionChange(NamedTuple):
    """An option that differs."""

    path: OptionPath
    is_editable: bool
    is_known: bool = True
    """Whether there is such an option; others are mistakes, and have no effect."""

    def __str__(self) -> str:
        return ".".join(map(str, self.path))


def option_changes(
    model: type[BaseModel], before: Data, after: Data, path: OptionPath = ()
) -> Iterator[OptionChange]:
    """Yield the options that are written differently in two versions of a group; `model` describes its options."""
    yield from _changes_of_group(model, before, after, path)


def editable_options(model: type[BaseModel], path: OptionPath = ()) -> Iterator[OptionPath]:
    """Yield the paths of all options that may be changed; names that people choose are `*`."""
    for name, info in options_of(model).items():
        groups = groups_in(info.annotation)
        below = (*path, name, "*") if is_mapping(info.annotation) else (*path, name)
        if not groups and _is_marked(info):
            yield (*path, name)
        for group in groups:
            yield from editable_options(group, below)


def options_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return the options of a group by the names that definitions give them."""
    return {info.alias or name: info for name, info in model.model_fields.items()}


def groups_in(annotation: Any) -> list[type[Section]]:
    """Return the groups of options that a type contains."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [group for part in get_args(annotation) for group in groups_in(part)]


def is_mapping(annotation: Any) -> bool:
    """Return whether values of a type have keys that people choose."""
    origin = get_origin(annotation)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _changes_of_group(
    model: type[BaseModel], before: _Written, after: _Written, path: OptionPath
) -> Iterator[OptionChange]:
    if is_same(before, after):
        return
    old, new = _options_written(before, after), _options_written(after, before)
    if old is None or new is None:
        yield OptionChange(path, _is_editable_group(model))
        return
    options = options_of(model)
    for name, was, now in _different_members(old, new):
        info = options.get(name)
        if info is None:
            yield OptionChange((*path, name), is_editable=False, is_known=False)
        else:
            yield from _changes_of_option(info, was, now, (*path, name))


def _changes_of_option(
    info: FieldInfo, before: _Written, after: _Written, path: OptionPath
) -> Iterator[OptionChange]:
    groups = groups_in(info.annotation)
    if not groups:
        keyed = is_mapping(info.annotation)
        names_other_file = _files_named(before, keyed=keyed) != _files_named(after, keyed=keyed)
        yield OptionChange(path, _is_marked(info) and not names_other_file)
    elif len(groups) == 1 and _is_group(info.annotation):
        yield from _changes_of_group(groups[0], before, after, path)
    else:
        old, new = _options_written(before, after), _options_written(after, before)
        if len(groups) == 1 and is_mapping(info.annotation) and old is not None and new is not None:
            for name, was, now in _different_members(old, new):
                yield from _changes_of_group(groups[0], was, now, (*path, name))
        else:
            yield OptionChange(path, all(map(_is_editable_group, groups)))


def _is_group(annotation: Any) -> bool:
    """Return whether a type is a group, or a group or None."""
    if get_origin(annotation) in (Union, UnionType):
        (*others,) = (part for part in get_args(annotation) if part is not NoneType)
        return len(others) == 1 and _is_group(others[0])
    return isinstance(annotation, type)


def _options_written(value: _Written, other: _Written) -> dict[str, Data] | None:
    """Return the members of a group; none if only `other` has any; None if they cannot be compared one by one."""
    if isinstance(value, dict):
        return value
    return {} if (value is None or value is _MISSING) and isinstance(other, dict) and other else None


def _different_members(
    before: dict[str, Data], after: dict[str, Data]
) -> Iterator[tuple[str, _Written, _Written]]:
    for name in dict.fromkeys((*before, *after)):
        was, now = before.get(name, _MISSING), after.get(name, _MISSING)
        if not is_same(was, now):
            yield name, was, now


def is_same(one: _Written, other: _Written) -> bool:
    """Return whether two values are equal and of one type: 1 is not `true`."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return one == other


def _files_named(value: _Written, *, keyed: bool = False) -> list[str]:
    """Return the files that entries of an option name; the keys of `keyed` values are names of something else."""
    if isinstance(value, list):
        return sorted(name for item in value for name in _files_named(item))
    if not isinstance(value, dict):
        return []
    own = [repr(value[_FILE])] if _FILE in value and not keyed else []
    return sorted([*own, *(name for item in value.values() for name in _files_named(item))])


def _is_marked(info: FieldInfo) -> bool:
    return OptionMark.EDITABLE in info.metadata


def _is_editable_group(group: type[BaseModel]) -> bool:
    """Return whether all options of a group may be changed."""
    for info in group.model_fields.values():
        groups = groups_in(info.annotation)
        if not (all(map(_is_editable_group, groups)) if groups else _is_marked(info)):
            return False
    return True
