"""Exports options of a source as properties of a `robot.conf`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import SecretStr

from ultracrawl.sources import DataSource, LimitsSection, Project
from ultracrawl.sources.dialects.portal_robot.properties import PROPERTIES, Property
from ultracrawl.sources.dialects.portal_robot.reader import default_agent

Properties = dict[str, object]
Omission = tuple[str, str, str]
"""Option, problem and advice for what cannot be expressed."""

EXPRESSED_OPTIONS = (
    *(prop.sets for prop in PROPERTIES.values() if prop.sets),
    "start_urls",
    "depth",
    "user_agent",
    "headers.From",
    "limits.max_size",
    "completion.programs",
    "completion.after",
    "ftp.email",
    "filters",
)
"""Options that can be expressed with any value."""


def properties_of(source: DataSource, project: Project) -> Properties:
    """Return the properties for the options of a source; None for properties to omit."""
    email = source.headers.get("From")
    filters = source.filters
    depth = source.depth if filters.depth is None else filters.depth
    size = source.limits.max_size
    programs = source.completion.programs or filters.programs
    return {
        **{prop.name: _written(prop, source) for prop in PROPERTIES.values() if prop.sets},
        "csid": filters.csid or f"x-catalog://localhost:80/{source.name}",
        "depth": -1 if depth is None else depth,
        "email": email,
        "user-agent": _agent(source.user_agent, email),
        "max-filesize-kb": max(1, size // 1024) if size != LimitsSection().max_size else None,
        "bindir": str(programs) if programs else None,
        "index-after-ngenerated": max(1, round((project.index.every or 0) / 60)),
        **access_of(source)[0],
    }


def _written(prop: Property, source: DataSource) -> object:
    """Return the value of a property for its option, None if it cannot be expressed."""
    section, _, option = prop.sets.partition(".")
    group = getattr(source, section)
    value: Any = group.get(option) if isinstance(group, Mapping) else getattr(group, option)
    if isinstance(value, tuple):
        return shlex.join(value) or None
    if prop.kind == "number":
        return value if isinstance(value, int) else None
    return float(value) if prop.kind == "seconds" else value


def _agent(agent: str, email: str | None) -> str | None:
    name = agent.removesuffix(f" ({email})") if email else agent
    return None if name == default_agent() else name


def access_of(source: DataSource) -> tuple[Properties, list[Omission]]:
    """Return user, password and proxy as properties, and omissions: a robot has only one of each."""
    properties: Properties = {}
    left: list[Omission] = []
    accounts = {
        (account.user, _text(account.password), bool(account.url))
        for account in source.authentication.values()
    }
    accounts |= {(account.user, _text(account.password), True) for account in source.ftp.accounts.values()}
    if len(accounts) == 1 and next(iter(accounts))[2]:
        ((properties["username"], properties["password"], _),) = accounts
    elif accounts:
        left.append(("authentication", "several users cannot be converted", "keep them in a YAML definition"))
    servers = list(source.proxy.servers.values())
    if len(servers) == 1 and not servers[0].user:
        properties |= {"auto-proxy": str(servers[0].url), "proxy-type": "manual"}
    elif servers:
        left.append(
            (
                "proxy",
                "several proxies, or one with a user, cannot be converted",
                "keep them in a YAML definition",
            )
        )
    return properties, left


def _text(secret: object) -> str:
    return secret.get_secret_value() if isinstance(secret, SecretStr) else str(secret)


def options_of(written: Mapping[str, object], place: str = "") -> Iterator[str]:
    """Yield the dotted names of the options that a definition sets."""
    for name, value in written.items():
        path = f"{place}{name}"
        if isinstance(value, Mapping) and value and not path.startswith(_MAPPINGS):
            yield from options_of(value, f"{path}.")
        else:
            yield path


_MAPPINGS = (
    "boundary.",
    "attributes",
    "authentication",
    "ftp.accounts",
    "proxy.servers",
    "extract",
    "post_payload",
)
"""Prefixes below which names are user-defined, or not distinguished here."""
