"""Converts the destinations of collections: the index of each, and the primary one."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.forms.plain import free_name, source_name
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.values import Setting
from ultracrawl.sources import Data, OptionPath
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX

_SECTION = "feeding/*"
_DESTINATIONS: OptionPath = ("feeding", "destinations")
_FOLDER = "var/indexes"


def put_destinations(collection: Scope, draft: Draft, notices: Notices) -> None:
    """Add the destinations of a collection to its draft; each has its content collection as index."""
    found: dict[str, dict[str, Setting]] = {}
    for setting in collection.settings.values():
        if setting.spec.section == _SECTION:
            found.setdefault(setting.free, {})[setting.name] = setting
    whole = {label: parts for label, parts in found.items() if _has_collection(parts, notices)}
    names = _names(whole)
    for label, parts in whole.items():
        path = (*_DESTINATIONS, names[label])
        target = parts["collection"]
        draft.put_option((*path, "index"), source_name(str(target.value)), target)
        if "paused" in parts:
            draft.put_option((*path, "paused"), parts["paused"].value is True, parts["paused"])
    _choose_primary(whole, names, draft, notices)


def _has_collection(parts: dict[str, Setting], notices: Notices) -> bool:
    if "collection" in parts:
        return True
    setting = next(iter(parts.values()))
    problem = f"the destination `{setting.free}` has no collection"
    notices.add(Code.VALUE, setting.place, problem, "write its `collection`")
    return False


def _names(labels: Iterable[str]) -> dict[str, str]:
    """Return a valid and unique name for each destination label."""
    names: dict[str, str] = {}
    for label in labels:
        names[label] = free_name(source_name(label), names.values())
    return names


def _choose_primary(
    found: dict[str, dict[str, Setting]], names: dict[str, str], draft: Draft, notices: Notices
) -> None:
    marked = [label for label, parts in found.items() if "primary" in parts and parts["primary"].value]
    if len(found) > 1 and len(marked) != 1:
        first = (marked or list(found))[0]
        setting = found[first].get("primary", found[first]["collection"])
        how = "several destinations are primary" if marked else "no destination is primary"
        notices.add(Code.CONFLICT, setting.place, f"{how}; `{first}` is", "mark one of them")
    for label in marked[:1]:
        draft.put_option((*_DESTINATIONS, names[label], "primary"), True, found[label]["primary"])


def name_indexes(drafts: Iterable[Draft], collections: Collection[str], notices: Notices) -> dict[str, Data]:
    """Return the additional indexes that drafts feed, by name.

    A content collection with the name of a collection in the file is the index of the project, as for a collection
    without destinations.
    """
    indexes: dict[str, Data] = {}
    for draft in drafts:
        taken: set[Data] = set()
        for label in _labels(draft):
            path = (*_DESTINATIONS, label, "index")
            index = draft.get(path)
            if index in collections or index == PROJECT_INDEX:
                index = PROJECT_INDEX
                draft.put_from(path, index, draft.place(path))
            if index in taken:
                _drop(draft, label, notices)
                continue
            taken.add(index)
            if index != PROJECT_INDEX:
                indexes[str(index)] = {"path": f"{_FOLDER}/{index}"}
    return indexes


def _labels(draft: Draft) -> list[str]:
    feeding = draft.data().get("feeding")
    destinations = feeding.get("destinations") if isinstance(feeding, dict) else None
    return list(destinations) if isinstance(destinations, dict) else []


def _drop(draft: Draft, label: str, notices: Notices) -> None:
    place = draft.place((*_DESTINATIONS, label, "index"))
    for option in ("index", "paused", "primary"):
        draft.forget((*_DESTINATIONS, label, option))
    problem = f"`{label}` has the collection of another destination, and is left out"
    notices.add(Code.CONFLICT, place, problem, "write each collection once")
