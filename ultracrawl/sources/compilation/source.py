"""`CompiledSource`: the rule objects of one source, and the functions that compile them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from hashlib import sha256
from pathlib import Path

from ultracrawl.content.converters.registry import converter_table, missing
from ultracrawl.content.reader import PageReader
from ultracrawl.dataclass import dataclass, fields
from ultracrawl.model import Cause, CauseCode, StatusCode
from ultracrawl.rules.acceptance import Acceptance, Refusal
from ultracrawl.rules.attributes.mapping import AttributeMap
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute, attribute_schema
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.focus import FocusPolicy
from ultracrawl.rules.boundary.matcher import Addresses, no_addresses
from ultracrawl.rules.boundary.redirects import RedirectPolicy
from ultracrawl.rules.boundary.rules import DomainRule
from ultracrawl.rules.candidates.rules import TrapLimits
from ultracrawl.rules.duplicates.fingerprint import Fingerprints
from ultracrawl.rules.frontier.grouping import Grouping
from ultracrawl.rules.frontier.level_rules import LevelRules
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.recrawl.failure_policy import FailurePolicy, rules_of
from ultracrawl.rules.robots.permission import IndexPermission
from ultracrawl.rules.robots.policy import RobotsPolicy
from ultracrawl.rules.urls.canonical import DEFAULT_PORTS, UrlPolicy, same_site_ports, site_of
from ultracrawl.rules.urls.payloads import Payloads
from ultracrawl.sources.changed_options import changed_options, options_text
from ultracrawl.sources.compilation import extraction
from ultracrawl.sources.compilation.boundary import (
    canonical_urls,
    compile_addresses,
    compile_boundary,
    compile_url_policy,
    domain_rules,
    usual_ports,
)
from ultracrawl.sources.compilation.pace import compile_grouping, compile_levels, compile_pace
from ultracrawl.sources.compilation.sites import (
    SiteOverlay,
    SiteOverlays,
    compile_overlays,
    compile_redirects,
    trap_limits,
)
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.kinds import find_kind, kept_attributes, keyed_schemes
from ultracrawl.sources.project import Project
from ultracrawl.sources.reading.tree import Data


@dataclass(frozen=True, slots=True)
class CompiledSource:
    """The rules of one source, compiled into objects."""

    name: str
    seeds: tuple[str, ...]
    """Canonical start URLs and feeds, each once, in order; invalid URLs are skipped."""
    trusted_urls: tuple[str, ...]
    """The seeds, and further URLs whose sites are trusted like those of the seeds (`own_sites`)."""
    url_policy: UrlPolicy
    """Turns URLs as written into those that are fetched, rewrite rules included."""
    boundary: Boundary
    redirects: RedirectPolicy
    addresses: AddressPolicy
    robots: RobotsPolicy
    attributes: AttributeMap
    used_attributes: frozenset[str]
    """Document attributes that the definition uses; JSON-LD and size are only read if they are among them."""
    attribute_headers: Mapping[str, str]
    """The headers that used attributes may have their values from, by attribute."""
    acceptance: Acceptance
    """Decides which responses become documents."""
    reader: PageReader
    converted: frozenset[str]
    """Media types that are converted."""
    permission: IndexPermission
    """Decides which directives of pages about indexing are obeyed."""
    error_rules: FailurePolicy
    """Actions for HTTP and network errors."""
    ftp_error_rules: FailurePolicy
    """Actions for errors of FTP servers, by reply code."""
    pace: Pace
    """Delays and concurrency of sites."""
    levels: LevelRules
    """Assigns URLs to queue levels."""
    grouping: Grouping
    """Groups hosts that share cookies."""
    fingerprints: Fingerprints | None
    """Computes the fingerprints that detect duplicates; None if duplicates are not detected."""
    traps: TrapLimits
    """Limits of known URLs and queries, of all sites and of single ones."""
    depth_limit: int | None
    """Maximum link steps from a seed; None means no limit."""
    headers: Mapping[str, str]
    """Headers of every request."""
    client_identity: str
    """Key under which robots.txt responses are stored: sources that servers cannot tell apart share it."""
    payloads: Payloads
    """URLs that are requested by POST, and their bodies."""
    focus: FocusPolicy | None
    """Decides by language which documents are kept; None keeps all."""
    feeds_ignore_rules: bool
    """Whether pages named by a feed bypass the boundary rules."""
    follows_links: bool
    """Whether links to unknown URLs are followed."""
    listed: bool
    """Whether a lister names the documents of the source, whose links are not followed."""
    counts_links: bool
    """Whether the depth of a URL is the number of links to it from a start URL, so that it can be corrected."""
    scope: str
    """Digest of the options that decide which URLs are inside; it changes if and only if other URLs are."""
    recipe: str
    """Digest of the options that affect the documents made from a page."""
    overlays: SiteOverlays
    """The rules that differ at single sites."""

    def overlay_of(self, url: str) -> SiteOverlay | None:
        """Return the rules that differ at the site of a URL, None if none do."""
        return self.overlays.find(site_of(url)) if self.overlays else None

    def reader_of(self, url: str) -> PageReader:
        """Return the reader of the pages of a site."""
        overlay = self.overlay_of(url)
        return self.reader if overlay is None else overlay.reader


def compile_source(
    source: DataSource, project: Project | None = None, addresses: Addresses = no_addresses
) -> CompiledSource:
    """Compile a source; `project` adds its search attributes, `addresses` resolves hosts for address masks.

    Raises `RuleError` for an invalid rule. A source loaded without fatal findings always compiles.
    """
    policy = compile_url_policy(source)
    seeds = tuple(dict.fromkeys(canonical_urls(source.seed_urls, policy)))
    trusted = (*seeds, *canonical_urls(source.own_sites, policy))
    schema = project.schema_attributes if project else attribute_schema()
    base = project.base if project else None
    recipe = partial(_recipe, schema=schema, base=base)
    overlays = compile_overlays(source, compile_pace, extraction.compile_reader, recipe)
    return CompiledSource(
        name=source.name,
        seeds=seeds,
        trusted_urls=trusted,
        url_policy=policy,
        boundary=(boundary := compile_boundary(source, addresses)),
        redirects=compile_redirects(source),
        addresses=compile_addresses(source, trusted),
        robots=compile_robots(source),
        attributes=_attribute_map(source, schema),
        used_attributes=extraction.used_attributes(source.attributes, source.extract),
        attribute_headers=extraction.attribute_headers(source.attributes, source.extract),
        acceptance=compile_acceptance(source),
        reader=extraction.compile_reader(source),
        converted=source.conversion.types,
        permission=IndexPermission(source.robots.meta, frozenset(source.robots.obey_reservations)),
        error_rules=FailurePolicy(rules_of(source.errors.http)),
        ftp_error_rules=FailurePolicy(rules_of(source.errors.ftp)),
        pace=compile_pace(source, overlays),
        levels=compile_levels(source, seeds, policy, addresses),
        grouping=compile_grouping(source),
        fingerprints=compile_fingerprints(source),
        traps=trap_limits(source.limits, overlays),
        depth_limit=source.depth,
        headers=compile_headers(source),
        client_identity=client_identity(source),
        payloads=Payloads(source.post_payload, policy.without_rewriting),
        focus=compile_focus(source),
        feeds_ignore_rules=source.feeds.on and source.feeds.ignore_rules,
        follows_links=source.crawling_mode != "index-only",
        listed=(listed := find_kind(source.type) is not None),
        counts_links=not (listed or boundary.rules.mode.reset_level or source.takes_links),
        scope=_scope(source, base),
        recipe=recipe(source),
        overlays=overlays,
    )


def _attribute_map(source: DataSource, schema: Mapping[str, SearchAttribute]) -> AttributeMap:
    return AttributeMap(
        extraction.attribute_targets(source.attributes, source.extract, schema),
        schema,
        source.description_fallback,
        source.default_language,
        extraction.compile_document_rules(source.extract),
        keeps=kept_attributes(source),
    )


def compile_robots(source: DataSource) -> RobotsPolicy:
    """Return the robots.txt policy of a source."""
    values = {field.name: getattr(source.robots, field.name) for field in fields(RobotsPolicy)}
    return RobotsPolicy(**{**values, "timeout": source.robots.timeout or source.limits.timeout})


def compile_acceptance(source: DataSource) -> Acceptance:
    """Return the rules that decide which responses become documents. Raises `PatternError`."""
    return Acceptance(
        source.types,
        follow_only=source.follow_only_types,
        detect=source.detect_types,
        cut_off=source.cut_off,
        truncate=source.truncate,
        exclude_headers=source.exclude_headers,
        unreadable=_unreadable(source.conversion.types),
    )


def client_identity(source: DataSource) -> str:
    """Return an identifier that is equal for sources that servers cannot tell apart.

    A source with logins, passwords, cookies, headers, certificates, proxies or settings has one of its own; for
    others it is the user agent.
    """
    own = (
        [*source.password_entries],
        source.logins,
        source.headers,
        source.site_headers,
        source.client_certificates,
        source.proxy.servers,
        source.cookies.enabled,
        source.settings,
    )
    return f"source {source.name}" if any(own) else source.user_agent


def compile_headers(source: DataSource) -> dict[str, str]:
    """Return the headers of every request; none is secret."""
    headers = {
        "User-Agent": source.user_agent,
        "Accept": _accept((*source.types, *source.follow_only_types)),
    }
    if not source.http.compression or source.http.version == "1.0":
        headers["Accept-Encoding"] = "identity"
    return headers | {name.title(): value for name, value in source.headers.items()}


def compile_focus(source: DataSource) -> FocusPolicy | None:
    """Return the language policy of a source, None if it keeps all languages."""
    focused = source.focused
    if not focused.languages:
        return None
    exempt = [DomainRule(pattern.kind, pattern.text) for pattern in focused.exempt]
    return FocusPolicy(focused.codes, focused.depth, exempt)


def _unreadable(converted: frozenset[str]) -> dict[str, Refusal]:
    """Return the refusals of media types whose converter is not installed or switched off."""
    refused: dict[str, Refusal] = {}
    for name in converter_table().by_type:
        if name in converted and (lack := missing(name)):
            refused[name] = Refusal(
                StatusCode.CONVERTER_MISSING, "conversion", Cause(CauseCode.NOT_CONVERTED, lack)
            )
        elif name not in converted and not name.startswith("text/"):
            cause = Cause(CauseCode.TYPE_NOT_CONVERTED, name)
            refused[name] = Refusal(StatusCode.WRONG_TYPE, "conversion", cause)
    return refused


def compile_fingerprints(source: DataSource) -> Fingerprints | None:
    """Return the duplicate detection of a source, None if it is off."""
    section = source.duplicates
    if section.detect is False:
        return None
    return Fingerprints(
        section.by == "text",
        section.meta,
        section.cut_off,
        section.near,
        section.near_words,
        keyed_schemes(source),
    )


_MAX_LISTED_TYPES = 8
"""Converted media types that the Accept header lists individually; more are replaced by one wildcard."""


def _accept(types: Iterable[str]) -> str:
    """Return the Accept header. Many converted types become one wildcard behind the page types.

    Some servers send Markdown instead of a page to clients that list it.
    """
    names = list(dict.fromkeys(types))
    converted = converter_table().by_type
    pages = [name for name in names if name not in converted]
    if len(names) - len(pages) > _MAX_LISTED_TYPES:
        names = [*pages, "application/*;q=0.9"]
    return ", ".join([*names, "*/*;q=0.1"])


_SCOPE_OPTIONS = ("urls", "depth", "only", "exclude")
_NOT_SCOPE = ("networks", "intranet_hosts", "guard", "start_redirects")
"""Options of `boundary` that decide about connections only."""
_SCOPE_GROUPS: Mapping[str, AbstractSet[str]] = {
    "limits": {"url_length"},
    "sites": {"aliases"},
    "feeds": {"discover", "follow_links", "ignore_rules"},
}


def _scope(source: DataSource, base: Path | None) -> str:
    """Return the digest of all options that decide which URLs are inside; of start URLs only the included hosts.

    It holds only options that differ from their defaults.
    """
    kind, usual = find_kind(source.type), type(source).model_construct(name=source.name)
    if kind is not None:  # its lister decides what is inside
        others = type(source).model_fields.keys() - kind.section.fetch_options()
        return _digest(changed_options(source, usual, skip=others), base, sort=True)
    changed = changed_options(source, usual)
    parts = {name: changed[name] for name in _SCOPE_OPTIONS if name in changed}
    parts["boundary"] = changed_options(source.boundary, usual.boundary, skip=_NOT_SCOPE)
    for group, names in _SCOPE_GROUPS.items():
        options = changed.get(group)
        if isinstance(options, dict) and (kept := {name: options[name] for name in names & options.keys()}):
            parts[group] = kept
    overrides = source.sites.overrides.items()
    own: dict[str, Data] = {
        site: changed_options(one.urls, usual.urls) for site, one in overrides if one.urls != usual.urls
    }
    if own:
        parts["urls of sites"] = own
    if not source.boundary.domains.include:
        parts["hosts"] = [*sorted(str(rule) for rule in domain_rules(source))]
    if ports := usual_ports(source) - same_site_ports(DEFAULT_PORTS["http"]):
        parts["ports"] = [*sorted(ports)]
    if source.feeds.on:
        parts.setdefault("feeds", {})
    else:
        parts.pop("feeds", None)
    return _digest(parts, base, sort=True)


def _recipe(source: DataSource, schema: Mapping[str, SearchAttribute], base: Path | None) -> str:
    """Return the digest of all options that affect documents and differ from their defaults.

    The types of the attributes that the source fills are among them, and which attributes are searched.
    """
    usual = source.model_copy(update={"duplicates": source.duplicates.model_copy(update={"detect": None})})
    if source.duplicates.detect == (not keyed_schemes(usual)):
        source = usual
    options = changed_options(source, type(source).model_construct(name=source.name), for_documents=True)
    filled = schema if kept_attributes(source) else source.attributes.values()
    kinds = {name: schema[name].type.value for name in sorted(filled) if name in schema}
    uses: dict[str, Data] = {
        "attribute types": {name: kind for name, kind in kinds.items() if kind != AttributeType.STRING},
        "searched": [name for name, one in sorted(schema.items()) if one.searched],
    }
    return _digest(options | {name: used for name, used in uses.items() if used}, base)


def _digest(options: Mapping[str, Data], base: Path | None, *, sort: bool = False) -> str:
    """Return the digest of options, equal in each folder `base`; with `sort`, in whatever order they are written."""
    return sha256(options_text(options, base, sort=sort).encode()).hexdigest()[:32]
