"""Converts boundary rules to equivalent RE2 expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ultracrawl.rules.boundary.matcher import normalise_host, normalise_uri
from ultracrawl.rules.boundary.rules import DomainRule, Kind, PortRules, UriRule
from ultracrawl.rules.urls.canonical import UrlPolicy, unify

_PORT = "(:[0-9]+)?"
_DEFAULT_PORTS = {80: "http", 443: "https", 21: "ftp"}
_SPECIAL = re.compile(r"[.^$*+?{}()|\[\]\\]")
ANYTHING = ".*"


def any_of(expressions: Iterable[str]) -> str:
    """Return the alternation of expressions; inline flags of one do not affect the others."""
    return "|".join(f"({text})" if "(?" in text else text for text in dict.fromkeys(expressions))


def literal(text: str) -> str:
    """Return a text as an expression, escaped."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def host_expression(rule: DomainRule) -> str:
    """Return the expression for the hosts of a rule of any kind except address masks."""
    text = literal(normalise_host(rule.text.strip().lstrip("." if rule.kind is Kind.DOMAIN else "")))
    match rule.kind:
        case Kind.REGEXP:
            return rule.text.strip()
        case Kind.PREFIX:
            return f"{text}[^/:]*"
        case Kind.SUFFIX:
            return f"[^/:]*{text}"
        case Kind.DOMAIN:
            return f"([^/:]*\\.)?{text}"
        case _:
            return text


def urls_of_host(host: str, path: str = f"/{ANYTHING}") -> str:
    """Return the expression for the URLs of a host (an expression) on any port."""
    return f"[a-z]+://({host}){_PORT}{path}"


def urls_of_ports(host: str, ports: Iterable[int], path: str = f"/{ANYTHING}") -> str:
    """Return the expression for the URLs of a host on some ports; default ports are not written in URLs."""
    origins = []
    for port in sorted(ports):
        origins.append(f"[a-z]+://({host}):{port}")
        if port in _DEFAULT_PORTS:
            origins.append(f"{_DEFAULT_PORTS[port]}://({host})")
    return f"({any_of(origins)}){path}"


def urls_of_rule(rule: UriRule, policy: UrlPolicy) -> str:
    """Return the expression for the URLs of a URL rule."""
    text = normalise_uri(rule, policy)
    match rule.kind:
        case Kind.REGEXP:
            return text
        case Kind.PREFIX:
            return f"{literal(text)}.*"
        case Kind.SUFFIX:
            return f".*{literal(text)}"
        case _:
            return literal(text)


def path_expression(prefixes: Sequence[str]) -> str:
    """Return the expression for paths with query that begin with one of the prefixes."""
    return f"({any_of(literal(path_text(prefix)) for prefix in prefixes)}){ANYTHING}"


def path_text(prefix: str) -> str:
    """Return a path prefix in canonical form."""
    written = prefix.strip()
    return unify(written if written.startswith("/") else f"/{written}")


def extension_expression(extensions: Iterable[str]) -> str:
    """Return the case-insensitive expression for paths with one of the extensions."""
    names = (name.strip().lstrip(".") for member in extensions for name in member.split(","))
    return rf"(?i)[^?]*\.({any_of(literal(name) for name in names if name)})(\?.*)?"


def type_expression(types: Iterable[str]) -> str:
    """Return the expression for media types, which may contain wildcards."""
    return any_of(literal(media_type.lower()).replace(r"\*", ANYTHING) for media_type in types)


def open_ports(rules: Iterable[PortRules]) -> bool:
    """Whether no rule restricts ports."""
    return not any(rule.include or rule.exclude for rule in rules)
