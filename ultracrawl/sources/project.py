"""`Project`: the sources of a definition file, and the options they share (index, state, cache, search...)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model import Finding
from ultracrawl.rules.attributes.schema import OTHER_FIELDS, AttributeType, SearchAttribute, attribute_schema
from ultracrawl.sources.definition import DataSource, SourceEntry, SourceName, SourceOptions
from ultracrawl.sources.kinds import kept_attributes
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.sources.sections.documents.document_options import RELATION_ATTRIBUTES
from ultracrawl.sources.sections.documents.lists import ListedValues
from ultracrawl.sources.sections.notices import NoticesSection
from ultracrawl.sources.sections.project import (
    CacheSection,
    DestinationSection,
    DocumentsSection,
    FurtherIndex,
    IndexSection,
    LogsSection,
    ProcessesSection,
    ProfileSection,
    SearchPageSection,
    StateSection,
    StorageSection,
)
from ultracrawl.sources.sections.schedules import ScheduleSection
from ultracrawl.sources.sections.search import SearchSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.sections.sign_in import SignInSection
from ultracrawl.sources.values import AttributeName, one_or_list

_CURRENT_FOLDER = Path()


def _lower_text(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


AttributeKind = Annotated[AttributeType, BeforeValidator(_lower_text)]


def _place(section: IndexSection | FurtherIndex) -> object:
    """Return what no two indexes of a project may share: the folder, or servers and name."""
    return (frozenset(section.url), section.name) if section.engine == "opensearch" else section.path


def _check_indexes(value: Mapping[str, FurtherIndex], info: ValidationInfo) -> Mapping[str, FurtherIndex]:
    if PROJECT_INDEX in value:
        raise mistake(f"`{PROJECT_INDEX}` is the index of the project", "choose another name")
    own = info.data.get("index")
    places = {_place(own): PROJECT_INDEX} if own is not None else {}
    for name, section in value.items():
        if (other := places.setdefault(_place(section.named(name)), name)) != name:
            raise mistake(f"`{name}` is the same index as `{other}`", "give it a `path` or `name` of its own")
    return value


def _check_destinations(
    value: Mapping[str, DestinationSection], info: ValidationInfo
) -> Mapping[str, DestinationSection]:
    indexes = {PROJECT_INDEX: info.data.get("index"), **info.data.get("indexes", {})}
    for name, section in value.items():
        if name in indexes:
            raise mistake(f"`{name}` is the name of an index", "choose another name")
        for other, index in indexes.items():
            if index is not None and _writes_into(section, index):
                raise mistake(
                    f"the destination `{name}` is on the servers of the index `{other}`, under its name",
                    "give it another `collection`: an `engine` keeps the search of ultracrawl, a `type` sends records "
                    "to programs that search by themselves, and neither reads the other",
                )
    return value


def _writes_into(destination: DestinationSection, index: IndexSection | FurtherIndex) -> bool:
    """Return whether a search engine gets records in the place that an index has on the same servers."""
    if destination.type not in ("elasticsearch", "opensearch") or index.engine != "opensearch":
        return False
    servers = {url.rstrip("/") for url in index.url}
    is_named = destination.collection == index.name or destination.collection.startswith(f"{index.name}-")
    return is_named and str(destination.url).rstrip("/") in servers


class DefinitionHead(Section):
    """The project-wide options of a definition file."""

    index: IndexSection = Field(default=IndexSection.by_default(), examples=["var/index"])
    """The full-text index, or just its path."""
    indexes: Annotated[Mapping[SourceName, FurtherIndex], AfterValidator(_check_indexes)] = Field(
        default={}, examples=[{"archive": {"engine": "whoosh", "path": "var/archive"}}]
    )
    """Further indexes by name, each with its path. Sources refer to them in `feeding`."""
    destinations: Annotated[Mapping[SourceName, DestinationSection], AfterValidator(_check_destinations)] = (
        Field(default={}, examples=[{"export": {"type": "jsonl", "path": "var/export.jsonl"}}])
    )
    """Destinations of documents other than indexes, by name. Sources refer to them in `feeding`."""
    state: StateSection = Field(default=StateSection.by_default(), examples=["var/state"])
    """The document tables and queues, or just their path."""
    cache: CacheSection = Field(default=CacheSection.by_default(), examples=["var/cache"])
    """The persistent document cache, or just its path."""
    documents: DocumentsSection = Field(default=DocumentsSection.by_default(), examples=["var/documents"])
    """The stored documents of sources, or just their path."""
    logs: LogsSection = Field(default=LogsSection.by_default(), examples=["var/log"])
    """The logs of sources, or just their path."""
    key_file: Path | None = Field(default=None, examples=["config/password.key"])
    """The key file for encrypted passwords. `ultracrawl secret new-key` creates one."""
    attributes: Mapping[AttributeName, AttributeKind] = Field(
        default={}, examples=[{"Product": "string", "Price": "number", "Published": "date"}]
    )
    """Search attributes in addition to the eight default ones: name and type."""
    searched_attributes: Annotated[tuple[AttributeName, ...], one_or_list(AttributeName)] = Field(
        default=(), examples=[["Author", "Product"]]
    )
    """Text attributes whose words searches without an attribute find, too. After a change the next crawl makes all
    documents again."""
    lists: Mapping[AttributeName, ListedValues] = Field(
        default={}, examples=[{"Country": {"de": {"en": "Germany", "de": "Deutschland"}}}]
    )
    """Lists of values: the values of a search attribute, with display names by language."""
    schedules: Mapping[SourceName, ScheduleSection] = Field(
        default={}, examples=[{"nightly": {"sources": ["handbook"], "cron": "0 3 * * *"}}]
    )
    """Schedules by name: which sources are crawled when, while `ultracrawl serve` or `crawl --continuous` runs."""
    profiles: Mapping[SourceName, ProfileSection] = Field(
        default={},
        examples=[{"north": {"scrapyd": "http://north.example.com:6800", "project": "intranet_sources"}}],
    )
    """Other machines by name. Schedules name the machine on which their crawls run."""
    notices: NoticesSection = Field(
        default=NoticesSection.by_default(), examples=[{"to": {"operators": {"url": "${OPERATORS_MAIL}"}}}]
    )
    """Whom `ultracrawl serve` notifies when something needs attention."""
    search: SearchSection = Field(
        default=SearchSection.by_default(), examples=[{"synonyms": "config/synonyms.txt"}]
    )
    """How searches are answered: synonyms, pinned URLs, weights."""
    search_page: SearchPageSection = Field(
        default=SearchPageSection.by_default(), examples=[{"public": True, "title": "Example Docs"}]
    )
    """The page on which people search, at `/` of `ultracrawl serve`."""
    sign_in: SignInSection = Field(
        default=SignInSection.by_default(), examples=[{"proxy": {"networks": ["10.1.0.7"]}}]
    )
    """Users of `ultracrawl serve` whom another system signs in."""
    processes: ProcessesSection = Field(
        default=ProcessesSection.by_default(), examples=[{"jobs": 4, "memory": "1 GB"}]
    )
    """The processes of concurrent crawls."""

    def resolved_storage(self, base: Path, instead_of: Path = _CURRENT_FOLDER) -> dict[str, Any]:
        """Return all storage sections, with paths that are relative or below `instead_of` moved below `base`."""
        options = ((name, getattr(self, name)) for name in DefinitionHead.model_fields)
        sections = {name: section for name, section in options if isinstance(section, StorageSection)}
        return {
            **{name: section.resolve_paths(base, instead_of) for name, section in sections.items()},
            "indexes": {
                name: section.named(name).resolve_paths(base, instead_of)
                for name, section in self.indexes.items()
            },
            "destinations": {
                name: section.resolve_paths(base, instead_of) for name, section in self.destinations.items()
            },
        }


class DefinitionFile(DefinitionHead):
    """A whole definition file, for its JSON schema."""

    defaults: SourceOptions = Field(default=SourceOptions.by_default(), examples=[{"depth": 5}])
    """Default options for all sources. A source overrides them option by option."""
    sources: Mapping[SourceName, SourceEntry] = Field(
        default={}, examples=[{"handbook": {"start_urls": ["https://handbook.example.com/"]}}]
    )
    """The data sources by name."""


@dataclass(frozen=True, slots=True)
class InvalidSource:
    """A source whose definition has mistakes: it is not crawled, but its stored data can be inspected."""

    known: DataSource
    """The source with those of its options that are valid."""
    findings: tuple[Finding, ...]


class Project(DefinitionHead):
    """Sources with the index, state and cache they share; all paths are absolute."""

    base: Path = Field()
    """The folder that relative paths are relative to."""
    definitions: str = Field(default="")
    """The absolute path of the file or folder that the project was read from; empty if it was made otherwise."""
    sources: Mapping[str, DataSource] = Field(default={})
    """The data sources by name."""
    invalid_sources: Mapping[str, InvalidSource] = Field(default={})
    """Sources with mistakes in their definitions, by name; they are not in `sources`."""
    adhoc_sources: Mapping[str, DataSource] = Field(default={})
    """Sources of `crawl --url` with the same state, by name, which the definitions do not name; they are not in
    `sources`, and are crawled only when they are named."""
    mistakes: tuple[Finding, ...] = Field(default=())
    """Mistakes that affect all sources; if there is any, none is crawled."""

    def __str__(self) -> str:
        number = len(self.sources)
        return f"project in {self.base} ({number} source{'' if number == 1 else 's'})"

    @property
    def has_mistakes(self) -> bool:
        """Whether a definition has mistakes, so that sources may be missing in `known_sources`."""
        return bool(self.mistakes or self.invalid_sources)

    @property
    def known_sources(self) -> dict[str, DataSource]:
        """All sources by name, invalid ones with their valid options only: to inspect their stored data."""
        invalid = {name: source.known for name, source in self.invalid_sources.items()}
        return {**self.adhoc_sources, **invalid, **self.sources}

    @property
    def public_sources(self) -> tuple[str, ...]:
        """The names of the sources that say `public`; those with mistakes are not public."""
        return tuple(name for name, source in self.sources.items() if source.public)

    def schedule_of(self, source: str) -> str:
        """Return the name of the schedule that a source belongs to; empty if there is none."""
        return next((name for name, schedule in self.schedules.items() if source in schedule.sources), "")

    def profile_of(self, source: str) -> str:
        """Return the name of the profile of the machine that crawls a source; empty for this machine."""
        schedule = self.schedules.get(self.schedule_of(source))
        return schedule.profile if schedule is not None else ""

    def node_of(self, source: str) -> str:
        """Return the name of the node that alone crawls a source by time; empty for any machine."""
        schedule = self.schedules.get(self.schedule_of(source))
        return schedule.node if schedule is not None else self.known_sources[source].node

    def default_interval_of(self, source: DataSource) -> float | None:
        """Return the seconds between two crawls of a source by `serve` if it has no times of its own.

        None if a schedule names it, even one that is disabled, if it has `refresh.interval` or `when_idle`, or if there
        is no default.
        """
        has_times = source.refresh.interval is not None or source.refresh.when_idle
        if has_times or self.schedule_of(source.name):
            return None
        return self.processes.default_interval

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The data groups by name, each with its sources (Ultra Search 2.5)."""
        found: dict[str, tuple[str, ...]] = {}
        for source in self.known_sources.values():
            for group in dict.fromkeys(source.groups):
                found[group] = (*found.get(group, ()), source.name)
        return found

    @property
    def schema_attributes(self) -> dict[str, SearchAttribute]:
        """All search attributes by name: the eight defaults, those of `attributes`, then those of `relations`."""
        searched = set(self.searched_attributes)
        own = (SearchAttribute(name, kind) for name, kind in self.attributes.items())
        related = {
            RELATION_ATTRIBUTES[name]
            for source in self.known_sources.values()
            for name in source.relations.names
        }
        fields = (OTHER_FIELDS,) if any(map(kept_attributes, self.known_sources.values())) else ()
        schema = attribute_schema((*own, *map(SearchAttribute, sorted(related)), *fields))
        return schema | {name: replace(schema[name], searched=True) for name in searched & schema.keys()}


