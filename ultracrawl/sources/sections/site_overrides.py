"""`sites.overrides`: options that hold for some sites of a source only."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from ultracrawl.rules.urls.registrable import widest_own_domain
from ultracrawl.rules.urls.site_table import site_key
from ultracrawl.sources.mistakes import MISTAKE, format_value, mistake
from ultracrawl.sources.sections.documents.page_content import ContentSection
from ultracrawl.sources.sections.fetching.authentication import EntryName, PasswordEntry
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection
from ultracrawl.sources.sections.fetching.limits import LimitsSection
from ultracrawl.sources.sections.fetching.politeness import PolitenessSection
from ultracrawl.sources.sections.recrawl.refresh import RefreshSection
from ultracrawl.sources.sections.scope.urls import UrlsSection
from ultracrawl.sources.sections.section import Section

_Mistake = tuple[tuple[str | int, ...], PydanticCustomError]
"""The path of an option and what is wrong there."""

_NOT_PER_SITE: Mapping[str, Mapping[str, str]] = {
    "politeness": {"per_address": "sites with one address share their delay"},
    "limits": {
        **dict.fromkeys(("pages", "seconds", "bytes"), "it ends the run"),
        **dict.fromkeys(
            ("documents", "documents_slack", "disk_free", "disk_free_slack"),
            "it closes the source to new URLs",
        ),
        "url_length": "links to all sites are checked by one length",
    },
    "refresh": {
        **dict.fromkeys(("mode", "interval", "when_idle"), "a cycle visits all sites"),
        "adaptive": "one score orders the pages of all sites",
    },
    "javascript": {
        **dict.fromkeys(("pages", "memory", "browser"), "there is one browser"),
        "hash_routes": "links to all sites have one canonical form",
    },
    "urls": {
        "max_uri_recursion": "the stages of the boundary are those of the source",
        **dict.fromkeys(("rewrite_rules", "rewriter"), "a URL is rewritten before its site is known"),
    },
}
"""Options that hold for a source as a whole, with the reason, by section."""
_OWN_SOURCE = frozenset({"refresh"})
"""Sections whose options a source of its own can give to a site."""


def _instead(section: str, option: str) -> str:
    if section in _OWN_SOURCE:
        return f"write a source of its own for the site, with `{section}.{option}`"
    return f"write it in `{section}` of the source"


def _checked(value: Any, handler: ValidatorFunctionWrapHandler, mistakes: list[_Mistake]) -> Any:
    """Validate a value; raises its errors together with further mistakes, so that all are reported at once."""
    try:
        result = handler(value)
    except ValidationError as error:
        details = [_again(detail) for detail in error.errors(include_url=False)]
        if not mistakes:
            raise
    else:
        details = []
        if not mistakes:
            return result
    own = [InitErrorDetails(type=found, loc=path, input=value) for path, found in mistakes]
    raise ValidationError.from_exception_data("sites.overrides", [*details, *own])


def _again(detail: ErrorDetails) -> InitErrorDetails:
    """Return an error that was reported, to be raised again."""
    kind: str | PydanticCustomError = detail["type"]
    if kind == MISTAKE:
        kind = PydanticCustomError(MISTAKE, "{problem}; {instead}", detail["ctx"])
    again = InitErrorDetails(type=kind, loc=detail["loc"], input=detail["input"])
    if (context := detail.get("ctx")) is not None:
        again["ctx"] = context
    return again


def _per_site(section: str) -> Any:
    """Return the metadata of a section whose options are per site, as far as they can be."""
    refused = _NOT_PER_SITE[section]

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        if not isinstance(value, dict):
            return handler(value)
        mistakes: list[_Mistake] = [
            (
                (name,),
                mistake(f"`{name}` cannot be set for one site: {refused[name]}", _instead(section, name)),
            )
            for name in value
            if name in refused
        ]
        return _checked({name: value[name] for name in value if name not in refused}, handler, mistakes)

    return WrapValidator(check)


def _check_key(written: str) -> str:
    if site_key(written) is None:
        raise mistake(
            f"{format_value(written)} names no site",
            "write a host as `www.example.com`, `www.example.com:8080`, or the end of hosts as `.example.com`",
        )
    return written


def _check_all(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    return _checked(value, handler, [*_mistakes(value)] if isinstance(value, dict) else [])


def _mistakes(overrides: Mapping[Any, Any]) -> Iterator[_Mistake]:
    """Yield the keys that mean the same sites as one before, and passwords that strangers would get."""
    known: dict[str, str] = {}
    for written, override in overrides.items():
        key = site_key(written) if isinstance(written, str) else None
        if key is None:
            continue
        if key in known:
            problem = f"{format_value(written)} means the same as {format_value(known[key])} above"
            yield (written,), mistake(problem, f"write the options of both below {format_value(known[key])}")
        known.setdefault(key, written)
        if key.startswith(".") and isinstance(override, dict) and override.get("authentication"):
            domain = widest_own_domain(key[1:])
            if "." not in domain or widest_own_domain(f"x{key}") != domain:
                problem = f"hosts that end in {format_value(written)} belong to different owners"
                yield (
                    (written, "authentication"),
                    mistake(problem, "write the password below a host, or a domain of your own"),
                )


class SiteOverride(Section):
    """The options of some sites. What is not written here is taken from the source."""

    KEEPS_WRITTEN: ClassVar = True

    politeness: Annotated[PolitenessSection, _per_site("politeness")] = Field(
        default=PolitenessSection.by_default(), examples=[{"delay": 5}]
    )
    """Delays and concurrency of requests to these sites, except `per_address`."""
    limits: Annotated[LimitsSection, _per_site("limits")] = Field(
        default=LimitsSection.by_default(), examples=[{"pages_per_site": 500}]
    )
    """Limits for a page and for a site, not those for a run, and not `url_length`."""
    authentication: Mapping[EntryName, PasswordEntry] = Field(
        default={}, repr=False, examples=[{"staff": {"user": "crawler", "password": "${PW}"}}]
    )
    """Users and passwords for these sites, by names of your own, in addition to those of the source. They are sent by
    https, and by http only to sites of start URLs with http."""
    content: ContentSection = Field(default=ContentSection.by_default(), examples=[{"include": "#article"}])
    """Which elements of pages are their text."""
    refresh: Annotated[RefreshSection, _per_site("refresh")] = Field(
        default=RefreshSection.by_default(), examples=[{"conditional": False}]
    )
    """Only `conditional`: the cycles are those of the source."""
    javascript: Annotated[JavascriptSection, _per_site("javascript")] = Field(
        default=JavascriptSection.by_default(), examples=[{"use": True, "wait": 1}]
    )
    """Rendering of pages in Chromium, except `pages`, `memory`, `browser` and `hash_routes`."""
    urls: Annotated[UrlsSection, _per_site("urls")] = Field(
        default=UrlsSection.by_default(), examples=[{"normalise": "trailing_slash"}]
    )
    """Only `normalise` and `remove_params`: one form for URLs of these sites."""


SiteOverrides = Annotated[
    Mapping[Annotated[str, AfterValidator(_check_key)], SiteOverride], WrapValidator(_check_all)
]
