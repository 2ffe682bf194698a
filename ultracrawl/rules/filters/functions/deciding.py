"""Functions that allow or deny a resource by its sources, or by site definitions and filter rules."""

from __future__ import annotations

from collections.abc import Callable

from ultracrawl.rules.attributes.values import whole_number
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
)
from ultracrawl.rules.filters.functions.sources import COMPARISONS, SETUP, comparison, nothing
from ultracrawl.rules.filters.matching import By, Test
from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.rules.filters.resource import Resource, View, source_name
from ultracrawl.rules.urls.canonical import host_of

ALL = "all"
"""The keyword that matches every text."""
FILTER_RULES = "filter rules"
DUPLICATION = "duplication"
_MAX_REASONS = {"depth": "depth", "hosts": "max hosts", "objects": "max objects"}
"""The reasons of `filter-by-max` by source."""
_UNITS = {"content-length": 1024}
"""The unit of `value` by source: file sizes are in KB."""

_COMPARED = (Parameter("src", required=True), Parameter("allow"), Parameter("deny"))


def _passes(by: By, source: str, text: str, place: FilterHandle, robot: Robot) -> Test:
    return (lambda _: True) if text == ALL else comparison(by, source, text, place, robot)


def _comparing(by: By) -> Build:
    def build(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
        source = source_name(block["src"])
        if "allow" not in block and "deny" not in block:
            raise FilterError("neither allow nor deny is given", "add allow=TEXT or deny=TEXT")
        denied, allowed = (
            _passes(by, source, block[name], place, robot) if name in block else None
            for name in ("deny", "allow")
        )
        detail = f"{block.function} src={block['src']}"

        def step(view: View) -> Answer:
            refused = (denied is not None and view.matches(source, denied)) or (
                allowed is not None and not view.matches(source, allowed)
            )
            if not refused:
                return Answer.PROCEED
            view.deny(FILTER_RULES, detail)
            return Answer.ABORTED

        return step

    return build


def _max(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    source = source_name(block["src"])
    if place.phase is Phase.SETUP:
        raise FilterError("there is no resource under Setup", "write it under MetaData or Data")
    limit = int(block["value"]) * _UNITS.get(source, 1)
    counters: dict[str, Callable[[Resource], int]] = {
        "hosts": lambda resource: len(robot.hosts) + (host_of(resource.url) not in robot.hosts),
        "objects": lambda resource: resource.number or robot.objects + 1,
    }
    count, group = counters.get(source), _MAX_REASONS.get(source, FILTER_RULES)

    def step(view: View) -> Answer:
        number = count(view.resource) if count else whole_number(view.value(source).strip())
        if number is None or number <= limit:
            return Answer.PROCEED
        view.deny(group, f"more than {block['value']} {block['src']}")
        return Answer.ABORTED

    return step


def _md5(_: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    robot.note_comparison(place.kind)

    def step(view: View) -> Answer:
        checksum, url = view.value("md5"), view.resource.url
        holder = robot.holder_of(checksum, url) if checksum else url
        if holder == url:
            return Answer.PROCEED
        view.deny(DUPLICATION, f"the same content as {holder}")
        return Answer.ABORTED

    return step


SETUP_NAME = "filterrules-setup"


def _setup(block: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    robot.log_types[place.name] = block.get("logtype", "normal")
    try:
        robot.rules[place.name] = robot.load_rules(block["config"])
    except OSError as error:
        raise FilterError(
            f"{block['config']} cannot be read: {error.strerror or error}", "name a file of filter rules"
        ) from error
    return nothing


def _process(_: ParameterBlock, place: FilterHandle, robot: Robot) -> Step:
    rules = robot.rules.get(place.name)
    if rules is None:  # they could not be read, which was reported
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
    *(
        Function(f"filter-by-{name}", METADATA_AND_DATA, _comparing(by), _COMPARED, reads=("src",))
        for name, by in COMPARISONS.items()
    ),
    Function(
        "filter-by-max",
        METADATA_AND_DATA,
        _max,
        (Parameter("src", required=True), Parameter("value", Form.NUMBER, required=True, least=0)),
        reads=("src",),
        knows=frozenset({"hosts", "objects"}),
        once=True,
    ),
    Function("filter-by-md5", frozenset({Phase.DATA}), _md5, once=True, after="generate-md5"),
    Function(
        SETUP_NAME,
        SETUP,
        _setup,
        (Parameter("config", required=True), Parameter("logtype", choices=("verbose", "normal", "terse"))),
    ),
    Function("filterrules-process", METADATA_AND_DATA, _process, after=SETUP_NAME),
    Function("filterrules-shutdown", frozenset({Phase.SHUTDOWN}), _shutdown),
)
