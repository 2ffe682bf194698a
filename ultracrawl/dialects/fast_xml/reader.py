"""Reads the XML file of collections, and the defaults file beside it, into a project with a source for each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from socket import gethostname

from ultracrawl.dialects.fast_xml.collection import Scope, apply_node, merge_layers
from ultracrawl.dialects.fast_xml.document import DocumentError, parse_document
from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.forms.access import PROXIES, check_proxies
from ultracrawl.dialects.fast_xml.forms.destinations import name_indexes
from ultracrawl.dialects.fast_xml.forms.networks import NETWORKS_FILE, open_networks, read_networks
from ultracrawl.dialects.fast_xml.forms.plain import free_name, source_name
from ultracrawl.dialects.fast_xml.grammar import read_grammar
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.start_uris import with_files
from ultracrawl.dialects.fast_xml.sub_collections import drafts_of, send_links
from ultracrawl.dialects.fast_xml.values import Setting
from ultracrawl.dialects.fast_xml.wording import NO_START_ADVICE, NO_START_PROBLEM, in_xml_terms, xml_advice
from ultracrawl.model import Finding
from ultracrawl.model.finding import FindingCode, fatal_of
from ultracrawl.sources import (
    Data,
    DefinitionHead,
    Loaded,
    OptionPath,
    PathFinding,
    Place,
    load_tree,
    make_project,
)
from ultracrawl.sources.reading.locations import track_file

DEFAULTS_FILE = "crawlercollectiondefaults.xml"
"""The file beside a collection file with the defaults of its options."""
KEY_FILE = "password.key"
"""The file beside a collection file with the key of encrypted passwords."""
NODE_VARIABLE = "ULTRACRAWL_NODE"
"""The environment variable with the name of this node; the default is the host name."""
CA_FILE = "ca.pem"
"""Root certificates beside a file of collections, for which XML has no option."""
MAX_BYTES = 64 << 20
"""Maximum size of a file, in bytes."""


def read_collections(location: str | Path) -> Loaded:
    """Read the collections of a file. Whatever cannot be used is reported in the findings."""
    path = Path(location)
    notices = Notices(str(path))
    return load_collections(path, read_scopes(path, notices), notices)


def load_collections(path: Path, collections: Sequence[Scope], notices: Notices) -> Loaded:
    """Load collections as the content of a file, with the defaults and networks beside it."""
    defaults = _read_defaults(path, notices)
    networks = read_networks(path, notices)
    if notices.fatal:
        return _without_collections(path, tuple(notices))
    if not collections:
        return _without_collections(
            path, (*notices, Finding(str(path), 0, "file", "no collection", "write one"))
        )
    tree = _CollectionTree(
        str(path), [merge_layers([*defaults, collection]) for collection in collections], notices
    )
    tree.open_networks(networks)
    tree.trust(path.with_name(CA_FILE))
    return _load(tree, path.absolute().parent, notices)


def _without_collections(path: Path, findings: tuple[Finding, ...]) -> Loaded:
    """Return the result for a file without a usable collection: a project with storage paths only."""
    base, fatal = path.absolute().parent, fatal_of(findings)
    return Loaded(None, findings, make_project(DefinitionHead(), {}, base, mistakes=fatal))


def sources_of(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the source names of each collection of a file: its own first, then those of its sub-collections."""
    notices = Notices(str(path))
    defaults = _read_defaults(path, notices)
    layers = [merge_layers([*defaults, collection]) for collection in read_scopes(path, notices)]
    return _CollectionTree(str(path), layers, notices).sources


