"""Converts sub-collections: each becomes a source of its own that shares sites with its collection.

A collection and its sub-collections exchange the links that they find, so that each one gets its own URLs from all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.forms.plain import free_name, source_name
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.options import RULE_SECTIONS
from ultracrawl.dialects.fast_xml.start_uris import share_out
from ultracrawl.dialects.fast_xml.translation import translate
from ultracrawl.sources import OptionPath

_DOMAINS: OptionPath = ("boundary", "domains", "include")
_URIS: OptionPath = ("boundary", "uris", "include")
_NO_DOMAINS: OptionPath = ("boundary", "domains", "exclude")
_NO_URIS: OptionPath = ("boundary", "uris", "exclude")
_ELSEWHERE: OptionPath = ("boundary", "elsewhere")
_AREA_RULES = {"hosts": _DOMAINS, "uris": _URIS, "except_hosts": _NO_DOMAINS, "except_uris": _NO_URIS}
"""The options of an area, and the rules of a sub-collection that they are taken from."""
_COMBINE: OptionPath = ("boundary", "combine")
_SEND_LINKS: OptionPath = ("send_links_to",)
_BY_HOST = ("max_doc", "use_javascript", "use_sitemaps")
"""Options that work per host, so they cannot be combined with URI rules."""
_STARTS = ("start_uris", "start_uri_files")


def drafts_of(
    collection: Scope, name: str, notices: Notices, taken: Collection[str] = ()
) -> dict[str, Draft]:
    """Return the drafts of a collection and of its sub-collections, by source names that are not `taken`."""
    main = translate(collection, notices)
    drafts = {name: main}
    names = [collection.name]
    areas: dict[str, Draft] = {}
    """The rules of each sub-collection, without those of the collection."""
    for sub in collection.subs.values():
        if not _has_rules(sub):
            continue
        part = translate(_inherit(collection, sub, notices), notices)
        own = Draft(sub.place, part)
        _restrict_to_collection(part, main)
        for other, area in areas.items():
            _exclude_area(part, other, area)
        label = free_name(f"{name}.{source_name(sub.name)}"[:100], (*drafts, *taken))
        areas[label] = own
        drafts[label] = part
        names.append(sub.name)
    for label, area in areas.items():
        _exclude_area(main, label, area)
    share_out(drafts, names, notices)
    if areas:
        _connect_sources(drafts, collection)
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


def _restrict_to_collection(part: Draft, main: Draft) -> None:
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
    for path in (_NO_DOMAINS, _NO_URIS):
        part.extend(path, main, path)


def _exclude_area(draft: Draft, owner: str, area: Draft) -> None:
    """Exclude the area of a sub-collection from another source."""
    for name, source in _AREA_RULES.items():
        if area.get(source) not in (None, [], ["*"]):
            draft.extend((*_ELSEWHERE, owner, name), area, source)
    if not draft.below((*_ELSEWHERE, owner)):  # the area is unrestricted
        draft.put_option((*_ELSEWHERE, owner, "hosts"), [])


def _connect_sources(drafts: dict[str, Draft], collection: Scope) -> None:
    """Make the sources of a collection exchange links, and form one data group."""
    sent = drafts[next(iter(drafts))].get(_SEND_LINKS)
    for name, draft in drafts.items():
        others = [other for other in drafts if other != name]
        draft.put_option(_SEND_LINKS, [*(sent if isinstance(sent, list) else []), *others])
        draft.put_option(("takes_links",), True)
        draft.put_option(("groups",), [source_name(collection.name)])


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
