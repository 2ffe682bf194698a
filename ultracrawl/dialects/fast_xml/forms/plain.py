"""Converts option values of a collection to values of a source definition: one function per form, in `FORMS`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import count as numbers

from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.forms import access as access_forms
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.values import Setting
from ultracrawl.sources import Data, OptionPath
from ultracrawl.sources.definition import to_source_name
from ultracrawl.sources.mistakes import format_value

Form = Callable[[Setting, OptionPath, Draft, Notices], None]
"""Writes a setting to a path of a draft."""

_RULES = {"ipmask": "mask", "ip6mask": "mask"}
"""Rule kinds with another name in definitions."""

_LEGACY_TYPES = {
    "application/msexcel": ("application/vnd.ms-excel",),
    "application/ppt": ("application/vnd.ms-powerpoint", "application/mspowerpoint"),
}
"""Media types that servers hardly send, and those they send instead."""

_SECONDS = re.compile(r"\+?(\d{1,9}(\.\d*)?|\.\d+)", re.ASCII)
_DEPTH = re.compile(r"depth:(\d{1,9})", re.IGNORECASE)


def source_name(name: str) -> str:
    """Return a valid source name for a collection: invalid characters become hyphens."""
    return to_source_name(name, "collection")


def free_name(name: str, taken: Collection[str]) -> str:
    """Return `name`, with a number appended if it is taken."""
    numbered = (f"{name[:95]}-{number}" for number in numbers(2))
    return name if name not in taken else next(candidate for candidate in numbered if candidate not in taken)


def _each(setting: Setting, path: OptionPath, draft: Draft, change: Callable[[str], Data]) -> None:
    assert isinstance(setting.value, tuple)
    draft.open_list(path, setting)
    lines = setting.lines or (setting.place.line,) * len(setting.value)
    for text, line in zip(setting.value, lines, strict=True):
        draft.add(path, change(text), setting, line)


def plain(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Copy the value."""
    if isinstance(setting.value, tuple):
        _each(setting, path, draft, lambda text: text)
    else:
        draft.put_option(path, setting.value, setting)


def rule(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Write each member as a rule of the kind named by the option."""
    kind = _RULES.get(setting.name, setting.name)
    if kind == "mask":
        _each(setting, path, draft, lambda text: {kind: "".join(text.split())})
    else:
        _each(setting, path, draft, lambda text: {kind: text})


def extensions(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Split extensions at commas."""
    assert isinstance(setting.value, tuple)
    draft.open_list(path, setting)
    for number, text in enumerate(setting.value):
        for part in filter(None, map(str.strip, text.split(","))):
            draft.add(path, part, setting, setting.lines[number])


def types(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Copy media types, adding the registered names to old ones."""
    _each(setting, path, draft, lambda text: text)
    assert isinstance(setting.value, tuple)
    for number, text in enumerate(setting.value):
        for other in _LEGACY_TYPES.get(text.lower(), ()):
            draft.add(path, other, setting, setting.lines[number] if setting.lines else setting.place.line)


def depth(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Parse `FULL` or `DEPTH:n`."""
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
    """Parse seconds or `suspend`."""
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
    """Convert the name of a collection to that of its source."""
    draft.put_option(path, [source_name(str(setting.value))], setting)


def logged(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Convert every value except `none` to true."""
    draft.put_option(path, setting.value != "none", setting)


def datastore(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Convert the kind of the document store: one file per document, or one for all."""
    draft.put_option(path, "files" if setting.value == "flatfile" else "blocks", setting)


def count(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Convert 0 to no limit."""
    assert isinstance(setting.value, int | None)
    draft.put_option(path, setting.value or None, setting)


def size(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Convert 0 to no limit, with a notice because 0 is not a documented value."""
    if setting.value == 0:
        notices.add(Code.RANGE, setting.place, "0 is taken for no limit", "leave the value empty")
    assert isinstance(setting.value, int | None)
    draft.put_option(path, setting.value or None, setting)


def level(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Replace a level that does not exist by the nearest one."""
    levels = draft.get(("priority", "levels"))
    assert isinstance(setting.value, int)
    value = min(setting.value, levels) if isinstance(levels, int) else setting.value
    if value != setting.value:
        problem = f"there is no level {setting.value}; {value} is used"
        notices.add(Code.RANGE, setting.place, problem, f"write 1 to {value}")
    draft.put_option(path, value, setting)


def query_order(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Add the step that orders the parameters of a query."""
    draft.open_list(path, setting)
    if setting.value:
        draft.add(path, "query_order", setting, setting.place.line)


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
    query_order,
    access_forms.headers,
    access_forms.http_version,
    access_forms.proxies,
    access_forms.connections,
    access_forms.credentials,
    access_forms.accounts,
)
FORMS: Mapping[str, Form] = {form.__name__: form for form in _ALL}
"""All forms by name."""