def read_scopes(path: Path, notices: Notices) -> list[Scope]:
    """Return the collections of one file, without other layers."""
    track_file(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise DocumentError(0, f"is larger than {MAX_BYTES >> 20} MB", "split it into several files")
        data = path.read_bytes()
        if not data.strip():
            raise DocumentError(0, "is empty", "write a `CrawlerConfig` with a `DomainSpecification`")
        root = parse_document(data)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        notices.add(Code.XML, notices.place(0), problem, "check the file and its rights")
    except DocumentError as error:
        notices.add(Code.XML, notices.place(error.line), error.problem, error.instead)
    else:
        return read_grammar(root, notices)
    return []


def _read_defaults(path: Path, notices: Notices) -> list[Scope]:
    """Return the collection of the defaults file, empty without one; adds its notices."""
    beside = path.with_name(DEFAULTS_FILE)
    if path.name == DEFAULTS_FILE or not beside.exists():
        return []
    own = Notices(str(beside))
    found = read_scopes(beside, own)
    notices.add_all(own)
    return found[:1]


def _load(tree: _CollectionTree, base: Path, notices: Notices) -> Loaded:
    """Load the sources; drop invalid list members and retry until none is left."""
    key_file = base / KEY_FILE if (base / KEY_FILE).is_file() else None
    loaded, faults = load_tree(tree, base, key_file)
    while tree.drop_members(faults, notices) or tree.drop_idle_collections(faults, notices):
        loaded, faults = load_tree(tree, base, key_file)
    findings = _in_order((*notices, *map(in_xml_terms, _merge_secret_findings(loaded.findings))))
    rest = loaded.partial_project
    if rest is not None:
        mistaken = {
            name: replace(invalid, findings=tuple(map(in_xml_terms, invalid.findings)))
            for name, invalid in rest.invalid_sources.items()
        }
        mistakes = (*fatal_of(notices), *map(in_xml_terms, rest.mistakes))
        rest = rest.model_copy(update={"invalid_sources": mistaken, "mistakes": mistakes})
    return Loaded(None if notices.fatal else loaded.project, findings, rest, loaded.place)


def _merge_secret_findings(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings, but only the first one about passwords in clear text."""
    told = False
    for finding in findings:
        if finding.code is not FindingCode.SECRET_IN_CLEAR:
            yield finding
        elif not told:
            told = True
            yield replace(finding, problem=f"{Code.PLAIN_PASSWORD}: {finding.problem}")


def _in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(dict.fromkeys(findings), key=lambda finding: (finding.file, finding.line)))


class _CollectionTree:
    """The collections of a file as a `Tree` of sources."""

    def __init__(self, file: str, collections: Iterable[Scope], notices: Notices) -> None:
        self.file = file
        self._notices = notices
        self._drafts: dict[str, Draft] = {}
        self._named: list[tuple[str, Scope]] = []
        self.sources: dict[str, tuple[str, ...]] = {}
        """The sources of each collection, by its name."""
        node = os.environ.get(NODE_VARIABLE) or gethostname()
        for collection in collections:
            report_ineffective_options(collection, node, notices)
            self._add(apply_node(collection, node))
        send_links(self._drafts, self._named, notices)
        names = {source_name(scope.name) for _, scope in self._named}
        self._indexes = name_indexes(self._drafts.values(), names, notices)

    def _add(self, collection: Scope) -> None:
        name = source_name(collection.name)
        if name != collection.name:
            problem = f"becomes the source `{name}`"
            instead = "write letters, digits, `.`, `_` and `-` only to keep its name"
            self._notices.add(Code.RANGE, collection.place, problem, instead)
        name = free_name(name, self._drafts)
        self._named.append((name, collection))
        drafts = drafts_of(collection, name, self._notices, self._drafts)
        self.sources[collection.name] = tuple(drafts)
        self._drafts.update(drafts)

    def open_networks(self, networks: dict[str, int]) -> None:
        """Allow all sources to reach networks, given with their lines in the file."""
        file = str(Path(self.file).with_name(NETWORKS_FILE))
        for draft in self._drafts.values():
            open_networks(draft, networks, file)

    def trust(self, roots: Path) -> None:
        """Have all sources check server certificates against root certificates, if there is such a file."""
        track_file(roots)
        for draft in self._drafts.values() if roots.exists() else ():
            draft.put_from(("http", "ca"), roots.name, Place(str(roots), 0, "file"))

    def place(self, path: OptionPath) -> Place:
        """Return the place of an option in the XML file."""
        draft = self._drafts.get(str(path[1])) if len(path) > 1 else None
        return draft.place(with_files(path[2:], draft)) if draft else Place(self.file, 0, "file")

    def get(self, key: str) -> Data:
        """Return the sources, or the additional indexes that they feed."""
        if key == "indexes":
            return self._indexes
        return {name: draft.data() for name, draft in self._drafts.items()} if key == "sources" else None

    def drop_members(self, faults: Iterable[PathFinding], notices: Notices) -> bool:
        """Drop the invalid list members, the last ones first; return whether any was dropped."""
        dropped = False
        for fault in sorted(faults, key=_member_order, reverse=True):
            place = self.place(fault.path)
            draft = self._drafts.get(str(fault.path[1])) if len(fault.path) > 1 else None
            if draft is not None and _is_kept(fault.path, draft):
                continue
            if draft is not None and draft.drop(fault.path[2:]):
                dropped = True
                if fault.path[2:4] == PROXIES:
                    check_proxies(draft, place, notices)
                problem = f"a member is dropped: {fault.problem}"
                notices.add(Code.MEMBER, place, problem, xml_advice(place.key, fault.instead))
        return dropped

    def drop_idle_collections(self, faults: Iterable[PathFinding], notices: Notices) -> bool:
        """Remove the collections without a start URI, if others have one; return whether any was removed."""
        idle = {str(fault.path[1]) for fault in faults if fault.code is FindingCode.NO_START}
        if not idle < self._drafts.keys():
            return False
        for name in sorted(idle):
            place = self.place(("sources", name, "start_urls"))
            del self._drafts[name]
            notices.add(Code.NO_START, place, NO_START_PROBLEM, NO_START_ADVICE)
        return bool(idle)


_KEPT = frozenset(
    {"exclude", "exclude_headers", "elsewhere", "rewrite_rules", "start_url_files", "url_files"}
)
"""Options whose members are never dropped: they exclude or rewrite something, or name a file that may come back."""


def _is_kept(path: OptionPath, draft: Draft) -> bool:
    """Return whether a member is not dropped: the crawl would be another one without it."""
    if _KEPT & set(path):
        return True
    restriction = next((name for name in ("include", "languages") if name in path), None)
    members = draft.get(path[2 : path.index(restriction) + 1]) if restriction else None
    return isinstance(members, list) and len(members) == 1


def _member_order(fault: PathFinding) -> tuple[str, tuple[int, ...]]:
    """Sort key: faults by list, then by member."""
    names = "/".join(str(step) for step in fault.path if isinstance(step, str))
    return names, tuple(step for step in fault.path if isinstance(step, int))


def report_ineffective_options(collection: Scope, node: str, notices: Notices) -> None:
    """Add a notice for each ineffective option that a collection sets in its own file."""
    for setting in _settings(collection):
        if setting.place.file == notices.file and not setting.spec.honoured:
            _report(setting, notices)
    if collection.nodes and node not in collection.nodes:
        problem = f"none of the nodes is this one (`{node}`); their options are ignored"
        place = collection.place._replace(line=min(scope.line for scope in collection.nodes.values()))
        notices.add_once("node", Code.CLUSTER, place, problem, "set ULTRACRAWL_NODE to be one of them")


def _report(setting: Setting, notices: Notices) -> None:
    spec = setting.spec
    if spec.no_effect:
        code = Code.CLUSTER if spec.group == "CLUSTER" else Code.TUNING
        problem = f"has no effect here: {spec.no_effect}"
        notices.add_once(spec.path, code, setting.place, problem, "leave it as it is")
    elif setting.value != spec.default:
        problem = f"has no effect yet: {spec.not_yet}"
        notices.add_once(spec.path, Code.MISSING, setting.place, problem, "do not rely on it")


def _settings(scope: Scope) -> Iterator[Setting]:
    yield from scope.settings.values()
    for part in (*scope.logins.values(), *scope.subs.values(), *scope.nodes.values()):
        yield from _settings(part)
