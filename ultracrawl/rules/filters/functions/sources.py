"""Functions that give sources their values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Protocol

from ultracrawl.rules.filters.expressions import expression_of
from ultracrawl.rules.filters.function import METADATA_AND_DATA, FilterError, Function, Place, Step
from ultracrawl.rules.filters.parameters import Parameter, ParameterBlock
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import CASELESS, View, source_name
from ultracrawl.rules.filters.robot import Robot

CLASSIFICATION = "classification"
TYPES_SETUP = "setup-type-by-extension"
_MADE = (
    Parameter("dst", required=True),
    Parameter("value", required=True),
    Parameter("src", required=True),
    Parameter("match", required=True),
)


def _assign(block: ParameterBlock, _: Place, __: Robot) -> Step:
    if ("value" in block) == ("src" in block):
        given = "both value and src are" if "value" in block else "neither value nor src is"
        raise FilterError(f"{given} given", "give exactly one of value=TEXT and src=SOURCE")
    target = source_name(block["dst"])
    if "value" in block:
        literal = block["value"]
        return lambda view: _assigned(view, target, (literal,))
    source = source_name(block["src"])

    def step(view: View) -> Answer:
        values = view.values(source)
        if not values and target == "type":
            return Answer.NOACTION  # it is what the bytes show
        return _assigned(view, target, _without_parameters(target, values))

    return step


def _assigned(view: View, target: str, values: tuple[str, ...]) -> Answer:
    view.assign(target, *values)
    return Answer.PROCEED


def _without_parameters(target: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return values as they are copied: a media type loses what stands behind the semicolon."""
    return tuple(value.partition(";")[0].strip() for value in values) if target == "type" else values


def _type_by_extension(block: ParameterBlock, place: Place, robot: Robot) -> Step:
    types = robot.extensions.get(place.filter, {})
    source = source_name(block.get("src", "path"))

    def step(view: View) -> Answer:
        name = view.value(source).partition("?")[0].rpartition("/")[2]
        _, dot, extension = name.rpartition(".")
        media_type = types.get(extension.lower()) if dot else None
        if media_type is None:
            return Answer.NOACTION
        view.assign("type", media_type)
        return Answer.PROCEED

    return step


def _clear(block: ParameterBlock, _: Place, __: Robot) -> Step:
    source = source_name(block["src"])

    def step(view: View) -> Answer:
        view.clear(source)
        return Answer.PROCEED

    return step


def _generate_md5(_: ParameterBlock, __: Place, ___: Robot) -> Step:
    def step(view: View) -> Answer:
        fetched = view.resource.fetched
        assert fetched is not None, "md5 is asked for after the fetch"
        view.assign("md5", hashlib.md5(fetched.body, usedforsecurity=False).hexdigest())
        return Answer.PROCEED

    return step


class Matcher(Protocol):
    """Makes the test for a text; with `folds` case means nothing."""

    def __call__(self, text: str, place: Place, robot: Robot, /, *, folds: bool) -> Callable[[str], object]:
        """Return the test. Raises `FilterError`."""


def _generating(matcher: Matcher) -> Callable[[ParameterBlock, Place, Robot], Step]:
    def build(block: ParameterBlock, place: Place, robot: Robot) -> Step:
        source, target, value = source_name(block["src"]), block["dst"], block["value"]
        test = matcher(block["match"], place, robot, folds=source in CASELESS)
        is_field = place.phase is Phase.GENERATE

        def step(view: View) -> Answer:
            if not view.matches(source, test):
                return Answer.NOACTION
            _produce(view, target, value, robot, is_field=is_field)
            return Answer.PROCEED

        return step

    return build


def _produce(view: View, target: str, value: str, robot: Robot, *, is_field: bool) -> None:
    """Give a source, and under Generate a field, its value; classifications add up to their maximum."""
    name = source_name(target)
    if target != CLASSIFICATION:
        view.assign(name, value)
        if is_field:
            view.rd[target] = [value]
        return
    known = view.values(name)
    if value not in known and len(known) < robot.most_classifications:
        view.assign(name, *known, value)
        if is_field:
            view.add_field(target, value)


def _equals(text: str, _: Place, __: Robot, *, folds: bool) -> Callable[[str], object]:
    return (text.lower() if folds else text).__eq__


def _begins(text: str, _: Place, __: Robot, *, folds: bool) -> Callable[[str], object]:
    head = text.lower() if folds else text
    return lambda value: value.startswith(head)


def _covers(expression: str, place: Place, robot: Robot, *, folds: bool) -> Callable[[str], object]:
    checked = expression_of(expression, ignore_case=folds)
    return lambda value: robot.cache_of(place.filter).covers(checked, value)


ANYWHERE = METADATA_AND_DATA | {Phase.GENERATE}

FUNCTIONS = (
    Function(
        "assign-source",
        METADATA_AND_DATA,
        _assign,
        (Parameter("dst", required=True), Parameter("value"), Parameter("src")),
        reads=("src",),
        makes=("dst",),
    ),
    Function(
        "assign-type-by-extension",
        METADATA_AND_DATA,
        _type_by_extension,
        (Parameter("src"),),
        reads=("src",),
        makes=("type",),
        after=TYPES_SETUP,
    ),
    Function("clear-source", METADATA_AND_DATA, _clear, (Parameter("src", required=True),)),
    Function("generate-md5", frozenset({Phase.DATA}), _generate_md5),
    Function("generate-by-exact", ANYWHERE, _generating(_equals), _MADE, reads=("src",), makes=("dst",)),
    Function("generate-by-prefix", ANYWHERE, _generating(_begins), _MADE, reads=("src",), makes=("dst",)),
    Function("generate-by-regex", ANYWHERE, _generating(_covers), _MADE, reads=("src",), makes=("dst",)),
)
