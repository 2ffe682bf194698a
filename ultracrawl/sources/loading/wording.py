"""Translates pydantic validation errors into a problem and advice for users."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from ultracrawl.sources.definition import SourceOptions
from ultracrawl.sources.loading.other_words import advice_for
from ultracrawl.sources.mistakes import MISTAKE, format_names, format_value, missing_blank, suggestion
from ultracrawl.sources.project import DefinitionFile
from ultracrawl.sources.reading.tree import OptionPath

Wording = tuple[OptionPath, str, str]
"""The path of an error, the problem and the advice."""

_KEY_MARK = "[key]"
_SWITCHES = ("use", "obey", "enabled")
"""Options that turn the group on and off that they belong to."""
_NO_GROUP = ("dict_type", "mapping_type", "model_type", "model_attributes_type")
_PROBLEMS = {
    **dict.fromkeys(("bool_type", "bool_parsing"), "is neither true nor false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "is not a whole number"),
    "int_parsing_size": "is not a whole number of usual size",
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "is not a number"),
    "string_type": "is not a text",
    "path_type": "is not a path",
    **dict.fromkeys(("tuple_type", "list_type", "frozen_set_type"), "is not a list"),
    **dict.fromkeys(_NO_GROUP, "is not a group of options"),
    **dict.fromkeys(("literal_error", "enum"), "is not a known value"),
    "string_pattern_mismatch": "has a form that is not allowed here",
    "string_too_long": "is too long",
    **dict.fromkeys(("string_too_short", "too_short"), "is empty"),
}
_NO_BLANK = r"([a-z_]+):(?!//)[^\s\\](?s:.*)"
"""An option and its value without a blank behind the colon, which YAML takes for one text."""
_MOST_PLACES = 3
"""Sections that are named to which an option may belong."""
_MOST_NAMES = 30
"""Options of a group that are named where none of them is like a wrong one."""
_BOUNDS = {
    "greater_than": ("is not greater than", "gt"),
    "greater_than_equal": ("is less than", "ge"),
    "less_than": ("is not less than", "lt"),
    "less_than_equal": ("is greater than", "le"),
}


def explain(error: ValidationError, model: type[BaseModel]) -> list[Wording]:
    """Return path, problem and advice for all errors of one validation; equal problems at one path once."""
    errors = error.errors(include_url=False)
    faulty_lists = {tuple(detail["loc"][:-1]) for detail in errors}
    found: dict[tuple[OptionPath, str], Wording] = {}
    for detail in errors:
        if detail["type"] == "too_short" and tuple(detail["loc"]) in faulty_lists:
            continue  # the list counts as empty only because its items are wrong
        path, problem, instead = _explain(detail, model)
        found.setdefault((path, problem), (path, problem, instead))
    return list(found.values())


def option_names(model: type[BaseModel]) -> list[str]:
    """Return the names of the options of a group, as written in definition files."""
    return [info.alias or name for name, info in model.model_fields.items()]


def _explain(error: ErrorDetails, model: type[BaseModel]) -> Wording:
    path = tuple(step for step in error["loc"] if step != _KEY_MARK)
    if error["type"] == "extra_forbidden":
        group, _ = _describe(model, path[:-1])
        above = _describe(model, path[:-2])[0] if path[:-1] else None
        return (path, *_unknown_option(str(path[-1]), group, above, error["input"]))
    if error["type"] in _NO_GROUP and (without := _missing_blank(error["input"])):
        return (path, *without)
    if error["type"] == "missing":
        return path, "is missing", _example(model, path)
    if error["type"] == MISTAKE:
        context = error["ctx"]
        return (*path, *context["at"]), context["problem"], context["instead"]
    return path, _problem(error), _instead(error, model, path)


def _unknown_option(
    name: str, group: type[BaseModel] | None, above: type[BaseModel] | None, value: object
) -> tuple[str, str]:
    names = option_names(group) if group else []
    if value is None and (without := _missing_blank(name)):
        return without
    if group is not None and issubclass(group, SourceOptions) and name in option_names(DefinitionFile):
        return f"unknown option `{name}`", f"write `{name}` at the top of the file, beside `sources`"
    of_group: Mapping[str, str] = getattr(group, "ADVICE", {})
    instead = (
        of_group.get(name)
        or advice_for(name, value)
        or _place_of(name, group, above, value)
        or suggestion(name, names, _options_here(names))
    )
    return f"unknown option `{name}`", instead


def _missing_blank(text: object) -> tuple[str, str] | None:
    """Return problem and advice for a text that was meant as an option and its value, None for another text."""
    found = re.fullmatch(_NO_BLANK, text) if isinstance(text, str) else None
    return found and missing_blank(found[1])


def _options_here(names: list[str]) -> str:
    """Return what can be written in a group; a source has so many options that nobody reads their names."""
    if len(names) > _MOST_NAMES:
        return "write one of the options in docs/configuration.md, which `ultracrawl schema` prints, too"
    return f"the options here are {format_names(names)}"


def _place_of(name: str, group: type[BaseModel] | None, above: type[BaseModel] | None, value: object) -> str:
    """Return where to write an option that is known in one section of its group, or above it; empty if nowhere."""
    if group is None:
        return ""
    if above is not None and name in option_names(above):
        return f"write `{name}` one level above, beside the section in which it is now"
    sections = {option: _group_of(info.annotation) for option, info in group.model_fields.items()}
    holders = [option for option, inner in sections.items() if inner and name in option_names(inner)]
    found = [(holder, _describe(group, (holder, name))[1]) for holder in holders]
    written = [
        f"`{holder}: {{{name}: {flow_of(_number_or_example(value, option))}}}`" for holder, option in found
    ]
    return f"write {' or '.join(written)}" if 0 < len(written) <= _MOST_PLACES else ""


def _number_or_example(value: object, option: tuple[str, FieldInfo] | None) -> object:
    examples = option[1].examples if option else None
    return value if isinstance(value, int | float) else next(iter(examples or ()), "...")


def _problem(error: ErrorDetails) -> str:
    value = format_value(error["input"])
    if error["type"] in _BOUNDS:
        words, bound = _BOUNDS[error["type"]]
        return f"{value} {words} {error['ctx'][bound]:g}"
    if error["type"] == "too_long":
        context = error["ctx"]
        return (
            f"{value} has {context['actual_length']} values, and at most {context['max_length']} are allowed"
        )
    return f"{value} {_PROBLEMS.get(error['type'], 'cannot be used here')}"


def _instead(error: ErrorDetails, model: type[BaseModel], path: OptionPath) -> str:
    context = error.get("ctx", {})
    if error["type"] in ("literal_error", "enum"):
        known = [part.strip("' ") for part in str(context["expected"]).replace(" or ", ", ").split(",")]
        return suggestion(error["input"], known, f"write {format_names(known)}")
    if error["type"] == "string_pattern_mismatch" and re.match(context["pattern"], error["input"].upper()):
        return f"write `{error['input'].upper()}`"
    if isinstance(error["input"], bool) and (switch := _switch(model, path, error["input"])):
        return switch
    if error["type"] in _NO_GROUP and (listed := _list_option(model, path, error["input"])):
        return listed
    if error["type"] == "string_type" and isinstance(error["input"], bool | int | float):
        return "put the value in quotes"
    if error["type"] in ("bool_type", "bool_parsing"):
        return "write `true` or `false`"
    if error["type"] == "too_long":
        return f"write at most {context['max_length']}"
    return _example(model, path)


def _switch(model: type[BaseModel], path: OptionPath, value: bool) -> str:
    """Return what to write for a group of options that was written as true or false; empty if it has no switch."""
    group, option = _describe(model, path)
    switch = next((name for name in _SWITCHES if group is not None and name in group.model_fields), None)
    if option is None or switch is None:
        return ""
    return f"write `{option[0]}: {{{switch}: {flow_of(value)}}}`"


def _list_option(model: type[BaseModel], path: OptionPath, value: object) -> str:
    """Return what to write for a text or a list in place of a group whose option takes it; empty if none does."""
    group, option = _describe(model, path)
    name: str = getattr(group, "LIST_OPTION", "")
    if option is None or not name or not isinstance(value, str | list):
        return ""
    written = [value] if isinstance(value, str) else value
    return f"write `{option[0]}: {{{name}: {flow_of(written)}}}`"


def _example(model: type[BaseModel], path: OptionPath) -> str:
    _, field = _describe(model, path)
    if field is None or not field[1].examples:
        return "write its options indented below it"
    name, info = field
    return f"write for example `{name}: {flow_of(info.examples[0])}`" if info.examples else ""


def flow_of(value: Any) -> str:
    """Return a value as one-line YAML, which can be pasted; a text is in quotes only if it needs them."""
    if isinstance(value, str):
        return value if _is_plain(value) else "'" + value.replace("'", "''") + "'"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(flow_of, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{flow_of(name)}: {flow_of(item)}" for name, item in value.items()) + "}"
    return json.dumps(value)


def _is_plain(text: str) -> bool:
    """Return whether a text is itself in a list or group of one line, and beyond one."""
    try:
        return bool(yaml.safe_load(f"[{text}]") == [text] and yaml.safe_load(f"a: {text}") == {"a": text})
    except yaml.YAMLError:
        return False


def _describe(
    model: type[BaseModel], path: OptionPath
) -> tuple[type[BaseModel] | None, tuple[str, FieldInfo] | None]:
    """Follow a path into the models: return the group at its end (if it is one), and the last option on the way."""
    group: type[BaseModel] | None = model
    members: type[BaseModel] | None = None
    option: tuple[str, FieldInfo] | None = None
    for step in path:
        if group is None:
            group, members = members, None
            continue
        fields = {info.alias or name: info for name, info in group.model_fields.items()}
        info = fields.get(str(step))
        if info is None:
            return None, option
        option = str(step), info
        group, members = _group_of(info.annotation), _members_of(info.annotation)
    return group, option


def _group_of(annotation: Any) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _members_of(annotation: Any) -> type[BaseModel] | None:
    return _group_of(get_args(annotation)[-1]) if get_origin(annotation) is Mapping else None
