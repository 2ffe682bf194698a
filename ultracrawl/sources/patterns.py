"""Option types for host and URL patterns of boundary rules."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.expressions import check_expression
from ultracrawl.rules.boundary.masks import parse_mask
from ultracrawl.rules.boundary.matcher import MASK_KINDS
from ultracrawl.rules.boundary.rules import Kind, PatternError, RuleError
from ultracrawl.sources.mistakes import format_names, format_value, mistake, suggestion, unusable_expression

EVERY_HOST = "*"

_HOST_KINDS = {
    "exact": Kind.EXACT,
    "prefix": Kind.PREFIX,
    "suffix": Kind.SUFFIX,
    "domain": Kind.DOMAIN,
    "regexp": Kind.REGEXP,
    "mask": Kind.IPMASK,
}
URI_KINDS = {name: _HOST_KINDS[name] for name in ("exact", "prefix", "suffix", "regexp")}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A kind of comparison and the text to compare with: a host name or a URL, depending on the option."""

    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"

    @property
    def every_host(self) -> bool:
        """Whether this is `*`, which matches all hosts."""
        return self.kind is Kind.EXACT and self.text == EVERY_HOST

    def written(self) -> dict[str, str] | str:
        """Return the pattern in the long form of definition files."""
        return (
            self.text
            if self.every_host
            else {"mask" if self.kind in MASK_KINDS else self.kind.value: self.text}
        )


def parse_host_pattern(value: object) -> Pattern:
    """Parse a host pattern: `www.example.com`, `.example.com`, `www.*`, `*`, or `{kind: text}`."""
    if isinstance(value, str):
        return _short_host(value.strip().lower())
    return _long(value, _HOST_KINDS, "a host name, as `docs.example.com` or `.example.com`")


def parse_uri_pattern(value: object) -> Pattern:
    """Parse a URL pattern: a URL prefix, or `{kind: text}`."""
    if isinstance(value, str):
        if "://" not in value:
            raise mistake(
                f"{format_value(value)} is not the beginning of a URL",
                "write it with its scheme, as `https://www.example.com/docs/`, or as `{suffix: .pdf}`",
            )
        return Pattern(Kind.PREFIX, value.strip())
    return _long(value, URI_KINDS, "the beginning of a URL, as `https://www.example.com/docs/`")


def _short_host(text: str) -> Pattern:
    if "/" in text:
        host = text.partition("://")[2].partition("/")[0] or text.partition("/")[0]
        raise mistake(f"{format_value(text)} is not a host name", f"write the host alone: `{host}`")
    if text == EVERY_HOST:
        return Pattern(Kind.EXACT, text)
    if text.startswith("*.") and "*" not in text[1:]:
        raise mistake(
            f"{format_value(text)} has its asterisk in front",
            f"write `{text[1:]}` for a domain and all hosts below it",
        )
    if text.endswith("*") and "*" not in text[:-1]:
        return _checked(Pattern(Kind.PREFIX, text[:-1]))
    if "*" in text:
        raise mistake(
            f"{format_value(text)} has an asterisk inside", "write `www.*`, or an expression: `{regexp: ...}`"
        )
    return _checked(Pattern(Kind.DOMAIN if text.startswith(".") else Kind.EXACT, text))


def _long(value: object, kinds: dict[str, Kind], short_form: str) -> Pattern:
    if not isinstance(value, dict):
        raise mistake(f"{format_value(value)} is not a rule", f"write {short_form}")
    if len(value) != 1:
        raise mistake(
            f"a rule has one kind, this one has {len(value)}", f"write one of {format_names(kinds)}"
        )
    ((name, text),) = value.items()
    if name not in kinds:
        raise mistake(
            f"unknown kind of rule `{name}`", suggestion(name, kinds, f"write {format_names(kinds)}")
        )
    if not isinstance(text, str):
        raise mistake(
            f"{format_value(text)} is not the text of a rule", f"write a text in quotes behind `{name}:`"
        )
    return _checked(Pattern(kinds[name], text.strip()))


def _checked(pattern: Pattern) -> Pattern:
    if not pattern.text.strip("."):
        raise mistake("the rule has no text", "write the text to compare with")
    try:
        if pattern.kind is Kind.REGEXP:
            check_expression(pattern.text)
        elif pattern.kind is Kind.IPMASK:
            parse_mask(pattern.text)
    except PatternError as error:
        instead = "write an RE2 expression, or one that Python's `regex` module takes"
        raise unusable_expression(f"the expression {format_value(pattern.text)}", error, instead) from None
    except RuleError as error:
        raise mistake(str(error), "write an address, a range or a network, as `192.0.2.0/24`") from None
    return pattern


def _schema(kinds: dict[str, Kind], description: str, examples: list[Any]) -> WithJsonSchema:
    options = {name: {"type": "string", "minLength": 1} for name in (*kinds, "file")}
    long_form = {
        "type": "object",
        "properties": options,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }
    short_form = {"type": "string", "minLength": 1}
    return WithJsonSchema(
        {"anyOf": [short_form, long_form], "description": description, "examples": examples}
    )


HostPattern = Annotated[
    Pattern,
    PlainValidator(parse_host_pattern),
    PlainSerializer(Pattern.written),
    _schema(
        _HOST_KINDS,
        "`docs.example.com` is that host, `.example.com` the domain and all hosts below it, "
        "`www.*` every host that begins so, `*` every host.",
        ["docs.example.com", ".example.com", "www.*", {"mask": "192.0.2.0/24"}, {"file": "hosts.txt"}],
    ),
]
UriPattern = Annotated[
    Pattern,
    PlainValidator(parse_uri_pattern),
    PlainSerializer(Pattern.written),
    _schema(
        URI_KINDS,
        "A text alone is the beginning of a URL.",
        ["https://www.example.com/docs/", {"regexp": r".*\?print=.*"}, {"file": "urls.txt"}],
    ),
]
