"""`robot.conf`: the operating properties of a robot, each with its default, its form and what it does here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from ultracrawl.rules.filters.rules import PROTOCOLS
from ultracrawl.sources.dialects.portal_robot.layout import ALL_WORDS, BLOCKS, split_url
from ultracrawl.sources.dialects.portal_robot.lexer import Block, ConfigText, Parameter, read_text

FILE = "robot.conf"
_YES, _NO = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})


class PropertyError(ValueError):
    """A value that a property does not take; the message says which it takes."""


def _text(value: str) -> str:
    return value


def _flag(value: str) -> bool:
    if value.lower() in _YES | _NO:
        return value.lower() in _YES
    raise PropertyError("true or false")


def _url(value: str) -> str:
    if split_url(value) is None:
        raise PropertyError("a whole URL, as http://www.example.com/")
    return value


def _start(value: str) -> str:
    parts = split_url(value)
    if parts is None or parts.scheme not in PROTOCOLS:
        raise PropertyError(f"a whole URL of {', '.join(PROTOCOLS)}")
    return value


def _number(least: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            number = least - 1
        if number < least or len(value) > 18:
            raise PropertyError(f"a whole number, {least} or more")
        return number

    return read


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise PropertyError("seconds, 0 or more")
    return seconds


def _log_level(value: str) -> int:
    if value not in "012345" or len(value) != 1:
        raise PropertyError("a number from 0 to 5")
    return int(value)


def _one_of(**meanings: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value.lower() not in meanings:
            raise PropertyError(" or ".join(meanings))
        return meanings[value.lower()]

    return read


@dataclass(frozen=True, slots=True)
class Property:
    """A property of `robot.conf`; `effect` says what it does here.

    `idle` properties are read and have no effect, and need none.
    """

    name: str
    read: Callable[[str], Any]
    default: Any
    effect: str
    idle: bool = False
    repeats: bool = False


def _idle(name: str, why: str, read: Callable[[str], Any] = _text, default: Any = None) -> Property:
    return Property(name, read, default, why, idle=True)


PROPERTIES: Mapping[str, Property] = {
    one.name: one
    for one in (
        Property("csid", _text, "", "source `csid`; names the source"),
        Property("auto-proxy", _url, None, "the proxy; an auto-configuration file is not run"),
        _idle("auto_serv", "kept; it has no known meaning"),
        Property("bindir", _text, None, "folder that goes ahead of PATH for programs that the robot runs"),
        Property(
            "cmd-hook", _text, None, "program that runs after a run that registered a description; no shell"
        ),
        Property("command-port", _number(1), None, "kept; `ultracrawl` commands need no port", idle=True),
        Property("connect-timeout", _seconds, 120.0, "seconds to wait for an answer"),
        Property("convert-timeout", _seconds, 600.0, "seconds for the conversion of one document"),
        Property(
            "depth", _number(-1), 10, "link steps from a starting point without a depth of its own; -1: all"
        ),
        Property("email", _text, "user@domain", "sent with the user agent, and as From"),
        Property("enable-ip", _flag, True, "source and field `IP`: the address of the host is looked up"),
        _idle("enable-rdm-probe", "no server is asked for descriptions of its own", _flag, False),
        Property("enable-robots-txt", _flag, True, "robots.txt and META robots are obeyed"),
        _idle("engine-concurrent", "there are no threads to make in advance", _number(1), 10),
        Property("enumeration-filter", _text, "enumeration-default", "the filter that finds URLs"),
        Property("generation-filter", _text, "generation-default", "the filter that makes descriptions"),
        Property(
            "index-after-ngenerated",
            _number(1),
            30,
            "minutes after which descriptions go to the index, at most",
        ),
        Property("loglevel", _log_level, 1, "how much the robot's log says, 0 to 5"),
        Property("max-concurrent", _number(1), 8, "retrievals at once"),
        Property("max-filesize-kb", _number(1), None, "largest file retrieved, in KB"),
        _idle("max-memory-per-url", "bodies are bounded by max-filesize-kb"),
        _idle("max-working", "waiting URLs are kept on disk", _number(1), 1024),
        Property(
            "onCompletion",
            _one_of(idle="idle", loop="loop", quit="quit", shutdown="quit"),
            "idle",
            "what a robot that `robot start` started does after a run: wait, run again, or end",
        ),
        Property(
            "password",
            _text,
            None,
            "password for HTTP authentication and FTP, on the sites of the robot only",
        ),
        Property(
            "proxy-loc",
            _one_of(server="server", file="file"),
            "server",
            "no auto-configuration file is run, wherever it lies",
            idle=True,
        ),
        Property(
            "proxy-type",
            _one_of(direct="direct", auto="auto", manual="manual"),
            "direct",
            "whether the proxy is used: `direct` is without it",
        ),
        Property("referer", _text, None, "sent as Referer"),
        _idle("register-user", "the index needs no account"),
        _idle("register-password", "the index needs no account"),
        Property("remote-access", _flag, False, "commands from other hosts are never taken", idle=True),
        Property("robot-state-dir", _text, None, "folder of the robot's state"),
        Property("server-delay", _seconds, 0.0, "seconds between the starts of two requests to a site"),
        Property("site-max-concurrent", _number(1), 2, "connections to one site at once"),
        Property("smart-host-heuristics", _flag, False, "www1, www23 … are taken for www, in URLs and sites"),
        _idle("tmpdir", "temporary files lie where the system wants them"),
        Property("user-agent", _text, None, "the User-Agent"),
        Property(
            "username", _text, "anonymous", "user for HTTP authentication and FTP on the sites of the robot"
        ),
        Property("start", _start, (), "a starting point, as older files have them", repeats=True),
        Property("max-classifications", _number(1), 10, "categories of one description"),
    )
}
"""All properties by name, with the defaults of the portal robot."""

ALIASES = {
    "max-connections": "max-concurrent",
    "site-max-connections": "site-max-concurrent",
    "command-timeout": "connect-timeout",
    "oncompletion": "onCompletion",
}


@dataclass(slots=True)
class RobotProperties:
    """The properties of one robot: those that were set, and where."""

    file: str
    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """Return a property, or its default."""
        return self.values.get(name, PROPERTIES[name].default)

    def is_set(self, name: str) -> bool:
        """Return whether the file says something of a property."""
        return name in self.values


def read_properties(text: str, file: str = FILE) -> tuple[RobotProperties, ConfigText]:
    """Read a `robot.conf`; what is wrong with it is in the findings of the text. Unknown properties are warnings."""
    read = read_text(text, file, ALL_WORDS)
    properties = RobotProperties(file)
    processes = [block for block in read.blocks if block.kind == "process"]
    if not processes:
        read.blame(
            0, "Process", "there is no <Process ...> block", "write <Process csid=... and its properties"
        )
    for block in read.blocks:
        if block.kind not in BLOCKS:
            problem = f"there is no <{block.kind}> in this file; it is ignored"
            read.blame(block.line, block.kind, problem, "remove it", fatal=False)
    for extra in processes[1:]:
        read.blame(extra.line, "Process", "a second <Process> block", "remove it")
    for block in processes[:1]:
        for stray in (one for one in block.directives if one.word):
            read.blame(stray.line, stray.word, "a stray line; it is ignored", "remove it", fatal=False)
        for pair in _pairs(block):
            _take(pair, properties, read)
    return properties, read


def _pairs(block: Block) -> list[Parameter]:
    return [*block.parameters, *(pair for one in block.directives for pair in one.parameters)]


def _take(pair: Parameter, properties: RobotProperties, read: ConfigText) -> None:
    name = ALIASES.get(pair.name, pair.name)
    known = PROPERTIES.get(name)
    if known is None:
        near = get_close_matches(name, PROPERTIES, 1)
        instead = f"did you mean `{near[0]}`" if near else "remove it"
        read.blame(pair.line, pair.name, "an unknown property; it is ignored", instead, fatal=False)
        return
    try:
        value = known.read(pair.value)
    except PropertyError as error:
        read.blame(pair.line, pair.name, f"`{pair.value}` is not {error}", f"write {error}")
        return
    if known.repeats:
        properties.values[name] = (*properties[name], value)
    elif name in properties.values:
        read.blame(pair.line, pair.name, "given twice; the first counts", "remove one of them", fatal=False)
        return
    else:
        properties.values[name] = value
    properties.lines.setdefault(name, pair.line)
