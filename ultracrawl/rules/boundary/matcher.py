"""Domain rules and URI rules: validation, look-up tables, and the areas of other sources."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.rules.boundary.expressions import (
    SlowExpression,
    check_expression,
    expression_set,
    slow_expression,
)
from ultracrawl.rules.boundary.masks import IpAddress, MaskTable, parse_mask
from ultracrawl.rules.boundary.rules import Action, DomainRule, Kind, RuleError, UriRule
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of, unify

MASK_KINDS = frozenset({Kind.IPMASK, Kind.IP6MASK})
URI_KINDS = frozenset({Kind.EXACT, Kind.PREFIX, Kind.SUFFIX, Kind.REGEXP})


def check_rule(rule: DomainRule | UriRule) -> None:
    """Raise `RuleError` (for an expression `PatternError`) if a rule cannot be used."""
    if not rule.text.strip():
        raise RuleError(f"{rule}: the rule has no text")
    if rule.kind is Kind.REGEXP:
        check_expression(rule.text.strip())
    elif isinstance(rule, UriRule):
        _check_uri(rule)
    elif rule.kind in MASK_KINDS:
        parse_mask(rule.text)
    elif "/" in rule.text:
        host = host_of(rule.text) or "the host"
        raise RuleError(f"{rule}: a domain rule is about host names; write {host} alone")


def _check_uri(rule: UriRule) -> None:
    if rule.kind not in URI_KINDS:
        raise RuleError(f"{rule}: a URI rule is exact, prefix, suffix or regexp")
    if rule.kind is Kind.EXACT and "://" not in rule.text:
        raise RuleError(
            f"{rule}: not an absolute URL; write it with its scheme, as https://www.example.com/a"
        )


NO_ANSWER = "no answer in time"
"""Appended to the name of a rule that excludes a text because its expression exceeded the time limit."""


class PrefixTable:
    """Finds the prefix that a text begins with; of nested prefixes the shortest wins.

    Prefixes that begin with a shorter one are dropped. The only candidate is then the last prefix in sorted order
    that is not greater than the text, found by bisection.
    """

    __slots__ = ("_prefixes", "_rules")

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._prefixes: list[str] = []
        for prefix in sorted(rules):
            if not (self._prefixes and prefix.startswith(self._prefixes[-1])):
                self._prefixes.append(prefix)
        self._rules = [rules[prefix] for prefix in self._prefixes]

    def find(self, text: str) -> str | None:
        """Return the rule whose prefix the text begins with, or None."""
        at = bisect_right(self._prefixes, text) - 1
        if at >= 0 and text.startswith(self._prefixes[at]):
            return self._rules[at]
        return None


class SuffixTable:
    """Finds the suffix that a text ends with: a `PrefixTable` of reversed texts."""

    __slots__ = ("_reversed",)

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._reversed = PrefixTable({suffix[::-1]: rule for suffix, rule in rules.items()})

    def find(self, text: str) -> str | None:
        """Return the rule whose suffix the text ends with, or None."""
        return self._reversed.find(text[::-1])


class PatternTable:
    """Finds the first of many regular expressions that matches a whole text, in one pass over it (RE2).

    Expressions that RE2 does not support are tried one by one after it, each with a time limit. One that exceeds
    the limit counts as a match in a table that `excludes`, else as none.
    """

    __slots__ = ("_excludes", "_rules", "_set", "_slow")

    def __init__(
        self, rules: Mapping[str, str], ignore_case: bool = False, *, excludes: bool = False
    ) -> None:
        self._excludes = excludes
        self._slow: list[tuple[SlowExpression, str]] = []
        fast: dict[str, str] = {}
        for pattern, rule in rules.items():
            slow = slow_expression(pattern, ignore_case)
            if slow is not None:
                self._slow.append((slow, rule))
            else:
                fast[pattern] = rule
        self._set = expression_set(fast, ignore_case=ignore_case)
        self._rules = list(fast.values())

    def find(self, text: str) -> str | None:
        """Return the first rule whose expression matches the text, or None; expressions of RE2 come first."""
        matches: list[int] | None = self._set.Match(text)
        if matches:
            return self._rules[min(matches)]
        return self._find_slowly(text) if self._slow else None

    def _find_slowly(self, text: str) -> str | None:
        for expression, rule in self._slow:
            matches = expression.fullmatch(text)
            if matches:
                return rule
            if matches is None and self._excludes:
                return f"{rule} ({NO_ANSWER})"
        return None


class TextTable:
    """Exact texts, prefixes, suffixes and expressions in one table, tried in that order.

    `excludes`: an expression that exceeds the time limit counts as a match.
    """

    __slots__ = ("_exact", "_finders", "empty")

    def __init__(
        self,
        exact: Mapping[str, str],
        prefixes: Mapping[str, str],
        suffixes: Mapping[str, str],
        patterns: Mapping[str, str],
        ignore_case: bool = False,
        *,
        excludes: bool = False,
    ) -> None:
        self._exact = dict(exact)
        finders: Iterable[PrefixTable | SuffixTable | PatternTable | None] = (
            PrefixTable(prefixes) if prefixes else None,
            SuffixTable(suffixes) if suffixes else None,
            PatternTable(patterns, ignore_case, excludes=excludes) if patterns else None,
        )
        self._finders = tuple(finder.find for finder in finders if finder)
        self.empty = not (exact or self._finders)

    def find(self, text: str) -> str | None:
        """Return the rule that matches the text, or None."""
        rule = self._exact.get(text)
        if rule is None:
            for find in self._finders:
                rule = find(text)
                if rule is not None:
                    break
        return rule


_ALL_SCHEMES = frozenset({"http", "https", "ftp", "file"})
Texts = dict[Kind, dict[str, str]]
Rule = TypeVar("Rule", DomainRule, UriRule)


Addresses = Callable[[str], Iterable[IpAddress | str]]
"""Returns the IP addresses of a host name for address masks; none for an unknown host."""


def no_addresses(_host: str) -> Iterable[IpAddress | str]:
    """Return no addresses, as for a host that does not resolve."""
    return ()


class DomainTable:
    """The domain rules of one action; `excludes`: an expression that exceeds the time limit counts as a match."""

    __slots__ = ("_masks", "_names", "empty", "needs_addresses")

    def __init__(self, rules: Iterable[DomainRule], *, excludes: bool = False) -> None:
        texts: Texts = {kind: {} for kind in Kind}
        for rule in rules:
            check_rule(rule)
            _add_host(texts, rule)
        self._names = _text_table(texts, ignore_case=True, excludes=excludes)
        masks = {text: rule for kind in MASK_KINDS for text, rule in texts[kind].items()}
        self._masks = MaskTable(masks) if masks else None
        self.needs_addresses = bool(masks)
        self.empty = self._names.empty and self._masks is None

    def find(self, host: str, addresses: Addresses = no_addresses) -> str | None:
        """Return the rule that matches a host by its name or else by one of its addresses, or None."""
        rule = self._names.find(host)
        if rule is None and self._masks is not None:
            rule = self._masks.find([host]) or self._masks.find(addresses(host))
        return rule


class UriTable:
    """The URI rules of one action, for canonical URLs; `excludes` as in `DomainTable`."""

    __slots__ = ("empty", "find")

    def __init__(self, rules: Iterable[UriRule], policy: UrlPolicy, *, excludes: bool = False) -> None:
        texts: Texts = {kind: {} for kind in Kind}
        policy = replace(policy, schemes=_ALL_SCHEMES)
        for rule in rules:
            check_rule(rule)
            texts[rule.kind].setdefault(normalise_uri(rule, policy), str(rule))
        table = _text_table(texts, excludes=excludes)
        self.find = table.find
        self.empty = table.empty


def by_action(rules: Sequence[Rule], action: Action) -> list[Rule]:
    """Return the rules of one action, in their order."""
    return [rule for rule in rules if rule.action is action]


def _text_table(texts: Texts, ignore_case: bool = False, *, excludes: bool) -> TextTable:
    return TextTable(
        texts[Kind.EXACT],
        texts[Kind.PREFIX],
        texts[Kind.SUFFIX],
        texts[Kind.REGEXP],
        ignore_case=ignore_case,
        excludes=excludes,
    )


def _add_host(texts: Texts, rule: DomainRule) -> None:
    text = rule.text.strip()
    if rule.kind is Kind.REGEXP or rule.kind in MASK_KINDS:
        texts[rule.kind].setdefault(text, str(rule))
        return
    if rule.kind is Kind.DOMAIN:
        name = normalise_host(text.removeprefix("*").removeprefix("."))
        texts[Kind.EXACT].setdefault(name, str(rule))
        texts[Kind.SUFFIX].setdefault(f".{name}", str(rule))
    elif rule.kind is Kind.PREFIX:
        texts[Kind.PREFIX].setdefault(normalise_host(text, keep_dot=True), str(rule))
    else:
        texts[rule.kind].setdefault(normalise_host(text), str(rule))


def normalise_host(text: str, keep_dot: bool = False) -> str:
    """Return the text of a host rule as host names are compared: lower case, labels in DNS form, no final dot."""
    text = text.lower() if keep_dot else text.lower().removesuffix(".")
    return text if text.isascii() else ".".join(map(_label, text.split(".")))


def _label(label: str) -> str:
    url = None if label.isascii() else UrlPolicy().canonical(f"http://{label}/")
    return host_of(url) if url else label


def normalise_uri(rule: UriRule, policy: UrlPolicy) -> str:
    """Return the text of a URI rule as canonical URLs are compared with it; an expression is unchanged."""
    text = rule.text.strip()
    if rule.kind is Kind.REGEXP:
        return text
    if rule.kind is Kind.EXACT:
        return policy.canonical(text) or text
    return unify(text) if rule.kind is Kind.SUFFIX else _uri_prefix(text, policy)


def _uri_prefix(text: str, policy: UrlPolicy) -> str:
    scheme, found, rest = text.partition("://")
    authority, slash, tail = rest.partition("/")
    if not found:
        return unify(text)
    origin = policy.canonical(f"{scheme}://{authority}/") if slash else None
    return origin + unify(tail) if origin else f"{scheme}://{authority}".lower() + slash + unify(tail)


@dataclass(frozen=True, slots=True)
class AreaRules:
    """The URLs of another source: those that match an inclusion (or all, if there is none) and no exception."""

    owner: str
    hosts: tuple[DomainRule, ...] = ()
    uris: tuple[UriRule, ...] = ()
    except_hosts: tuple[DomainRule, ...] = ()
    except_uris: tuple[UriRule, ...] = ()


class Area:
    """The compiled rules of one area."""

    def __init__(self, rules: AreaRules, policy: UrlPolicy) -> None:
        self.rule = f"belongs to {rules.owner}"
        """The name of the rule that refuses its URLs."""
        self._hosts, self._uris = (
            DomainTable(rules.hosts, excludes=True),
            UriTable(rules.uris, policy, excludes=True),
        )
        self._not_hosts = DomainTable(rules.except_hosts)
        self._not_uris = UriTable(rules.except_uris, policy)
        self._whole = self._hosts.empty and self._uris.empty
        self.needs_addresses = self._hosts.needs_addresses or self._not_hosts.needs_addresses
        """Whether address masks match the IP addresses of hosts."""

    def covers(self, host: str, url: str, addresses: Addresses) -> bool:
        """Return whether a canonical URL with its host is inside."""
        inside = self._whole or self._uris.find(url) or self._hosts.find(host, addresses)
        if not inside or self._not_uris.find(url):
            return False
        return self._not_hosts.empty or self._not_hosts.find(host, addresses) is None
