"""The options of a source as properties of a `robot.conf`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from pydantic import SecretStr

from ultracrawl.sources import DataSource, LimitsSection, Project
from ultracrawl.sources.dialects.portal_robot.reader import default_agent

Properties = dict[str, object]
Left = tuple[str, str, str]
"""Option, problem and advice of what cannot be said."""

SAID = (
    "start_urls",
    "depth",
    "user_agent",
    "headers.Referer",
    "headers.From",
    "robots.obey",
    "politeness.delay",
    "politeness.concurrency",
    "limits.timeout",
    "limits.max_size",
    "conversion.timeout",
    "completion.command",
    "completion.programs",
    "completion.then",
    "log.robot",
    "settings.CONCURRENT_REQUESTS",
    "ftp.email",
    "filters",
)
"""Options that are said whatever their value."""


def properties_of(source: DataSource, project: Project) -> Properties:
    """Return the properties that say what the options of a source say; None for those that are left out."""
    email = source.headers.get("From")
    filters, completion = source.filters, source.completion
    depth = source.depth if filters.depth is None else filters.depth
    size = source.limits.max_size
    programs = completion.programs or filters.programs
    at_once = source.settings.get("CONCURRENT_REQUESTS")
    return {
        "csid": filters.csid or f"x-catalog://localhost:80/{source.name}",
        "depth": -1 if depth is None else depth,
        "email": email,
        "user-agent": _agent(source.user_agent, email),
        "referer": source.headers.get("Referer"),
        "enable-robots-txt": source.robots.obey,
        "server-delay": float(source.politeness.delay),
        "site-max-concurrent": source.politeness.concurrency,
        "max-concurrent": at_once if isinstance(at_once, int) else None,
        "connect-timeout": float(source.limits.timeout),
        "max-filesize-kb": max(1, size // 1024) if size != LimitsSection().max_size else None,
        "convert-timeout": float(source.conversion.timeout),
        "cmd-hook": shlex.join(completion.command) if completion.command else None,
        "bindir": str(programs) if programs else None,
        "onCompletion": completion.then,
        "loglevel": source.log.robot,
        "index-after-ngenerated": max(1, round((project.index.every or 0) / 60)),
        "enable-ip": filters.addresses,
        "smart-host-heuristics": filters.fold_www,
        "max-classifications": filters.max_classifications,
        **access_of(source)[0],
    }


def _agent(agent: str, email: str | None) -> str | None:
    name = agent.removesuffix(f" ({email})") if email else agent
    return None if name == default_agent() else name


def access_of(source: DataSource) -> tuple[Properties, list[Left]]:
    """Return user, password and proxy as properties, and what of them is left out: a robot has one of each."""
    properties: Properties = {}
    left: list[Left] = []
    accounts = {(one.user, _text(one.password), bool(one.url)) for one in source.authentication.values()}
    accounts |= {(one.user, _text(one.password), True) for one in source.ftp.accounts.values()}
    if len(accounts) == 1 and next(iter(accounts))[2]:
        ((properties["username"], properties["password"], _),) = accounts
    elif accounts:
        left.append(("authentication", "several users cannot be said", "keep them in a YAML definition"))
    servers = list(source.proxy.servers.values())
    if len(servers) == 1 and not servers[0].user:
        properties |= {"auto-proxy": str(servers[0].url), "proxy-type": "manual"}
    elif servers:
        left.append(
            ("proxy", "several proxies, or one with a user, cannot be said", "keep them in a YAML definition")
        )
    return properties, left


def _text(secret: object) -> str:
    return secret.get_secret_value() if isinstance(secret, SecretStr) else str(secret)


def options_of(written: Mapping[str, object], place: str = "") -> Iterator[str]:
    """Yield the names of options that a definition sets, with dots between sections and their options."""
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
"""Where names are those of a user and not of options, or one is as good as another here."""
