"""Loads the class of an agent, and checks and resolves its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import SecretStr

from ultracrawl.agents.agent.crawler_agent import AgentParameter, CrawlerAgent, ParameterValue
from ultracrawl.agents.agent.section import AgentSection
from ultracrawl.agents.port import KindSetup
from ultracrawl.errors import UserError
from ultracrawl.sources.mistakes import format_names
from ultracrawl.system.plugins import AGENTS, PluginError, load_dotted_path

_MISSING_ADVICE = "install its package, or name the folder of its file under `plugins`"


def load_agent(setup: KindSetup[AgentSection]) -> CrawlerAgent:
    """Return a new agent of a source. Raises `UserError` if its class cannot be loaded or instantiated."""
    agent_class = load_class(setup)
    try:
        return agent_class()
    except Exception as error:  # user code: one line instead of a traceback
        raise UserError(f"{_place(setup)} cannot be created: {type(error).__name__}: {error}") from error


def load_class(setup: KindSetup[AgentSection]) -> type[CrawlerAgent]:
    """Return the class of the agent of a source. Raises `UserError` if it cannot be loaded or is not an agent."""
    path, place = setup.options.spider_class, _place(setup)
    loaded = (
        load_dotted_path(path, place, setup.options.plugins, instead=_MISSING_ADVICE)
        if "." in path
        else AGENTS.load(path)
    )
    if not (isinstance(loaded, type) and issubclass(loaded, CrawlerAgent)):
        raise PluginError(
            f"{place} is no subclass of ultracrawl.agents.CrawlerAgent", "derive it from that class"
        )
    if loaded.fetch is CrawlerAgent.fetch:
        raise UserError(f"{place} has no `fetch`; write that method: it returns the next document")
    return loaded


def _place(setup: KindSetup[AgentSection]) -> str:
    return f"source {setup.source.name!r}: agent {setup.options.spider_class!r}"


def check_parameters(declared: Sequence[AgentParameter], setup: KindSetup[AgentSection]) -> None:
    """Check that all parameters are declared, and no required one is missing.

    Raises `UserError`, which does not show values.
    """
    values = setup.options.parameters
    known = {parameter.name for parameter in declared}
    for name in values:
        if name not in known:
            advice = (
                f"it has {format_names(sorted(known))}"
                if known
                else "it declares none in `parameters` of its class"
            )
            raise UserError(f"{_option(setup, name)}: the agent has no such parameter; {advice}")
    for parameter in declared:
        if parameter.required and values.get(parameter.name) in (None, ""):
            description = f" ({parameter.description})" if parameter.description else ""
            raise UserError(f"{_option(setup, parameter.name)}: the agent needs it{description}")


def parameter_values(
    declared: Sequence[AgentParameter], setup: KindSetup[AgentSection]
) -> dict[str, ParameterValue]:
    """Return the checked parameters with secrets resolved. Raises `UserError`, which does not show values."""
    check_parameters(declared, setup)
    values = cast(Mapping[str, ParameterValue], setup.options.parameters)
    secret = {parameter.name for parameter in declared if parameter.secret}
    return {
        name: setup.secrets.read(SecretStr(value), _option(setup, name))
        if name in secret and isinstance(value, str)
        else value
        for name, value in values.items()
    }


def _option(setup: KindSetup[AgentSection], name: str) -> str:
    return f"source {setup.source.name!r}: parameters.{name}"
