"""Compiles the `extract` and `content` rules of a source into objects that read values and text from pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from ultracrawl.content.html.jsonld import PREFIX as JSONLD_PREFIX
from ultracrawl.content.html.main_content import ContentRule
from ultracrawl.content.html.selection import CssPick, PagePicks, XPathPick, css_pick, xpath_pick
from ultracrawl.content.limits import PageLimits
from ultracrawl.content.reader import PageReader
from ultracrawl.model.page import PERMALINKS, SECTION_LEVELS, WITHOUT_WIDTH
from ultracrawl.rules.attributes.headers import headers_of_attributes
from ultracrawl.rules.attributes.making import (
    FIELDS,
    MAX_VALUES,
    Constant,
    ExpressionMatch,
    Extract,
    MadeValue,
    Template,
    template_names,
)
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.boundary.matcher import UriTable
from ultracrawl.rules.boundary.rules import Action, UriRule
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.patterns import Pattern
from ultracrawl.sources.sections.documents.extract import ExtractRule
from ultracrawl.sources.sections.documents.page_content import ContentSection, PageContent

Rules = Mapping[str, tuple[ExtractRule, ...]]


def attribute_targets(
    own: Mapping[str, str], rules: Rules, schema: Mapping[str, SearchAttribute]
) -> dict[str, str]:
    """Return the search attribute for each document attribute.

    A value extracted under the name of a search attribute goes there, unless `own` maps it elsewhere.
    """
    by_lower = {name.lower(): name for name in schema}
    mapped = {name: target for name, target in own.items() if not name.endswith("*")}
    return {**{name: by_lower[name] for name in rules if name in by_lower}, **mapped}


def used_attributes(own: Mapping[str, str], rules: Rules) -> frozenset[str]:
    """Return the document attributes that are mapped, or that a template or an expression reads."""
    named = (rule for several in rules.values() for rule in several)
    by_rules = (
        name for rule in named for name in (*template_names(rule.template or ""), rule.of.lower()) if name
    )
    return frozenset((*own, *(frozenset(by_rules) - FIELDS)))


def attribute_headers(own: Mapping[str, str], rules: Rules) -> Mapping[str, str]:
    """Return the headers that the used attributes may have their values from, by attribute."""
    return headers_of_attributes(used_attributes(own, rules))


def compile_document_rules(rules: Rules) -> list[MadeValue]:
    """Return the compiled rules that need only document attributes, in the order of the definition."""
    return [made for name, rule in _each(rules) if (made := _made(name, rule)) is not None]


def compile_page_rules(rules: Rules) -> PagePicks | None:
    """Return the compiled CSS and XPath rules, None if there are none."""
    picks = tuple(pick for name, rule in _each(rules) if (pick := _pick(name, rule)) is not None)
    return PagePicks(picks) if picks else None


def compile_content_rules(section: ContentSection) -> tuple[ContentRule, ...]:
    """Return the rules that select the main text of pages; empty if all options have their defaults."""
    rules = [_content(page_rule, _covers(page_rule.urls)) for page_rule in section.pages]
    return (*rules, _content(section, None)) if section.model_fields_set else ()


def _content(options: PageContent, applies: Callable[[str], bool] | None) -> ContentRule:
    return ContentRule(
        options.include,
        options.exclude,
        options.main != "off",
        applies,
        options.levels,
        *_strips(options),
        options.required,
        options.main == "article",
    )


def _strips(options: PageContent) -> tuple[tuple[str, ...], str]:
    """Return the characters that are removed at both ends of titles, by level, and of other lines."""
    strip = options.strip
    if len(strip) < 2:
        return (PERMALINKS + "".join(strip),) * SECTION_LEVELS, ""
    of_titles, of_texts = strip[: len(options.levels)], strip[len(options.levels) :]
    rest = ("",) * (SECTION_LEVELS - len(of_titles))
    return tuple(WITHOUT_WIDTH + own for own in (*of_titles, *rest)), "".join(of_texts)


def _each(rules: Rules) -> Iterator[tuple[str, ExtractRule]]:
    return ((name, rule) for name, several in rules.items() for rule in several)


def _made(name: str, rule: ExtractRule) -> MadeValue | None:
    applies = _applies(rule)
    if rule.constant is not None:
        return Constant(name, rule.constant, applies)
    if rule.template is not None:
        return Template(name, rule.template, applies)
    if rule.regexp is None:
        return None
    expression = compile_pattern(rule.regexp)

    def matches(text: str) -> list[ExpressionMatch]:
        return list(islice(expression.finditer(text), MAX_VALUES))

    return Extract(name, rule.of.lower(), matches, expression.groups, applies)


def _pick(name: str, rule: ExtractRule) -> CssPick | XPathPick | None:
    if rule.css is not None:
        pick: CssPick | XPathPick = css_pick(name, rule.css, rule.attribute, _applies(rule))
    elif rule.xpath is not None:
        pick = xpath_pick(name, rule.xpath, _applies(rule))
    else:
        return None
    return replace(pick, default=rule.default, strip=rule.strip) if rule.default or rule.strip else pick


def _applies(rule: ExtractRule) -> Callable[[str], bool] | None:
    return _covers(rule.urls) if rule.urls else None


def _covers(patterns: Iterable[Pattern]) -> Callable[[str], bool]:
    """Return a predicate: whether one of the patterns matches a URL."""
    table = UriTable(
        (UriRule(pattern.kind, pattern.text, Action.INCLUDE) for pattern in patterns), policy=UrlPolicy()
    )
    return lambda url: table.find(url) is not None


def compile_reader(source: DataSource) -> PageReader:
    """Return the reader of the pages of a source."""
    return PageReader(
        link_kinds=source.links.kinds,
        link_types=source.links.all_types,
        robots_name=source.robots.name,
        default_charset=source.default_charset,
        jsonld=any(
            name.startswith(JSONLD_PREFIX) for name in used_attributes(source.attributes, source.extract)
        ),
        picks=compile_page_rules(source.extract),
        content=compile_content_rules(source.content),
        limits=PageLimits(source.limits.nodes_per_page, source.limits.links_per_page, source.conversion.text),
    )
