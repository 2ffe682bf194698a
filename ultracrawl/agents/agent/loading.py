"""From what a source says of its agent to the class and the values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import SecretStr

from ultracrawl.agents.agent.crawler_agent import AgentParameter, CrawlerAgent, ParameterValue
from ultracrawl.agents.agent.section import AgentSection
from ultracrawl.agents.port import KindSetup
from ultracrawl.errors import UserError
from ultracrawl.sources.mistakes import format_names
from ultracrawl.system.plugins import AGENTS, load_dotted_path

_NOT_THERE = "install its package, or name the folder of its file under `plugins`"


def load_agent(setup: KindSetup[AgentSection]) -> CrawlerAgent:
    """Return a new agent of a source. Raises `UserError` if it cannot be made."""
    made = load_class(setup)
    try:
        return made()
    except Exception as error:  # the edge to the user's class: one line is worth more than its traceback
        raise UserError(f"{_place(setup)} cannot be made: {type(error).__name__}: {error}") from error


def load_class(setup: KindSetup[AgentSection]) -> type[CrawlerAgent]:
    """Return the class of the agent of a source. Raises `UserError` if it is none, or cannot be loaded."""
    path, place = setup.options.spider_class, _place(setup)
    made = (
        load_dotted_path(path, place, setup.options.plugins, instead=_NOT_THERE)
        if "." in path
        else AGENTS.load(path)
    )
    if not (isinstance(made, type) and issubclass(made, CrawlerAgent)):
        raise UserError(f"{place} has to be a subclass of ultracrawl.agents.CrawlerAgent")
    if made.fetch is CrawlerAgent.fetch:
        raise UserError(f"{place} has no `fetch`; write that method: it returns the next document")
    return made


def _place(setup: KindSetup[AgentSection]) -> str:
    return f"source {setup.source.name!r}: agent {setup.options.spider_class!r}"


def check_parameters(declared: Sequence[AgentParameter], setup: KindSetup[AgentSection]) -> None:
    """See that a source says what its agent needs, and nothing else. Raises `UserError`, which shows no value."""
    written = setup.options.parameters
    known = {one.name: one for one in declared}
    for name in written:
        if name not in known:
            which = (
                f"it has {format_names(sorted(known))}"
                if known
                else "it declares none in `parameters` of its class"
            )
            raise UserError(f"{_option(setup, name)}: the agent has no such parameter; {which}")
    for one in declared:
        if one.required and written.get(one.name) in (None, ""):
            told = f" ({one.description})" if one.description else ""
            raise UserError(f"{_option(setup, one.name)}: the agent needs it{told}")


def parameter_values(
    declared: Sequence[AgentParameter], setup: KindSetup[AgentSection]
) -> dict[str, ParameterValue]:
    """Return what an agent is opened with, secrets read. Raises `UserError`, which shows no value."""
    check_parameters(declared, setup)
    written = cast(Mapping[str, ParameterValue], setup.options.parameters)
    secret = {one.name for one in declared if one.secret}
    return {
        name: setup.secrets.read(SecretStr(value), _option(setup, name))
        if name in secret and isinstance(value, str)
        else value
        for name, value in written.items()
    }


def _option(setup: KindSetup[AgentSection], name: str) -> str:
    return f"source {setup.source.name!r}: parameters.{name}"
