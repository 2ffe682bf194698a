"""Reads `filterrules.conf` (filter rules and sites) and `classification.conf` (classification rules)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.rules.filters.classification import ClassificationRule
from ultracrawl.rules.filters.function import SWITCHES, FilterError
from ultracrawl.rules.filters.matching import By, Match
from ultracrawl.rules.filters.resource import (
    BEFORE_FETCH,
    HEADER_SOURCES,
    LOCAL_HOST,
    LOCAL_SCHEME,
    source_name,
)
from ultracrawl.rules.filters.rules import (
    PROTOCOLS,
    UNLIMITED,
    FilterRule,
    SiteDefinition,
    SiteHost,
    SiteKind,
    SiteRules,
    StartingPoint,
    Use,
    implicit_sites,
)
from ultracrawl.sources.filter_files.layout import ALL_WORDS, BLOCKS, is_whole_robot, split_start
from ultracrawl.sources.filter_files.lexer import Block, ConfigText, Directive, read_text

RULES_FILE = "filterrules.conf"
CLASSIFICATION_FILE = "classification.conf"
RULE_BLOCKS = frozenset({"filterrule", "site"})
SOURCES = ("url", "protocol", "host", "path", "type")
"""Sources of filter rules; `MIME type` is an alias of `type`."""

_RULE_KEYS = ("name", "title", "enable", "default", "behavior")
_SITE_KEYS = ("name", "kind", "enable", "database")
_LINE_KEYS = {
    "match": ("source", "by", "string"),
    "host": ("name", "port", "protocol"),
    "start": ("url", "depth", "enable"),
    "use": ("rule", "enable"),
    "classify": ("source", "by", "string", "category"),
}
_HOST_AND_PORT = re.compile(r"(\[[^\]]+\]|[^:]+):([1-9][0-9]{0,4})")
_NO_HOST = re.compile(r"[\s/?#@]")
_SOURCE_ALIASES = {"mime type": "type"}
_BEHAVIORS = {"exclude": False, "include": True}


@dataclass(slots=True)
class RulesFile:
    """The rules and sites of a `filterrules.conf`, in order."""

    rules: list[FilterRule] = field(default_factory=list)
    sites: list[SiteDefinition] = field(default_factory=list)

    def compiled(
        self, *, fold_www: bool = False, depth: int = UNLIMITED, starts: Iterable[str] = ()
    ) -> SiteRules:
        """Return the compiled rules; for `fold_www` and `depth` see `SiteRules`. Raises `FilterError`.

        Hosts of `starts` that no site names get a site of their own, with the default rules.
        """
        uses = tuple(Use(rule.name) for rule in self.rules if rule.default)
        more = [replace(site, uses=uses) for site in implicit_sites(self.sites, starts)]
        return SiteRules([*self.sites, *more], self.rules, fold_www=fold_www, depth=depth)

    def starting_points(self) -> list[StartingPoint]:
        """Return the enabled starting points of the enabled sites."""
        return [start for site in self.sites if site.enabled for start in site.starts if start.enabled]


class _Reader:
    """Reads and checks values of headers and directives; mistakes are added to the findings."""

    def __init__(self, text: ConfigText) -> None:
        self.text = text

    def wrong(self, line: int, key: str, problem: str, instead: str) -> None:
        self.text.add_finding(line, key, problem, instead)

    def known(self, item: Block | Directive, names: Iterable[str], of: str) -> None:
        allowed = list(names)
        for pair in item.parameters:
            if pair.name not in allowed:
                near = get_close_matches(pair.name, allowed, 1)
                instead = f"did you mean `{near[0]}`" if near else f"it takes {', '.join(allowed)}"
                self.wrong(pair.line, pair.name, f"{of} takes no `{pair.name}`", instead)

    def needed(self, item: Block | Directive, name: str, of: str) -> str:
        value = item.get(name)
        if not value:
            self.wrong(item.line, name, f"{of} lacks {name}", f"add {name}=VALUE")
        return value or ""

    def switch(self, item: Block | Directive, name: str = "enable", *, default: bool = True) -> bool:
        value = item.get(name)
        if value is None:
            return default
        if value.lower() not in SWITCHES:
            self.wrong(item.line, name, f"`{value}` is not on or off", "write on or off")
        return SWITCHES.get(value.lower(), default)

    def number(self, item: Block | Directive, name: str, least: int, most: int = 10**9) -> int | None:
        value = item.get(name)
        if value is None:
            return None
        digits = value.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) < 10 and least <= int(value) <= most:
            return int(value)
        bounds = f"{least} or more" if most == 10**9 else f"{least} to {most}"
        self.wrong(item.line, name, f"`{value}` is not a whole number, {bounds}", "write a number")
        return None

    def choice(self, item: Block | Directive, name: str, choices: Iterable[str], default: str) -> str:
        value = (item.get(name) or default).lower()
        if value in choices:
            return value
        self.wrong(item.line, name, f"`{value}` is none of {', '.join(choices)}", "write one of them")
        return default


def read_rules(text: str, file: str = RULES_FILE) -> tuple[RulesFile, ConfigText]:
    """Read a `filterrules.conf`; mistakes are in the findings of the text."""
    read = read_text(text, file, ALL_WORDS)
    reader, result = _Reader(read), RulesFile()
    whole = is_whole_robot(read)
    for directive in () if whole else read.directives:
        reader.wrong(
            directive.line,
            directive.word or "line",
            "is outside of every block",
            "move it into its <Site> or <FilterRule>",
        )
    names: set[tuple[str, str]] = set()
    for block in read.blocks:
        name = block.get("name") or ""
        if (block.kind, name) in names and block.kind in RULE_BLOCKS:
            reader.wrong(block.line, name, f"a second <{block.kind}> of this name", "give it another name")
        names.add((block.kind, name))
        if block.kind == "filterrule":
            result.rules.append(_rule(block, reader))
        elif block.kind == "site":
            result.sites.append(_site(block, reader))
        elif not (whole and block.kind in BLOCKS):
            reader.wrong(
                block.line, block.kind, f"there is no <{block.kind}>", "write <FilterRule ...> or <Site ...>"
            )
    _check_uses(result, read)
    return result, read


def _rule(block: Block, reader: _Reader) -> FilterRule:
    reader.known(block, _RULE_KEYS, "a filter rule")
    matches = tuple(
        match
        for directive in _lines(block, ("match",), reader)
        if (match := _match(directive, reader, SOURCES, "match")) is not None
    )
    behavior = reader.choice(block, "behavior", _BEHAVIORS, "exclude")
    return FilterRule(
        reader.needed(block, "name", "a filter rule"),
        matches,
        block.get("title") or "",
        reader.switch(block),
        reader.switch(block, "default"),
        _BEHAVIORS[behavior],
    )


def _lines(block: Block, words: tuple[str, ...], reader: _Reader) -> Iterable[Directive]:
    for directive in block.directives:
        word = directive.word.lower()
        if word not in words:
            problem = f"`{directive.word or 'a line without a word'}` is not allowed in <{block.kind}>"
            reader.wrong(directive.line, directive.word or "line", problem, f"it takes {', '.join(words)}")
            continue
        reader.known(directive, _LINE_KEYS[word], directive.word)
        yield directive


def _match(directive: Directive, reader: _Reader, sources: Iterable[str], of: str) -> Match | None:
    source = (directive.get("source") or "url").lower()
    source = _SOURCE_ALIASES.get(source, source)
    allowed = list(sources)
    if allowed and source not in allowed:
        reader.wrong(
            directive.line,
            "source",
            f"`{source}` is not a source of {of}",
            f"write one of {', '.join(allowed)}",
        )
        return None
    by = By(reader.choice(directive, "by", [kind.value for kind in By], By.IS.value))
    if directive.get("string") is None:
        reader.wrong(directive.line, "string", f"{directive.word} lacks string", "add string=TEXT")
        return None
    match = Match(source, by, directive.get("string") or "", directive.line)
    try:
        match.compile()
    except FilterError as error:
        reader.wrong(directive.line, "string", error.problem, error.instead)
        return None
    return match


def _check_source(match: Match | None, reader: _Reader) -> None:
    """Warn about a source of a classification that looks like a misspelt one; it may be a field, too."""
    known = (*BEFORE_FETCH, *HEADER_SOURCES, "type")
    if match is None or source_name(match.source) in known:
        return
    near = get_close_matches(match.source, known, 1, 0.75)
    if near:
        problem = f"`{match.source}` is no source, so it is a field of the description"
        reader.text.add_finding(match.line, "source", problem, f"did you mean `{near[0]}`", fatal=False)


def _site(block: Block, reader: _Reader) -> SiteDefinition:
    reader.known(block, _SITE_KEYS, "a site")
    hosts: list[SiteHost] = []
    starts: list[StartingPoint] = []
    uses: list[Use] = []
    for directive in _lines(block, ("host", "start", "use"), reader):
        match directive.word.lower():
            case "host":
                hosts.append(_host(directive, reader))
            case "start":
                starts.append(_start(directive, reader))
            case _:
                uses.append(Use(reader.needed(directive, "rule", "Use"), reader.switch(directive)))
    _check_reachable_folders(hosts, starts, block, reader)
    name = reader.needed(block, "name", "a site")
    kind = SiteKind(reader.choice(block, "kind", [kind.value for kind in SiteKind], SiteKind.SERVER.value))
    return SiteDefinition(
        name,
        kind,
        reader.switch(block),
        tuple(hosts) or _own_hosts(name, starts, block, reader),
        tuple(starts) or (StartingPoint(f"http://{name}/"),),
        tuple(uses),
    )


def _own_hosts(
    name: str, starts: Iterable[StartingPoint], block: Block, reader: _Reader
) -> tuple[SiteHost, ...]:
    """Return the hosts of a site that names none: its name, and this machine if it has local starting points."""
    local = any(split_start(start.url) and urlsplit(start.url).scheme == LOCAL_SCHEME for start in starts)
    own = _named_host(name, block.line, reader)
    return (own, SiteHost(LOCAL_HOST, protocols=(LOCAL_SCHEME,))) if local else (own,)


def _check_reachable_folders(
    hosts: Iterable[SiteHost], starts: Iterable[StartingPoint], block: Block, reader: _Reader
) -> None:
    """Warn about local starting points whose files no host of the site includes."""
    named = list(hosts)
    folders = [start for start in starts if urlsplit(start.url).scheme == LOCAL_SCHEME]
    if (
        named
        and folders
        and not any(host.name == LOCAL_HOST and LOCAL_SCHEME in host.protocols for host in named)
    ):
        problem = f"no host of the site accepts files, so that `{folders[0].url}` has no effect"
        instead = f"add `Host name={LOCAL_HOST} protocol={LOCAL_SCHEME}`"
        reader.text.add_finding(block.line, "protocol", problem, instead, fatal=False)


def _host(directive: Directive, reader: _Reader) -> SiteHost:
    named = directive.get("protocol")
    protocols = tuple(part.strip().lower() for part in named.split(",")) if named else PROTOCOLS
    for protocol in protocols:
        if protocol not in (*PROTOCOLS, LOCAL_SCHEME):
            reader.wrong(
                directive.line,
                "protocol",
                f"`{protocol}` is not a protocol",
                "write http, https, ftp or file",
            )
    port = reader.number(directive, "port", 1, 65535)
    host = _named_host(reader.needed(directive, "name", "Host"), directive.line, reader)
    return SiteHost(host.name, port or host.port, protocols)


def _named_host(name: str, line: int, reader: _Reader) -> SiteHost:
    """Return the host for a name, which may end with a port."""
    if _NO_HOST.search(name):
        reader.wrong(line, "name", f"`{name}` is not a host name", "write it like www.example.com")
    found = _HOST_AND_PORT.fullmatch(name)
    host, port = found.groups() if found else (name, None)
    return SiteHost(host.lower().strip("[]"), int(port) if port else None)


def _start(directive: Directive, reader: _Reader) -> StartingPoint:
    url = reader.needed(directive, "url", "Start")
    if url and split_start(url) is None:
        problem = f"`{url}` is not a whole URL of {', '.join((*PROTOCOLS, LOCAL_SCHEME))}"
        reader.wrong(directive.line, "url", problem, "write for example http://www.example.com/")
        url = ""
    return StartingPoint(url, reader.number(directive, "depth", UNLIMITED), reader.switch(directive))


def _check_uses(result: RulesFile, read: ConfigText) -> None:
    known: Mapping[str, FilterRule] = {rule.name: rule for rule in result.rules}
    lines = {
        (block.get("name"), directive.get("rule")): directive.line
        for block in read.blocks
        if block.kind == "site"
        for directive in block.directives
    }
    for site in result.sites:
        for use in site.uses:
            if use.rule and use.rule not in known:
                near = get_close_matches(use.rule, known, 1)
                instead = f"did you mean `{near[0]}`" if near else "define it, or remove the line"
                line = lines.get((site.name, use.rule), 0)
                read.add_finding(line, "rule", f"there is no filter rule `{use.rule}`", instead)


def read_classification(
    text: str, file: str = CLASSIFICATION_FILE
) -> tuple[list[ClassificationRule], ConfigText]:
    """Read a `classification.conf`; mistakes are in the findings of the text."""
    read = read_text(text, file, ("Classify",))
    reader, rules = _Reader(read), []
    for block in read.blocks:
        reader.wrong(block.line, block.kind, "there are no blocks in this file", "write lines `Classify ...`")
    for directive in read.directives:
        if directive.word.lower() != "classify":
            reader.wrong(
                directive.line,
                directive.word or "line",
                "no classification rule",
                "write `Classify source=...`",
            )
            continue
        reader.known(directive, _LINE_KEYS["classify"], "Classify")
        match = _match(directive, reader, (), "classification")
        _check_source(match, reader)
        category = reader.needed(directive, "category", "Classify")
        if match is not None and category:
            rules.append(ClassificationRule(match, category))
    return rules, read
