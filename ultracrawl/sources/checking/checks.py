"""Checks of sources and of project options they refer to: start URLs, attributes, boundary, destinations..."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, runtime_checkable
from urllib.parse import urljoin

from pydantic import JsonValue

from ultracrawl.content.converters.registry import converter_for, converter_table
from ultracrawl.errors import UserError
from ultracrawl.model.finding import FindingCode
from ultracrawl.rules.attributes.headers import OF_ANSWERS
from ultracrawl.rules.attributes.headers import PREFIX as HEADER_PREFIX
from ultracrawl.rules.attributes.making import template_names
from ultracrawl.rules.attributes.mapping import DEFAULT_MAPPING
from ultracrawl.rules.attributes.schema import DEFAULT_ATTRIBUTES, AttributeType, SearchAttribute, ValueList
from ultracrawl.rules.attributes.values import convert
from ultracrawl.rules.boundary.expressions import slow_expression
from ultracrawl.rules.boundary.rules import Kind
from ultracrawl.rules.urls.canonical import UrlPolicy, UrlRule
from ultracrawl.rules.urls.payloads import PREFIX, Payloads
from ultracrawl.sources.checking.access_checks import check_access, check_public
from ultracrawl.sources.checking.written_values import written_values
from ultracrawl.sources.compilation.boundary import compile_boundary, compile_url_policy
from ultracrawl.sources.definition import WEB, DataSource
from ultracrawl.sources.kinds import SourceKind, find_kind, keyed_schemes
from ultracrawl.sources.mistakes import format_names, format_value, suggestion
from ultracrawl.sources.patterns import Pattern
from ultracrawl.sources.reading.tree import Data, OptionPath, PathFinding
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.sources.sections.project import SearchPageSection
from ultracrawl.sources.sections.search import SearchSection
from ultracrawl.system.plugins import SOURCE_KINDS, PluginError


@runtime_checkable
class OptionChecker(Protocol):
    """A spider as a source type, which checks its `options`; see `spiders.SourceSpider`."""

    def check_options(self, options: Mapping[str, JsonValue]) -> Iterable[tuple[str, str, str]]:
        """Yield option, problem and advice for each mistake in `options`."""


def check_source(source: DataSource, schema: Mapping[str, SearchAttribute]) -> Iterator[PathFinding]:
    """Yield the findings about a source whose options are valid one by one."""
    yield from check_attributes(source, schema)
    yield from check_kind(source)
    yield from check_crawling_mode(source)
    yield from check_types(source)
    yield from check_extracted(source, schema)
    yield from check_header_names(source)
    found = list(check_start_urls(source))
    yield from found
    yield from check_sitemap_urls(source)
    yield from check_languages(source)
    yield from check_duplicates(source)
    yield from check_storage(source)
    yield from check_access(source)
    yield from check_public(source)
    yield from check_feed_urls(source)
    yield from check_payloads(source)
    yield from check_expressions(source)
    yield from check_paths(source)
    if not found:
        yield from _check_boundary(source)


def check_search_attributes(written: Mapping[str, Data]) -> Iterator[PathFinding]:
    """Yield mistakes in the names of a project's search attributes (Ultra Search 5.3).

    The eight default ones can neither be redefined nor deleted. Names are case-insensitive.
    """
    defaults = {attribute.name.lower(): attribute.name for attribute in DEFAULT_ATTRIBUTES}
    seen: dict[str, str] = {}
    for name, kind in written.items():
        default = defaults.get(name.lower())
        if default is not None:
            done = "deleted" if kind is None else "redefined"
            problem = (
                f"`{default}` is one of the eight search attributes that always exist; it cannot be {done}"
            )
            yield PathFinding(("attributes", name), problem, "remove the line, or choose another name")
        elif name.lower() in seen:
            problem = f"`{name}` differs from `{seen[name.lower()]}` only in upper and lower case"
            yield PathFinding(("attributes", name), problem, "choose another name")
        seen.setdefault(name.lower(), name)


def check_attributes(source: DataSource, schema: Mapping[str, SearchAttribute]) -> Iterator[PathFinding]:
    """Yield the mappings of a source to search attributes that do not exist, and of beginnings of names to one."""
    for name, target in source.attributes.items():
        if name.endswith("*"):
            if target != "*":
                problem = f"names that begin so are kept under the rest of their names, not in `{target}`"
                yield PathFinding(("attributes", name), problem, "write `'*'`, or whole names")
        elif target not in schema:
            otherwise = f"define it under `attributes:` of the project, or write {format_names(schema)}"
            problem = f"there is no search attribute `{target}`"
            yield PathFinding(("attributes", name), problem, suggestion(target, schema, otherwise))


def check_kind(source: DataSource) -> Iterator[PathFinding]:
    """Yield the mistakes that the type of a source finds in its options, or that it cannot be loaded."""
    if source.type == WEB and not source.options:
        return  # `web` would import the spider, which reading definitions does not need
    try:
        kind = SOURCE_KINDS.load(source.type)
        if isinstance(kind, SourceKind):
            if source.options:
                problem = f"a source of type `{source.type}` has no group `options`"
                yield PathFinding(("options",), problem, "write its options beside `type`")
            return
        if not isinstance(kind, OptionChecker):
            raise SOURCE_KINDS.find(source.type).wrong_type_error(
                "an ultracrawl.spiders.SourceSpider, or a kind of sources"
            )
        for option, problem, instead in kind.check_options(source.options):
            yield PathFinding(("options", option), problem, instead)
    except PluginError as error:
        yield PathFinding(("type",), error.problem, error.instead)
    except UserError as error:
        yield PathFinding(("type",), f"`{source.type}` cannot be used", str(error))


FOLLOWING_TYPES: frozenset[str] = frozenset({WEB})
"""The types of sources that follow links; only their documents can be examined before they are indexed."""


def check_crawling_mode(source: DataSource) -> Iterator[PathFinding]:
    """Yield a crawling mode that the type of the source does not have (Ultra Search 13.3)."""
    if source.crawling_mode == "examine" and source.type not in FOLLOWING_TYPES:
        problem = f"a source of type `{source.type}` cannot be examined: that mode is for web sources only"
        yield PathFinding(("crawling_mode",), problem, "write `accept-all` or `index-only`")


def check_types(source: DataSource) -> Iterator[PathFinding]:
    """Yield media types without a reader, if plug-ins that may provide one cannot be loaded."""
    lost = converter_table().load_errors
    if lost:
        from ultracrawl.content.reader import PageReader  # noqa: PLC0415 - slow, and definitions are read without it
    for option in ("types", "follow_only_types") if lost else ():
        for name in getattr(source, option):
            if "*" not in name and not PageReader().reads(name) and converter_for(name) is None:
                yield PathFinding((option,), f"no converter reads {format_value(name)}", "; ".join(lost))


def check_extracted(source: DataSource, schema: Mapping[str, SearchAttribute]) -> Iterator[PathFinding]:
    """Yield document attributes that `extract` makes and nothing uses."""
    used = {name.lower() for name in (*source.attributes, *schema)} | DEFAULT_MAPPING.keys()
    for rules in source.extract.values():
        used.update(name for rule in rules if rule.template for name in template_names(rule.template))
        used.update(rule.of for rule in rules)
    for name in source.extract:
        if name not in used:
            problem = f"`{name}` is made, but neither mapped nor named like a search attribute"
            instead = suggestion(name, schema, f"map it: `attributes: {{{name}: ...}}`")
            yield PathFinding(("extract", name), problem, instead)


_SELDOM_META = OF_ANSWERS - {"date"}
"""Names that pages hardly give to META values. `date` is a usual one, and no one wants the time of a fetch."""


def check_header_names(source: DataSource) -> Iterator[PathFinding]:
    """Yield names of headers that describe an answer where META values are read: they need a prefix."""
    if source.type != WEB or source.filters.file is not None:
        return  # the files of a robot have rules of their own, and documents of listers have no headers
    used = {name: ("attributes", name) for name in source.attributes}
    for made, rules in source.extract.items():
        for rule in rules:
            used.update(dict.fromkeys((*template_names(rule.template or ""), rule.of), ("extract", made)))
    for name, path in used.items():
        if name.lower() in _SELDOM_META and name.lower() not in source.extract:
            problem = f"`{name}` is a META value of that name, not the header of the response"
            yield PathFinding(path, problem, f"write `{HEADER_PREFIX}{name}` for the header", fatal=False)


def check_start_urls(source: DataSource) -> Iterator[PathFinding]:
    """Yield start URLs that cannot be crawled; only sources with a class or type of their own need none."""
    own = source.spider_class is not None or source.type != WEB
    if not (source.seed_urls or source.takes_links or own):
        problem = "the source has no start URL, so it would crawl nothing"
        instead = "write for example `start_urls: [https://www.example.com/]`"
        yield PathFinding(("start_urls",), problem, instead, code=FindingCode.NO_START)
    policy = compile_url_policy(source)

    def why(url: str) -> tuple[str, str]:
        return _why_no_url(url, policy.canonicalise(url).decision.rule)

    yield from _check_urls(("start_urls",), source.start_urls, "start URL", policy, why)


def check_receivers(source: DataSource, sources: Mapping[str, DataSource]) -> Iterator[PathFinding]:
    """Yield the entries of `send_links_to` that do not exist or lack `takes_links`."""
    for number, name in enumerate(source.send_links_to):
        receiver = sources.get(name)
        if receiver is None or not receiver.takes_links:
            problem = f"the source {format_value(name)} " + (
                "does not take links" if receiver else "does not exist"
            )
            instead = (
                "write `takes_links: true` in it"
                if receiver
                else f"write {format_names(sorted(sources)[:20])}"
            )
            yield PathFinding(("send_links_to", number), problem, instead)


def check_destinations(
    source: DataSource, indexes: Iterable[str], destinations: Iterable[str]
) -> Iterator[PathFinding]:
    """Yield the indexes and destinations in `feeding` that do not exist."""
    known = {"index": {PROJECT_INDEX, *indexes}, "destination": {*destinations}}
    others = {"index": "destination", "destination": "index"}
    for label, destination in source.feeding.destinations.items():
        option = "destination" if destination.destination else "index"
        if destination.target not in known[option]:
            section = "destinations" if destination.destination else "indexes"
            instead = suggestion(
                destination.target, known[option], f"name it under `{section}:` of the project"
            )
            if destination.target in known[others[option]]:
                instead = f"write `{others[option]}: {destination.target}`"
            problem = f"there is no {option} `{destination.target}`"
            yield PathFinding(("feeding", "destinations", label, option), problem, instead)


def check_search(
    search: SearchSection, sources: Mapping[str, DataSource | None], schema: Mapping[str, SearchAttribute]
) -> Iterator[PathFinding]:
    """Yield the sources, attributes and groups in `search` that do not exist."""
    groups = {group for source in sources.values() if source is not None for group in source.groups}
    named: tuple[tuple[str, Iterable[str], Iterable[str], str], ...] = (
        ("source_synonyms", search.source_synonyms, sources, "source"),
        ("attribute_names", search.attribute_names, schema, "search attribute"),
        ("group_names", search.group_names, groups, "data group"),
    )
    for option, names, known, what in named:
        for name in names:
            if name not in known:
                instead = suggestion(name, sorted(known), f"name one of the {what}s")
                yield PathFinding(("search", option, name), f"there is no {what} `{name}`", instead)


def check_search_page(
    page: SearchPageSection, schema: Mapping[str, SearchAttribute]
) -> Iterator[PathFinding]:
    """Yield the search attributes in `search_page` that do not exist."""
    for at, name in enumerate(page.filters):
        if name not in schema:
            instead = suggestion(name, sorted(schema), "name one of the search attributes")
            yield PathFinding(
                ("search_page", "filters", at), f"there is no search attribute `{name}`", instead
            )


def check_searched_attributes(
    names: Iterable[str], schema: Mapping[str, SearchAttribute]
) -> Iterator[PathFinding]:
    """Yield the attributes in `searched_attributes` that do not exist, or are no texts."""
    texts = sorted(name for name, one in schema.items() if one.type is AttributeType.STRING)
    for name in names:
        if name not in texts:
            problem = f"`{name}` is no text" if name in schema else f"there is no search attribute `{name}`"
            instead = suggestion(name, texts, "name a search attribute of type string")
            yield PathFinding(("searched_attributes",), problem, instead)


def check_languages(source: DataSource) -> Iterator[PathFinding]:
    """Yield `focused.detect` if `languages.trust` overrides it."""
    trust = source.languages.trust
    if trust is not None and "detect" in source.focused.model_fields_set:
        problem = f"`detect` has no effect beside `languages: {{trust: {trust}}}`"
        yield PathFinding(("focused", "detect"), problem, "remove one of them", fatal=False)


def check_duplicates(source: DataSource) -> Iterator[PathFinding]:
    """Yield options of `duplicates` that have no effect."""
    kind = find_kind(source.type)
    # Documents of a source without options of web servers are all of the schemes of its kind.
    is_keyed = bool(keyed_schemes(source)) and kind is not None and "politeness" in kind.unfit
    if source.duplicates.near and (source.duplicates.detect is False or is_keyed):
        problem = "`near` has no effect while `detect` is off"
        yield PathFinding(("duplicates", "near"), problem, "remove it, or write `detect: true`", fatal=False)
    if source.duplicates.follows_canonical and (source.duplicates.detect is False or kind is not None):
        problem = "`canonical: follow` has no effect " + (
            "while `detect` is off" if kind is None else f"in a source of type {source.type}"
        )
        yield PathFinding(("duplicates", "canonical"), problem, "write `canonical: true`", fatal=False)


def check_storage(source: DataSource) -> Iterator[PathFinding]:
    """Yield options of `storage` that have no effect."""
    if source.storage.remove_sent and not source.storage.keep:
        problem = "`remove_sent` has no effect while nothing is kept"
        yield PathFinding(
            ("storage", "remove_sent"), problem, "remove it, or write `keep: true`", fatal=False
        )


def check_sitemap_urls(source: DataSource) -> Iterator[PathFinding]:
    """Yield the sitemap URLs that cannot be fetched."""
    policy = compile_url_policy(source).without_rewriting
    instead = "write for example `https://www.example.com/sitemap.xml`"

    def why(url: str) -> tuple[str, str]:
        return f"the sitemap {format_value(url)} is not an absolute URL of http or https", instead

    yield from _check_urls(("sitemaps", "urls"), source.sitemaps.urls, "sitemap", policy, why)


def check_payloads(source: DataSource) -> Iterator[PathFinding]:
    """Yield the entries of `post_payload` that are not for http or https URLs, or never sent."""
    policy = compile_url_policy(source).without_rewriting
    for name in source.post_payload:
        try:
            Payloads({name: ""}, policy)
        except ValueError:
            instead = "write for example `https://www.example.com/search`, or `prefix:https://www.example.com/list/`"
            yield PathFinding(
                ("post_payload", name), f"{format_value(name)} is no URL that a body can be sent to", instead
            )
            continue
        scheme = name.removeprefix(PREFIX).strip().partition(":")[0].lower()
        if scheme not in source.boundary.schemes:
            problem, instead = (
                f"is never sent: {scheme} is not crawled",
                f"add {scheme} to the schemes, or remove it",
            )
            yield PathFinding(("post_payload", name), problem, instead, fatal=False)


def check_feed_urls(source: DataSource) -> Iterator[PathFinding]:
    """Yield the feed URLs that cannot be fetched."""
    instead = "write for example `https://www.example.com/feed.xml`"

    def why(url: str) -> tuple[str, str]:
        return f"the feed {format_value(url)} is not an absolute URL that can be crawled", instead

    yield from _check_urls(("feeds", "urls"), source.feeds.urls, "feed", compile_url_policy(source), why)


def _check_urls(
    path: OptionPath, urls: Iterable[str], what: str, policy: UrlPolicy, why: Callable[[str], tuple[str, str]]
) -> Iterator[PathFinding]:
    """Yield the URLs of a list that contain a password or are invalid; `why` returns problem and advice."""
    for number, url in enumerate(urls):
        host = url.partition("://")[2].partition("/")[0]
        if "@" in host:
            problem = f"the {what} of {format_value(host.rpartition('@')[2])} holds a user name or password"
            instead = "remove them from the URL; they would be shown in logs and reports"
            yield PathFinding((*path, number), problem, instead)
        elif policy.canonical(url) is None:
            yield PathFinding((*path, number), *why(url))


def _why_no_url(url: str, rule: str) -> tuple[str, str]:
    scheme, has_scheme, _ = url.partition("://")
    if rule == UrlRule.SCHEME and has_scheme and scheme:
        return (
            f"the start URL {format_value(url)} has a scheme that is not crawled",
            "write a URL with one of `schemes`",
        )
    if rule == UrlRule.LENGTH:
        return (
            f"the start URL {format_value(url)} is longer than `url_length` allows",
            "raise `limits.url_length`",
        )
    guess = "https://" + url.lstrip("/") if "." in url and "://" not in url else "https://www.example.com/"
    return f"the start URL {format_value(url)} is not an absolute URL", f"write for example `{guess}`"


def check_expressions(source: DataSource) -> Iterator[PathFinding]:
    """Yield a warning for each expression that needs the slower engine."""
    for place, text in _expressions(source):
        if slow_expression(text) is not None:
            problem = f"the expression {format_value(text)} runs on the slower engine, 0.1 s a text at most"
            yield PathFinding(
                place, problem, "write it without look-around and back-references (RE2)", fatal=False
            )


def _expressions(source: DataSource) -> Iterator[tuple[OptionPath, str]]:
    """Yield the expressions of host, URL and header rules, each with the path of its list."""
    for place, value in written_values(source):
        for entry in value if isinstance(value, tuple) else ():
            if isinstance(entry, Pattern) and entry.kind is Kind.REGEXP:
                yield place, entry.text
            elif place[0] == "exclude_headers":
                yield place, entry


def _check_boundary(source: DataSource) -> Iterator[PathFinding]:
    try:
        boundary = compile_boundary(source)
    except UserError as error:
        yield PathFinding(("boundary",), str(error), "correct the rule")
        return
    if boundary.needs_addresses:
        return  # checks do not resolve host names
    policy = compile_url_policy(source)
    for number, url in enumerate(source.start_urls):
        canonical = policy.canonical(url)
        rule = boundary.rejects(canonical) if canonical else None
        if canonical is None or rule is None:
            continue
        is_crawled = boundary.rejects(canonical, seed=True) is None
        effect = (
            "it is crawled, but nothing else that the rule leaves out" if is_crawled else "it is not crawled"
        )
        problem = f"the start URL {format_value(url)} is outside the source's own boundary: {rule}: {effect}"
        below = (
            f"begin with {format_value(urljoin(url, source.only[0].rstrip('*')))}, " if source.only else ""
        )
        instead = f"{below}let the rule admit it, or remove it"
        if source.boundary.start_urls_exempt:
            instead += "; start URLs are exempt from domain rules only"
        yield PathFinding(("start_urls", number), problem, instead, fatal=False)


def check_paths(source: DataSource) -> Iterator[PathFinding]:
    """Yield the paths of a web source with a `*` at their end, a character as any other: paths are beginnings."""
    for option in ("only", "exclude") if source.type == WEB else ():
        for number, path in enumerate(getattr(source, option)):
            if path.endswith("*"):
                problem = (
                    f"{format_value(path)} matches only paths in which the `*` stands; a path is a beginning"
                )
                yield PathFinding((option, number), problem, f"write `{path.rstrip('*')}`", fatal=False)


def check_value_lists(
    lists: Iterable[ValueList], schema: Mapping[str, SearchAttribute]
) -> Iterator[PathFinding]:
    """Yield lists for attributes that do not exist, and values that do not fit the type of the attribute."""
    for value_list in lists:
        attribute = schema.get(value_list.attribute)
        if attribute is None:
            problem = f"there is no search attribute `{value_list.attribute}`"
            otherwise = f"define it under `attributes:`, or write {format_names(schema)}"
            instead = suggestion(value_list.attribute, schema, otherwise)
            yield PathFinding(("lists", value_list.attribute), problem, instead)
            continue
        for value in value_list.values:
            if convert(value.value, attribute.type) is None:
                problem = f"{format_value(value.value)} is no {attribute.type}, and {attribute.name} holds such values"
                yield PathFinding(
                    ("lists", value_list.attribute, value.value), problem, "correct it or remove it"
                )
