"""From what a source says of its agent to the class and the values of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from pydantic import SecretStr

from ultracrawl.agents.agent.crawler_agent import AgentParameter, CrawlerAgent, ParameterValue
from ultracrawl.agents.agent.section import AgentSection
from ultracrawl.agents.port import KindSetup
from ultracrawl.errors import UserError
from ultracrawl.plugins import AGENTS, load_own
from ultracrawl.sources.mistakes import listed

_NOT_THERE = "install its package, or name the folder of its file under `plugins`"


def load_agent(setup: KindSetup[AgentSection]) -> CrawlerAgent:
    """Return a new agent of a source. Raises `UserError` if it cannot be made."""
    place = f"source {setup.source.name!r}: agent {setup.options.spider_class!r}"
    path = setup.options.spider_class
    made = (
        load_own(path, place, setup.options.plugins, instead=_NOT_THERE) if "." in path else AGENTS.load(path)
    )
    if not (isinstance(made, type) and issubclass(made, CrawlerAgent)):
        raise UserError(f"{place} has to be a subclass of ultracrawl.agents.CrawlerAgent")
    if made.fetch is CrawlerAgent.fetch:
        raise UserError(f"{place} has no `fetch`; write that method: it returns the next document")
    try:
        return made()
    except Exception as error:  # the edge to the user's class: one line is worth more than its traceback
        raise UserError(f"{place} cannot be made: {type(error).__name__}: {error}") from error


def parameter_values(
    declared: Sequence[AgentParameter], setup: KindSetup[AgentSection]
) -> dict[str, ParameterValue]:
    """Return what an agent is opened with, secrets read. Raises `UserError`, which shows no value."""
    written = cast(Mapping[str, ParameterValue], setup.options.parameters)
    place = f"source {setup.source.name!r}: parameters"
    known = {one.name: one for one in declared}
    for name in written:
        if name not in known:
            which = (
                f"it has {listed(sorted(known))}"
                if known
                else "it declares none in `parameters` of its class"
            )
            raise UserError(f"{place}.{name}: the agent has no such parameter; {which}")
    for one in declared:
        if one.required and written.get(one.name) in (None, ""):
            told = f" ({one.description})" if one.description else ""
            raise UserError(f"{place}.{one.name}: the agent needs it{told}")
    return {
        name: setup.secrets.read(SecretStr(value), f"{place}.{name}")
        if known[name].secret and isinstance(value, str)
        else value
        for name, value in written.items()
    }
