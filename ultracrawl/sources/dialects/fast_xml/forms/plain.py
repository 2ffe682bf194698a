"""How values of a collection become values of a source definition: one function for each form."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import count as numbers

from ultracrawl.sources import Data, OptionPath
from ultracrawl.sources.dialects.fast_xml.draft import Draft
from ultracrawl.sources.dialects.fast_xml.forms import access as access_forms
from ultracrawl.sources.dialects.fast_xml.notices import Code, Notices
from ultracrawl.sources.dialects.fast_xml.values import Setting
from ultracrawl.sources.mistakes import format_value

Form = Callable[[Setting, OptionPath, Draft, Notices], None]
"""Puts a setting into a draft at a path."""

_RULES = {"ipmask": "mask", "ip6mask": "mask"}
"""Kinds of rules that have another name in a definition."""

_LEGACY_TYPES = {
    "application/msexcel": ("application/vnd.ms-excel",),
    "application/ppt": ("application/vnd.ms-powerpoint", "application/mspowerpoint"),
}
"""Names that servers hardly send, and those that they send instead."""

_SECONDS = re.compile(r"\+?(\d{1,9}(\.\d*)?|\.\d+)", re.ASCII)
_DEPTH = re.compile(r"depth:(\d{1,9})", re.IGNORECASE)
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def source_name(name: str) -> str:
    """Return the name of the source that a collection is: what may not stand in one becomes a hyphen."""
    return _UNFIT.sub("-", name).strip("-._")[:100] or "collection"


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for a source that no other one has."""
    others = (f"{name[:95]}-{number}" for number in numbers(2))
    return name if name not in taken else next(one for one in others if one not in taken)


def _each(setting: Setting, path: OptionPath, draft: Draft, change: Callable[[str], Data]) -> None:
    assert isinstance(setting.value, tuple)
    draft.open_list(path, setting)
    lines = setting.lines or (setting.place.line,) * len(setting.value)
    for text, line in zip(setting.value, lines, strict=True):
        draft.add(path, change(text), setting, line)


def plain(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Take the value as it is."""
    if isinstance(setting.value, tuple):
        _each(setting, path, draft, lambda text: text)
    else:
        draft.put_option(path, setting.value, setting)


def rule(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Write each member as a rule of the kind that the option names."""
    kind = _RULES.get(setting.name, setting.name)
    if kind == "mask":
        _each(setting, path, draft, lambda text: {kind: "".join(text.split())})
    else:
        _each(setting, path, draft, lambda text: {kind: text})


def extensions(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Take extensions that stand alone or with commas between them."""
    assert isinstance(setting.value, tuple)
    draft.open_list(path, setting)
    for number, text in enumerate(setting.value):
        for part in filter(None, map(str.strip, text.split(","))):
            draft.add(path, part, setting, setting.lines[number])


def types(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Add to old names of media types the registered ones."""
    _each(setting, path, draft, lambda text: text)
    assert isinstance(setting.value, tuple)
    for number, text in enumerate(setting.value):
        for other in _LEGACY_TYPES.get(text.lower(), ()):
            draft.add(path, other, setting, setting.lines[number] if setting.lines else setting.place.line)


def depth(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Read `FULL` or `DEPTH:n`."""
    text = str(setting.value)
    found = _DEPTH.fullmatch(text)
    if found:
        draft.put_option(path, int(found[1]), setting)
    elif text.upper() == "FULL":
        draft.put_option(path, "FULL", setting)
        if text != "FULL":
            notices.add(Code.CASE, setting.place, f"{format_value(text)} is taken for `FULL`", "write `FULL`")
    else:
        notices.add(Code.VALUE, setting.place, f"{format_value(text)} is no mode", "write FULL or DEPTH:n")


def span(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Read seconds, or `suspend`."""
    text = str(setting.value)
    if text.lower() == "suspend":
        draft.put_option(path, "suspend", setting)
    elif _SECONDS.fullmatch(text):
        draft.put_option(path, float(text), setting)
    else:
        problem = f"{format_value(text)} is neither a delay nor `suspend`"
        instead = "write seconds, as `30`, or `suspend`"
        notices.add(Code.VALUE, setting.place, problem, instead)


def collection(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Name the source that a collection is."""
    draft.put_option(path, [source_name(str(setting.value))], setting)


def logged(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Switch a log on with every value but `none`."""
    draft.put_option(path, setting.value != "none", setting)


def datastore(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Take the form of the store: each document a file, or all in one."""
    draft.put_option(path, "files" if setting.value == "flatfile" else "blocks", setting)


def count(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Take 0 for no limit."""
    assert isinstance(setting.value, int | None)
    draft.put_option(path, setting.value or None, setting)


def size(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Take 0 for no limit, though it is none of the values."""
    if setting.value == 0:
        notices.add(Code.RANGE, setting.place, "0 is taken for no limit", "leave the value empty")
    assert isinstance(setting.value, int | None)
    draft.put_option(path, setting.value or None, setting)


def level(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Move a level that does not exist to the nearest one."""
    levels = draft.get(("priority", "levels"))
    assert isinstance(setting.value, int)
    value = min(setting.value, levels) if isinstance(levels, int) else setting.value
    if value != setting.value:
        problem = f"there is no level {setting.value}; {value} is taken"
        notices.add(Code.RANGE, setting.place, problem, f"write 1 to {value}")
    draft.put_option(path, value, setting)


_ALL: tuple[Form, ...] = (
    plain,
    rule,
    extensions,
    types,
    depth,
    span,
    collection,
    logged,
    datastore,
    count,
    size,
    level,
    access_forms.headers,
    access_forms.http_version,
    access_forms.proxies,
    access_forms.connections,
    access_forms.credentials,
    access_forms.accounts,
)
FORMS: Mapping[str, Form] = {form.__name__: form for form in _ALL}
"""All forms by name."""
