"""The lines of a robots.txt, their groups, and which of them address a robot (RFC 9309 2.1 to 2.5)."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

PARSED_BYTES = 500 * 1024
"""How much of a file is read; RFC 9309 section 2.5 asks for at least this."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_TAG = re.compile(
    r"</?(?:html|head|title|meta|link|body|main|pre|code|tt|p|br|hr|div|span|font|center|a|b|i|em|strong|h[1-6]|table"
    r"|tbody|tr|td|ul|ol|li)(?:[\s/][^<>]*)?>|<!doctype[^<>]*>",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_LONGEST_DIRECTIVE = 2
"""Words in the longest directive name, for lines without a colon."""

_AGENT = "user-agent"
_RULES = frozenset({"allow", "disallow"})
_SITE_WIDE = frozenset({"sitemap"})

_DIRECTIVES = {
    "user-agent": "user-agent",
    "useragent": "user-agent",
    "user agent": "user-agent",
    "disallow": "disallow",
    "dissallow": "disallow",
    "dissalow": "disallow",
    "disalow": "disallow",
    "diasllow": "disallow",
    "disallaw": "disallow",
    "allow": "allow",
    "crawl-delay": "crawl-delay",
    "crawl delay": "crawl-delay",
    "crawldelay": "crawl-delay",
    "request-rate": "request-rate",
    "request rate": "request-rate",
    "content-signal": "content-signal",
    "sitemap": "sitemap",
    "sitemaps": "sitemap",
    "site-map": "sitemap",
}
"""Directive names with the misspellings that sites are known to use."""


@dataclass(frozen=True, slots=True)
class RobotsLine:
    """One understood line: its number (from 1), the directive's proper name and the value."""

    number: int
    directive: str
    value: str


@dataclass(slots=True)
class RobotsGroup:
    """The lines for some robots, by the names of their `User-agent` lines in lower case, blanks folded."""

    agents: list[str]
    lines: list[RobotsLine] = field(default_factory=list)


def decode_robots(body: bytes) -> str:
    """Return the text of a file, cut at `PARSED_BYTES`; bytes that are not UTF-8 become percent escapes."""
    whole = body[:PARSED_BYTES]
    if len(body) > PARSED_BYTES:
        whole = whole[: max(whole.rfind(b"\n"), whole.rfind(b"\r")) + 1]
    for mark, encoding in _BOMS:
        if whole.startswith(mark):
            return _escape(whole[len(mark) :], encoding)
    return _escape(whole, "utf-8")


def _escape(body: bytes, encoding: str) -> str:
    if encoding != "utf-8":
        return body.decode(encoding, "replace")
    text = body.decode(encoding, "surrogateescape")
    return _UNDECODABLE.sub(lambda found: f"%{ord(found[0]) - 0xDC00:02X}", text)


def read_lines(text: str) -> Iterator[RobotsLine]:
    """Yield the understood lines; comments, blank lines and unknown directives are passed over.

    Tags of HTML end a line: some editors wrap the file in a page, and its rules are meant all the same.
    """
    wrapped = "<" in text and _TAG.search(text) is not None
    for number, whole in enumerate(_LINE_END.split(text), 1):
        for raw in map(html.unescape, _TAG.split(whole)) if wrapped else (whole,):
            line = raw.partition("#")[0].strip()
            if line and (found := _split(line)):
                yield RobotsLine(number, *found)


def _split(line: str) -> tuple[str, str] | None:
    name, colon, value = line.partition(":")
    if colon and (directive := _DIRECTIVES.get(" ".join(name.lower().split()))):
        return directive, value.strip()
    if colon and (not value or value[0].isspace()):
        return None
    words = line.split()
    for count in range(1, _LONGEST_DIRECTIVE + 1):
        if directive := _DIRECTIVES.get(" ".join(words[:count]).lower()):
            return directive, " ".join(words[count:])
    return None


def read_groups(lines: Iterable[RobotsLine]) -> list[RobotsGroup]:
    """Sort Allow and Disallow lines into groups: a `User-agent` line after one of them opens a new group.

    Whatever stands between closes and opens nothing (RFC 9309 section 2.2.4).
    """
    return _groups(line for line in lines if line.directive in _RULES or line.directive == _AGENT)


def read_remarks(lines: Iterable[RobotsLine]) -> list[RobotsGroup]:
    """Sort the other lines under the `User-agent` lines right above: a delay is for the robots listed so far."""
    every = (line for line in lines if line.directive not in _SITE_WIDE)
    groups = _groups(every)
    for group in groups:
        group.lines = [line for line in group.lines if line.directive not in _RULES]
    return groups


def _groups(lines: Iterable[RobotsLine]) -> list[RobotsGroup]:
    groups: list[RobotsGroup] = []
    collecting_agents = False
    for line in lines:
        if line.directive == _AGENT:
            if not collecting_agents:
                groups.append(RobotsGroup([]))
            collecting_agents = True
            groups[-1].agents.append(" ".join(line.value.lower().split()))
        elif groups:
            collecting_agents = False
            groups[-1].lines.append(line)
    return groups


_VERSION = re.compile(r"[/\s]+v?[\d.]+$|/.*$", re.DOTALL)
_COMPATIBLE = re.compile(r"\(compatible;\s*([^;/)]+)", re.IGNORECASE)
_TOKEN = re.compile(r"[a-z0-9_-]*")
_EVERY_ROBOT = re.compile(r"\*(?:\s|$)")


def robot_name(name: str) -> str:
    """Return the name a group has to carry: lower case, blanks folded, without version and asterisk.

    A whole User-Agent header is accepted: the robot is the one behind `(compatible;`, else the first product.
    """
    header = _COMPATIBLE.search(name)
    spoken = header[1] if header else name
    return " ".join(_VERSION.sub("", spoken.strip()).lower().replace("*", "").split())


def groups_for(groups: Iterable[RobotsGroup], name: str) -> list[RobotsGroup]:
    """Return the groups that count for the robot `name` (from `robot_name`), in file order.

    All groups of the longest matching agent count together; without any, all groups of `*`. An agent matches
    if it is the name, or the name up to a hyphen (`news` addresses `news-images` if nothing is more exact).
    """
    best: list[RobotsGroup] = []
    best_score = 0
    for group in groups:
        score = max((_score(agent, name) for agent in group.agents), default=0)
        if score > best_score:
            best, best_score = [group], score
        elif score and score == best_score:
            best.append(group)
    return best


def _score(agent: str, name: str) -> int:
    if _EVERY_ROBOT.match(agent):
        return 1
    if not name:
        return 0
    spoken = agent.replace("*", "").strip()
    for candidate in (spoken, _VERSION.sub("", spoken), _leading_token(spoken)):
        if candidate and _addresses(candidate, name):
            return 1 + len(candidate)
    return 0


def _leading_token(agent: str) -> str:
    token = _TOKEN.match(agent)
    return token[0] if token else ""


def _addresses(candidate: str, name: str) -> bool:
    return candidate == name or (name.startswith(candidate) and name[len(candidate)] == "-")
