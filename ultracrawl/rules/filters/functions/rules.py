"""Site definitions and filter rules at work inside a filter."""

from __future__ import annotations

from ultracrawl.rules.filters.function import METADATA_AND_DATA, FilterError, FilterHandle, Function, Step
from ultracrawl.rules.filters.functions.setup import SETUP, nothing
from ultracrawl.rules.filters.parameters import Parameter, ParameterBlock
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import View
from ultracrawl.rules.filters.robot import Robot

SETUP_NAME = "filterrules-setup"


def _setup(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    robot.log_types[place.name] = block.get("logtype", "normal")
    try:
        robot.rules[place.name] = robot.load_rules(block["config"])
    except OSError as error:
        raise FilterError(
            f"{block['config']} cannot be read: {error}", "name a file of filter rules"
        ) from error
    return nothing


def _process(_: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    rules = robot.rules.get(place.name)
    if rules is None:  # they could not be read, which was said
        return nothing
    fetched = place.phase is Phase.DATA

    def step(view: View) -> Answer:
        resource = view.resource
        decision = rules.judge(resource.url, view.type if fetched else None, resource.depth)
        if decision.accept:
            return Answer.PROCEED
        view.deny(decision.rule, decision.reason)
        return Answer.ABORTED

    return step


def _shutdown(_: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    def step(_: View) -> Answer:
        robot.rules.pop(place.name, None)
        return Answer.PROCEED

    return step


FUNCTIONS = (
    Function(
        SETUP_NAME,
        SETUP,
        _setup,
        (Parameter("config", required=True), Parameter("logtype", choices=("verbose", "normal", "terse"))),
    ),
    Function("filterrules-process", METADATA_AND_DATA, _process, after=SETUP_NAME),
    Function("filterrules-shutdown", frozenset({Phase.SHUTDOWN}), _shutdown),
)
