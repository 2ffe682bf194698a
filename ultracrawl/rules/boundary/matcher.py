"""Domain rules and URI rules, compiled: one table for each of the three actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from ultracrawl.rules.boundary.masks import IpAddress, MaskTable
from ultracrawl.rules.boundary.rules import Action, DomainRule, Kind, UriRule
from ultracrawl.rules.boundary.tables import TextTable
from ultracrawl.rules.boundary.validity import MASK_KINDS, check_rule
from ultracrawl.rules.urls.canonical import UrlPolicy, unify
from ultracrawl.rules.urls.parts import host_of

_ALL_SCHEMES = frozenset({"http", "https", "ftp", "file"})
Texts = dict[Kind, dict[str, str]]
Rule = TypeVar("Rule", DomainRule, UriRule)


class DomainTable:
    """The domain rules of one action: finds the rule that matches a host; if it `excludes`, it fails closed."""

    __slots__ = ("_masks", "_names", "asks_addresses", "empty")

    def __init__(self, rules: Iterable[DomainRule], *, excludes: bool = False) -> None:
        texts: Texts = {kind: {} for kind in Kind}
        for rule in rules:
            check_rule(rule)
            _add_host(texts, rule)
        self._names = _text_table(texts, ignore_case=True, excludes=excludes)
        masks = {text: rule for kind in MASK_KINDS for text, rule in texts[kind].items()}
        self._masks = MaskTable(masks) if masks else None
        self.asks_addresses = bool(masks)
        self.empty = self._names.empty and self._masks is None

    def find(self, host: str, addresses: Callable[[str], Iterable[IpAddress | str]]) -> str | None:
        """Return the rule that matches a host by its name, else by one of its addresses, else None."""
        rule = self._names.find(host)
        if rule is None and self._masks is not None:
            rule = self._masks.find([host]) or self._masks.find(addresses(host))
        return rule


class UriTable:
    """The URI rules of one action: finds the rule that matches a canonical URL; if it `excludes`, it fails closed."""

    __slots__ = ("empty", "find")

    def __init__(self, rules: Iterable[UriRule], policy: UrlPolicy, *, excludes: bool = False) -> None:
        texts: Texts = {kind: {} for kind in Kind}
        policy = replace(policy, schemes=_ALL_SCHEMES)
        for rule in rules:
            check_rule(rule)
            texts[rule.kind].setdefault(uri_text(rule, policy), str(rule))
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
        name = host_text(text.removeprefix("*").removeprefix("."))
        texts[Kind.EXACT].setdefault(name, str(rule))
        texts[Kind.SUFFIX].setdefault(f".{name}", str(rule))
    elif rule.kind is Kind.PREFIX:
        texts[Kind.PREFIX].setdefault(host_text(text, keep_dot=True), str(rule))
    else:
        texts[rule.kind].setdefault(host_text(text), str(rule))


def host_text(text: str, keep_dot: bool = False) -> str:
    """Return a host text as host names are compared: lower case, labels in DNS form, no dot at the end."""
    text = text.lower() if keep_dot else text.lower().removesuffix(".")
    return text if text.isascii() else ".".join(map(_label, text.split(".")))


def _label(label: str) -> str:
    url = None if label.isascii() else UrlPolicy().canonical(f"http://{label}/")
    return host_of(url) if url else label


def uri_text(rule: UriRule, policy: UrlPolicy) -> str:
    """Return the text of a rule as canonical URLs are compared with it; an expression as it stands."""
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
