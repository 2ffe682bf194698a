"""Path rules and port rules compiled per host, and the list of excluded extensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from ultracrawl.rules.boundary.matcher import PrefixTable
from ultracrawl.rules.boundary.rules import ANY_HOST, PathRules, PortRules, RuleError
from ultracrawl.rules.urls.canonical import unify

UNUSUAL_PORT = "port of no start URL"
"""The rule that refuses the ports that neither a start URL nor a port rule names."""


class HostPaths:
    """The path rules that apply to one host."""

    __slots__ = ("_closed", "_exclude", "_follow_only", "_include")

    def __init__(self, host: str, rules: Sequence[PathRules]) -> None:
        self._exclude = _table("exclude", rules, [rule.exclude for rule in rules])
        self._include = _table("include", rules, [rule.include for rule in rules])
        self._follow_only = _table("follow only", rules, [rule.follow_only for rule in rules])
        limits = [
            f"path of `{rule.option}`" if rule.option else f"include path of {host}"
            for rule in rules
            if rule.include
        ]
        self._closed = f"no {' or '.join(limits)} matches" if limits else None

    def refusal(self, path: str) -> str | None:
        """Return the rule that refuses a path, or None."""
        rule = self.exclusion(path)
        if rule is None and self._closed is not None and self.inclusion(path) is None:
            return self._closed
        return rule

    def exclusion(self, path: str) -> str | None:
        """Return the rule that excludes a path, or None."""
        return self._exclude.find(path)

    def inclusion(self, path: str) -> str | None:
        """Return the rule that includes a path, or None; a follow-only rule includes too."""
        return self._include.find(path) or self._follow_only.find(path)

    def follow_only(self, path: str) -> str | None:
        """Return the rule that keeps a path out of the index, or None."""
        return self._follow_only.find(path)


def _table(action: str, rules: Sequence[PathRules], prefixes: Iterable[Iterable[str]]) -> PrefixTable:
    names: dict[str, str] = {}
    for rule, texts in zip(rules, prefixes, strict=True):
        for text in texts:
            path = text.strip()
            if not path:
                raise RuleError(f"{action} path of {rule.host}: the rule has no text")
            prefix = path if path.startswith("/") else f"/{path}"
            names.setdefault(unify(prefix), f"{action} path {rule.host}{prefix}")
    return PrefixTable(names)


class PathTable:
    """Finds the path rules of a host: its own and those for every host (`*`)."""

    __slots__ = ("_everywhere", "_hosts")

    def __init__(self, rules: Iterable[PathRules]) -> None:
        grouped: dict[str, list[PathRules]] = {}
        for rule in rules:
            grouped.setdefault(_host(rule.host), []).append(rule)
        everywhere = grouped.pop(ANY_HOST, [])
        self._everywhere = HostPaths(ANY_HOST, everywhere) if everywhere else None
        self._hosts = {host: HostPaths(host, [*own, *everywhere]) for host, own in grouped.items()}

    def of(self, host: str) -> HostPaths | None:
        """Return the rules for a host, or None if its paths are open."""
        return self._hosts.get(host, self._everywhere)


class PortTable:
    """Decides whether a port of a host is crawled; of a host without rules the usual ports are, or all."""

    __slots__ = ("_hosts", "_usual")

    def __init__(self, rules: Iterable[PortRules], usual: AbstractSet[int] = frozenset()) -> None:
        self._usual = usual
        self._hosts: dict[str, PortRules] = {}
        for rule in rules:
            host = _host(rule.host)
            known = self._hosts.get(host, PortRules(host))
            self._hosts[host] = PortRules(host, known.include | rule.include, known.exclude | rule.exclude)

    def refusal(self, host: str, port: int) -> str | None:
        """Return the rule that refuses a port, or None. Rules for `*` apply to hosts without rules of their own."""
        rule = self._rules_of(host)
        if rule is not None and rule.include and port not in rule.include:
            return self.exclusion(host, port) or f"no include port of {rule.host} matches"
        return self.unusual(host, port) or self.exclusion(host, port)

    def unusual(self, host: str, port: int) -> str | None:
        """Return the rule that refuses a port because no rule and no start URL names it, or None."""
        is_open = not self._usual or port in self._usual or self._rules_of(host) is not None
        return None if is_open else UNUSUAL_PORT

    def exclusion(self, host: str, port: int) -> str | None:
        """Return the rule that excludes a port, or None."""
        rule = self._rules_of(host)
        return f"exclude port {rule.host}:{port}" if rule is not None and port in rule.exclude else None

    def _rules_of(self, host: str) -> PortRules | None:
        return self._hosts.get(host) or self._hosts.get(ANY_HOST)


def _host(text: str) -> str:
    host = text.strip().lower().removesuffix(".")
    if not host or "/" in host:
        raise RuleError(f"{text!r} is not a host name; write the host alone, or * for every host")
    return host


class ExtensionTable:
    """Finds the excluded extension of the last path segment; case and query are ignored."""

    __slots__ = ("_compound", "_rules")

    def __init__(self, extensions: Iterable[str]) -> None:
        names = [name.strip().lstrip(".").lower() for member in extensions for name in member.split(",")]
        self._rules = {name: f"exclude extension .{name}" for name in names if name}
        self._compound = any("." in name for name in self._rules)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def find(self, path: str) -> str | None:
        """Return the rule for the extension of a path (query allowed), or None."""
        query = path.find("?")
        if query >= 0:
            path = path[:query]
        dot = path.rfind(".")
        if dot < 0 or path.find("/", dot) >= 0:
            return None
        rule = self._rules.get(path[dot + 1 :].lower())
        return self._find_compound(path) if rule is None and self._compound else rule

    def _find_compound(self, path: str) -> str | None:
        pieces = path[path.rfind("/") + 1 :].lower().split(".")
        tails = (".".join(pieces[at:]) for at in range(1, len(pieces)))
        return next((self._rules[tail] for tail in tails if tail in self._rules), None)
