"""Parsing of robots.txt: lines, groups, and the groups that apply to a robot (RFC 9309 2.1 to 2.5)."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterable, Iterator

from ultracrawl.dataclass import dataclass, field

PARSED_BYTES = 500 * 1024
"""Maximum number of bytes parsed; RFC 9309 section 2.5 requires at least this."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_TAG = re.compile(
    r"</?(?:html|head|title|meta|link|body|main|pre|code|tt|p|br|hr|div|span|font|center|a|b|i|em|strong|h[1-6]|table"
    r"|tbody|tr|td|ul|ol|li)(?:[\s/][^<>]*)?>|<!doctype[^<>]*>",
    re.IGNORECASE,
)
_LINE_END = re.compile(r"\r\n|\n|\r")
_UNDECODABLE = re.compile("[\udc80-\udcff]")
_MAX_DIRECTIVE_WORDS = 2
"""Maximum number of words of a directive name, for lines without a colon."""

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
"""Directives by name, including common misspellings."""


@dataclass(frozen=True, slots=True)
class RobotsLine:
    """A parsed line: its number (from 1), the normalised directive name and the value."""

    number: int
    directive: str
    value: str


@dataclass(slots=True)
class RobotsGroup:
    """The lines for some robots, and their `User-agent` names in lower case with single blanks."""

    agents: list[str]
    lines: list[RobotsLine] = field(default_factory=list)


def decode_robots(body: bytes) -> str:
    """Decode a file, cut at `PARSED_BYTES`; bytes that are not UTF-8 become percent escapes."""
    parsed = body[:PARSED_BYTES]
    if len(body) > PARSED_BYTES:
        parsed = parsed[: max(parsed.rfind(b"\n"), parsed.rfind(b"\r")) + 1]
    for bom, encoding in _BOMS:
        if parsed.startswith(bom):
            return _decode(parsed[len(bom) :], encoding)
    return _decode(parsed, "utf-8")


def _decode(body: bytes, encoding: str) -> str:
    if encoding != "utf-8":
        return body.decode(encoding, "replace")
    text = body.decode(encoding, "surrogateescape")
    return _UNDECODABLE.sub(lambda match: f"%{ord(match[0]) - 0xDC00:02X}", text)


def read_lines(text: str) -> Iterator[RobotsLine]:
    """Yield the parsed lines; comments, blank lines and unknown directives are skipped.

    HTML tags end a line, because some editors wrap the file in a page.
    """
    is_html = "<" in text and _TAG.search(text) is not None
    for number, raw_line in enumerate(_LINE_END.split(text), 1):
        for raw in map(html.unescape, _TAG.split(raw_line)) if is_html else (raw_line,):
            line = raw.partition("#")[0].strip()
            if line and (parsed := _split(line)):
                yield RobotsLine(number, *parsed)


def _split(line: str) -> tuple[str, str] | None:
    name, colon, value = line.partition(":")
    if colon and (directive := _DIRECTIVES.get(" ".join(name.lower().split()))):
        return directive, value.strip()
    if colon and (not value or value[0].isspace()):
        return None
    words = line.split()
    for count in range(1, _MAX_DIRECTIVE_WORDS + 1):
        if directive := _DIRECTIVES.get(" ".join(words[:count]).lower()):
            return directive, " ".join(words[count:])
    return None


def read_groups(lines: Iterable[RobotsLine]) -> list[RobotsGroup]:
    """Group Allow and Disallow lines: a `User-agent` line after one of them starts a new group.

    Other lines neither end nor start a group (RFC 9309 section 2.2.4).
    """
    return _groups(line for line in lines if line.directive in _RULES or line.directive == _AGENT)


def read_extension_groups(lines: Iterable[RobotsLine]) -> list[RobotsGroup]:
    """Group the other lines of robots (crawl delay, ...) by the `User-agent` lines directly above them."""
    groups = _groups(line for line in lines if line.directive not in _SITE_WIDE)
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
    """Return a robot's name as groups use it: lower case, single blanks, without version and asterisk.

    In a User-Agent header, the name is the one after `(compatible;`, else the first product.
    """
    compatible = _COMPATIBLE.search(name)
    product = compatible[1] if compatible else name
    return " ".join(_VERSION.sub("", product.strip()).lower().replace("*", "").split())


def groups_for(groups: Iterable[RobotsGroup], name: str) -> list[RobotsGroup]:
    """Return the groups that apply to the robot `name` (from `robot_name`), in file order.

    These are all groups of the longest matching agent; if none matches, all groups of `*`. An agent matches
    if it is the name, or the name up to a hyphen (`news` matches `news-images` if nothing is more specific).
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
    agent_name = agent.replace("*", "").strip()
    for candidate in (agent_name, _VERSION.sub("", agent_name), _leading_token(agent_name)):
        if candidate and _matches(candidate, name):
            return 1 + len(candidate)
    return 0


def _leading_token(agent: str) -> str:
    token = _TOKEN.match(agent)
    return token[0] if token else ""


def _matches(candidate: str, name: str) -> bool:
    return candidate == name or (name.startswith(candidate) and name[len(candidate)] == "-")
