"""Converts sub-collections: each becomes a source of its own that shares sites with its collection.

A collection and its sub-collections exchange the links that they find, so that each one gets its own URLs from all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.forms.plain import free_name, source_name
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.options import RULE_SECTIONS
from ultracrawl.dialects.fast_xml.translation import lines_of, translate
from ultracrawl.errors import UserError
from ultracrawl.sources import Data, DataSource, OptionPath, compile_source
from ultracrawl.sources.values import is_site

_DOMAINS: OptionPath = ("boundary", "domains", "include")
_URIS: OptionPath = ("boundary", "uris", "include")
_NO_DOMAINS: OptionPath = ("boundary", "domains", "exclude")
_NO_URIS: OptionPath = ("boundary", "uris", "exclude")
_ELSEWHERE: OptionPath = ("boundary", "elsewhere")
_AREA_RULES = {"hosts": _DOMAINS, "uris": _URIS, "except_hosts": _NO_DOMAINS, "except_uris": _NO_URIS}
"""The options of an area, and the rules of a sub-collection that they are taken from."""
_COMBINE: OptionPath = ("boundary", "combine")
_SCHEMES: OptionPath = ("boundary", "schemes")
_START: OptionPath = ("start_urls",)
_BEGINNINGS: dict[OptionPath, OptionPath] = {
    _START: ("start_url_files",),
    ("feeds", "urls"): ("feeds", "url_files"),
}
"""Lists of start URIs, and the options that name files with more of each."""
_SEND_LINKS: OptionPath = ("send_links_to",)
_BY_HOST = ("max_doc", "use_javascript", "use_sitemaps")
"""Options that work per host, so they cannot be combined with URI rules."""
_STARTS = ("start_uris", "start_uri_files")


def with_files(path: OptionPath, draft: Draft) -> OptionPath:
    """Return the option that names files if the start URI at a path is not written in the collection itself."""
    for urls, files in _BEGINNINGS.items():
        if path[: len(urls)] != urls or draft.get(files) is None:
            continue
        written, number = draft.get(urls), path[len(urls)] if len(path) > len(urls) else 0
        if not isinstance(written, list) or (isinstance(number, int) and number >= len(written)):
            return files
    return path


def drafts_of(
    collection: Scope, name: str, notices: Notices, taken: Collection[str] = ()
) -> dict[str, Draft]:
    """Return the drafts of a collection and of its sub-collections, by source names that are not `taken`."""
    main = translate(collection, notices)
    drafts = {name: main}
    areas: dict[str, Draft] = {}
    """The rules of each sub-collection, without those of the collection."""
    for sub in collection.subs.values():
        if not _has_rules(sub):
            continue
        part = translate(_inherit(collection, sub, notices), notices)
        own = Draft(sub.place, part)
        _restrict_to_collection(part, main, collection, sub)
        for other, area in areas.items():
            _exclude_area(part, other, area)
        label = free_name(f"{name}.{source_name(sub.name)}"[:100], (*drafts, *taken))
        areas[label] = own
        drafts[label] = part
    for label, area in areas.items():
        _exclude_area(main, label, area)
    _connect_sources(drafts, collection, Path(notices.file).parent)
    return drafts


def _has_rules(sub: Scope) -> bool:
    """Return whether a sub-collection has rules; one without was reported when it was read."""
    return any(section in RULE_SECTIONS for section, _ in sub.settings)


def _inherit(collection: Scope, sub: Scope, notices: Notices) -> Scope:
    """Return a sub-collection with the inherited options and logins; rules and start URIs are not inherited."""
    inherited = {
        key: setting
        for key, setting in collection.settings.items()
        if key[0] not in RULE_SECTIONS and key[1] not in _STARTS
    }
    own = dict(sub.settings)
    by_uri = any(section.endswith("_uris") for section, _ in own if section in RULE_SECTIONS)
    for name in _BY_HOST:
        if by_uri and ("", name) in own:
            setting = own.pop(("", name))
            problem = "cannot be combined with rules for URIs; the value of the collection is used"
            notices.add(Code.CONTEXT, setting.place, problem, "write it in the collection")
    if _is_longer(collection, sub):
        place = own.pop(("", "refresh")).place
        problem = "is not shorter than that of the collection, whose value is used"
        notices.add(Code.CONFLICT, place, problem, "write a shorter time, or remove it")
    return replace(sub, settings={**inherited, **own}, logins=collection.logins)


def _is_longer(collection: Scope, sub: Scope) -> bool:
    whole, part = (scope.settings.get(("", "refresh")) for scope in (collection, sub))
    longest = whole.value if whole is not None else 1500.0
    return part is not None and float(str(part.value)) >= float(str(longest))


def _restrict_to_collection(part: Draft, main: Draft, collection: Scope, sub: Scope) -> None:
    """Restrict a sub-collection to the URLs of its collection."""
    whole_by_host, whole_by_uri = main.get(_DOMAINS) != ["*"], bool(main.get(_URIS))
    by_host, by_uri = part.get(_DOMAINS) != ["*"], bool(part.get(_URIS))
    if whole_by_host and not whole_by_uri and by_uri and not by_host:
        part.put_option(_COMBINE, "all")
        part.copy(_DOMAINS, main)
    elif whole_by_uri and not whole_by_host and by_host and not by_uri:
        part.put_option(_COMBINE, "all")
        part.copy(_URIS, main)
    elif not by_host and not by_uri:
        part.copy(_DOMAINS, main)
        part.copy(_URIS, main)
    if ("", "allowed_schemes") not in {*collection.settings, *sub.settings}:
        _widen(part, main)
    for path in (_NO_DOMAINS, _NO_URIS):
        part.extend(path, main, path)


def _widen(part: Draft, main: Draft) -> None:
    """Use the schemes of the collection if the sub-collection has fewer."""
    if len(_texts(part.get(_SCHEMES))) < len(_texts(main.get(_SCHEMES))):
        part.copy(_SCHEMES, main)


def _exclude_area(draft: Draft, owner: str, area: Draft) -> None:
    """Exclude the area of a sub-collection from another source."""
    for name, source in _AREA_RULES.items():
        if area.get(source) not in (None, [], ["*"]):
            draft.extend((*_ELSEWHERE, owner, name), area, source)
    if not draft.below((*_ELSEWHERE, owner)):  # the area is unrestricted
        draft.put_option((*_ELSEWHERE, owner, "hosts"), [])


def _connect_sources(drafts: dict[str, Draft], collection: Scope, folder: Path) -> None:
    """Make the sources of a collection exchange links, trust the same sites, and form one data group."""
    main, *parts = drafts.values()
    if not parts:
        return
    for part in parts:
        _give_back(part, main, folder)
    listed = {path: _urls_in_files(main.get(files), folder) for path, files in _BEGINNINGS.items()}
    urls = [url for path, inner in listed.items() for url in (*_texts(main.get(path)), *inner)]
    own = _sites(urls)
    for part in parts:
        covered = _urls_inside(part, urls)
        for path, inner in listed.items():
            part.extend(path, main, path, only=covered)
            part.append(path, [url for url in inner if url in covered], main, _BEGINNINGS[path])
            _remove_urls(main, path, covered)
    sent = _texts(main.get(_SEND_LINKS))
    for name, draft in drafts.items():
        others = [other for other in drafts if other != name]
        draft.put_option(_SEND_LINKS, [*sent, *others])
        draft.put_option(("takes_links",), True)
        draft.put_option(("own_sites",), [*own])
        draft.put_option(("groups",), [source_name(collection.name)])


def _give_back(part: Draft, main: Draft, folder: Path) -> None:
    """Give the start URIs of a sub-collection that its rules do not cover to its collection, whose URIs they are."""
    for path, files in _BEGINNINGS.items():
        listed, own = _urls_in_files(part.get(files), folder), _texts(part.get(path))
        outside = {*own, *listed} - _urls_inside(part, [*own, *listed])
        main.extend(path, part, path, only=outside)
        main.append(path, [url for url in listed if url in outside], part, files)
        _remove_urls(part, path, outside)
        if outside.intersection(listed):
            part.append(path, [url for url in listed if url not in outside], part, files)
            part.forget(files)


def _urls_in_files(names: object, folder: Path) -> list[str]:
    """Return the URIs in files; unreadable files are reported when the draft is loaded."""
    found: dict[str, None] = {}
    for name in _texts(names):
        lines = map(str.strip, lines_of(folder / name))
        found.update((line, None) for line in lines if line and not line.startswith("#"))
    return list(found)


def _sites(urls: Iterable[str]) -> list[Data]:
    """Return the sites of start URIs, each once."""
    found: dict[str, None] = {}
    for url in urls:
        scheme, _, rest = url.partition("://")
        if is_site(url):  # invalid URIs are reported elsewhere
            found[f"{scheme}://{rest.partition('/')[0]}/"] = None
    return [*found]


def _remove_urls(draft: Draft, path: OptionPath, urls: set[str]) -> None:
    known = _texts(draft.get(path))
    for number in reversed(range(len(known))):
        if known[number] in urls:
            draft.drop((*path, number))


def _texts(value: object) -> Sequence[str]:
    return [str(member) for member in value] if isinstance(value, list) else []


def _urls_inside(part: Draft, urls: Iterable[str]) -> set[str]:
    """Return those start URIs that are inside a sub-collection."""
    rules = Draft(part.place(()), part)
    for path in (path for pair in _BEGINNINGS.items() for path in pair):
        rules.forget(path)  # files are relative to the definition, which is not known here
    try:
        source = DataSource.model_validate({**rules.data(), "name": "part", "takes_links": True})
        compiled = compile_source(source)
    except (ValidationError, UserError):  # reported when the draft is loaded
        return set()
    found = {url: compiled.url_policy.canonical(url) for url in urls}
    return {
        url
        for url, canonical in found.items()
        if canonical and compiled.boundary.rejects(canonical, seed=True) is None
    }


def send_links(drafts: dict[str, Draft], names: Iterable[tuple[str, Scope]], notices: Notices) -> None:
    """Resolve `send_links_to` to collections of this file."""
    for name, collection in names:
        setting = collection.settings.get(("", "send_links_to"))
        target = source_name(str(setting.value)) if setting is not None else ""
        if setting is None or not target:
            continue
        if target in drafts and target != name:
            drafts[target].put_option(("takes_links",), True)
        else:
            drafts[name].forget(_SEND_LINKS)
            problem = f"there is no other collection `{setting.value}` in this file; links are not sent"
            notices.add(Code.CONTEXT, setting.place, problem, "write both collections in one file")
