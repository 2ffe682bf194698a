"""Functions that run once, before any resource: caches, types by extension."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.rules.filters.function import FilterError, FilterHandle, Function, Step
from ultracrawl.rules.filters.parameters import Form, Parameter, ParameterBlock
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import View
from ultracrawl.rules.filters.robot import Robot, expression_cache

SETUP = frozenset({Phase.SETUP})


def nothing(_: View) -> Answer:
    """Do nothing for a resource."""
    return Answer.NOACTION


def _regex_cache(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    robot.expressions[place.name] = expression_cache(int(block["cache-size"]))
    return nothing


def _types(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    try:
        robot.extensions[place.name] = read_types(robot.read(block["file"]))
    except (OSError, UnicodeError) as error:
        raise FilterError(f"{block['file']} cannot be read: {error}", "name a file of MIME types") from error
    return nothing


def read_types(text: str) -> Mapping[str, str]:
    """Return media types by extension from lines `type ext ext` or `type=... exts=a,b`."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        named = dict(word.split("=", 1) for word in words if "=" in word)
        media_type = named.get("type", words[0]).strip('"')
        extensions = named["exts"].strip('"').split(",") if "exts" in named else words[1:]
        found.update(
            (one.strip().lstrip(".").lower(), media_type.lower()) for one in extensions if one.strip()
        )
    return found


FUNCTIONS = (
    Function(
        "setup-regex-cache",
        SETUP,
        _regex_cache,
        (Parameter("cache-size", Form.NUMBER, required=True, least=1),),
    ),
    Function("setup-type-by-extension", SETUP, _types, (Parameter("file", required=True),)),
)
