"""Functions that set sources, and their set-up functions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from ultracrawl.rules.filters.function import (
    METADATA_AND_DATA,
    Build,
    FilterError,
    FilterHandle,
    Form,
    Function,
    Parameter,
    ParameterBlock,
    Robot,
    Step,
    expression_cache,
)
from ultracrawl.rules.filters.matching import By, Match, Test
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import View, source_name

COMPARISONS = {"exact": By.IS, "prefix": By.BEGINS_WITH, "regex": By.REGEX}
"""By the suffixes of function names."""


def comparison(by: By, source: str, text: str, place: FilterHandle, robot: Robot) -> Test:
    """Return the test of a source; expressions use the cache of the filter. Raises `FilterError`."""
    match = Match(source, by, text)
    if by is not By.REGEX:
        return match.compile()
    expression = match.expression
    return lambda value: robot.cache_of(place.name)(expression).fullmatch(value)


SETUP = frozenset({Phase.SETUP})


def nothing(_: View) -> Answer:
    """Do nothing; the step of set-up functions."""
    return Answer.NOACTION


def _regex_cache(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    robot.expressions[place.name] = expression_cache(int(block["cache-size"]))
    return nothing


def _types(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    try:
        robot.extensions[place.name] = read_types(robot.read(block["file"]))
    except (OSError, UnicodeError) as error:
        raise FilterError(
            f"{block['file']} cannot be read: {getattr(error, 'strerror', None) or error}",
            "name a file of MIME types",
        ) from error
    return nothing


def read_types(text: str) -> Mapping[str, str]:
    """Parse media types by extension from lines `type ext ext` or `type=... exts=a,b`."""
    types: dict[str, str] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        pairs = dict(word.split("=", 1) for word in words if "=" in word)
        media_type = pairs.get("type", words[0]).strip('"').lower()
        extensions = pairs["exts"].strip('"').split(",") if "exts" in pairs else words[1:]
        types.update((name.strip().lstrip(".").lower(), media_type) for name in extensions if name.strip())
    return types


CLASSIFICATION = "classification"
TYPES_SETUP = "setup-type-by-extension"
_MADE = (
    Parameter("dst", required=True),
    Parameter("value", required=True),
    Parameter("src", required=True),
    Parameter("match", required=True),
)


def _assign(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
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
        if target == "type":
            if not values:
                return Answer.NOACTION  # the detected type stays
            values = tuple(value.partition(";")[0].strip() for value in values)
        return _assigned(view, target, values)

    return step


def _assigned(view: View, target: str, values: tuple[str, ...]) -> Answer:
    view.assign(target, *values)
    return Answer.PROCEED


def _type_by_extension(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    types = robot.extensions.get(place.name, {})
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


def _clear(block: ParameterBlock, _: FilterHandle, __: Robot) -> Step:
    source = source_name(block["src"])

    def step(view: View) -> Answer:
        view.clear(source)
        return Answer.PROCEED

    return step


def _generate_md5(_: ParameterBlock, __: FilterHandle, ___: Robot) -> Step:
    def step(view: View) -> Answer:
        fetched = view.resource.fetched
        assert fetched is not None, "md5 is asked for after the fetch"
        view.assign("md5", hashlib.md5(fetched.body, usedforsecurity=False).hexdigest())
        return Answer.PROCEED

    return step


def _generating(by: By) -> Build:
    def build(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
        source, target, value = source_name(block["src"]), block["dst"], block["value"]
        test = comparison(by, source, block["match"], place, robot)
        is_field = place.phase is Phase.GENERATE

        def step(view: View) -> Answer:
            if not view.matches(source, test):
                return Answer.NOACTION
            _produce(view, target, value, robot, is_field=is_field)
            return Answer.PROCEED

        return step

    return build


def _produce(view: View, target: str, value: str, robot: Robot, *, is_field: bool) -> None:
    """Set a source, and under Generate a field; classifications are appended up to their maximum."""
    name = source_name(target)
    if target != CLASSIFICATION:
        view.assign(name, value)
        if is_field:
            view.rd[target] = [value]
        return
    known = view.values(name)
    if value not in known and len(known) < robot.max_classifications:
        view.assign(name, *known, value)
        if is_field:
            view.add_field(target, value)


ANYWHERE = METADATA_AND_DATA | {Phase.GENERATE}


FUNCTIONS = (
    Function(
        "setup-regex-cache",
        SETUP,
        _regex_cache,
        (Parameter("cache-size", Form.NUMBER, required=True, least=1),),
    ),
    Function("setup-type-by-extension", SETUP, _types, (Parameter("file", required=True),)),
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
    *(
        Function(f"generate-by-{name}", ANYWHERE, _generating(by), _MADE, reads=("src",), makes=("dst",))
        for name, by in COMPARISONS.items()
    ),
)