def make_project(
    head: DefinitionHead,
    sources: Mapping[str, DataSource],
    base: Path,
    *,
    invalid_sources: Mapping[str, InvalidSource] | None = None,
    mistakes: tuple[Finding, ...] = (),
) -> Project:
    """Return the project of a validated head and its sources; relative paths become absolute below `base`."""
    base = base.absolute()
    options = {name: getattr(head, name) for name in DefinitionHead.model_fields}
    options |= {
        **head.resolved_storage(base),
        "key_file": base / head.key_file if head.key_file else None,
        "search": head.search.resolve_paths(base),
        "search_page": head.search_page.resolve_paths(base),
        "base": base,
        "sources": {name: _with_absolute_paths(source, base) for name, source in sources.items()},
        "invalid_sources": invalid_sources or {},
        "mistakes": mistakes,
    }
    return Project.model_construct(**options)


def _with_absolute_paths(source: DataSource, base: Path) -> DataSource:
    """Return a source whose filter and program paths are absolute, below `base`."""
    update: dict[str, object] = {}
    if source.filters.file is not None:
        update["filters"] = source.filters.resolve_paths(base)
    if source.completion.programs is not None:
        programs = base / source.completion.programs
        update["completion"] = source.completion.model_copy(update={"programs": programs})
    return source.model_copy(update=update) if update else source
