"""Translates a collection with merged layers into the draft of a source definition."""

from __future__ import annotations

import re
from functools import cache

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.forms.access import check_certificate, put_logins
from ultracrawl.dialects.fast_xml.forms.destinations import put_destinations
from ultracrawl.dialects.fast_xml.forms.masks import report_masked_passwords
from ultracrawl.dialects.fast_xml.forms.plain import FORMS
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.options import FREE, OPTIONS
from ultracrawl.dialects.fast_xml.start_uris import POSSIBLE_SCHEMES, SCHEMES
from ultracrawl.dialects.fast_xml.values import Setting
from ultracrawl.sources import Data, OptionPath, Place
from ultracrawl.sources.header_rules import is_header_name

_LEVEL = re.compile(r"[1-9]\d{0,8}", re.ASCII)

FIXED_OPTIONS: tuple[tuple[OptionPath, Data], ...] = (
    (("boundary", "combine"), "any"),
    (("boundary", "intranet_hosts"), True),
    (("boundary", "ports"), {"*": {"exclude": []}}),  # no host is limited to the ports of start URIs
    (("boundary", "start_urls_exempt"), False),
    (("redirects",), "strict"),
    (("limits", "retries"), 0),
    (("limits", "retry_delay"), 0),
    (("links", "applet"), False),
    (("log", "days"), 30),
    (("links", "text"), False),
    (("refresh", "adaptive", "aim"), "score"),
    (("refresh", "adaptive", "longest"), 0),
    (("storage", "keep"), True),
)
"""Options of a definition that are set for every collection."""

_GROUP_PREFIXES = ("logins.", "feeding.destinations.")
"""Prefixes of options that are translated as whole groups, not one by one."""


def translate(collection: Scope, notices: Notices) -> Draft:
    """Return the draft of a collection, defaults included, and without what follows from start URIs."""
    draft = Draft(collection.place, _defaults())
    for setting in sorted(filter(_has_effect, collection.settings.values()), key=_sort_key):
        _put(setting, draft, notices)
    put_logins(collection, draft, notices)
    put_destinations(collection, draft, notices)
    check_certificate(collection, draft, notices)
    report_masked_passwords(collection, notices)
    _check_scripts(collection, notices)
    _admit_every_host(draft)
    return draft


@cache
def _defaults() -> Draft:
    """Return the draft of a collection without options."""
    draft = Draft(Place("", 0, ""))
    for path, value in FIXED_OPTIONS:
        draft.put_option(path, value)
    discarded = Notices("")
    for spec in OPTIONS.defaults():
        if spec.sets and not spec.sets[0].startswith(_GROUP_PREFIXES):
            _put(Setting(spec, spec.name, spec.default, Place("", 0, spec.path)), draft, discarded)
    draft.put_option(SCHEMES, [*POSSIBLE_SCHEMES])
    return draft


def _has_effect(setting: Setting) -> bool:
    """Return whether a setting is translated by its form; logins and destinations are translated as groups."""
    return bool(setting.spec.sets) and not setting.spec.sets[0].startswith(_GROUP_PREFIXES)


def _sort_key(setting: Setting) -> tuple[bool, int]:
    """Sort key: by number, but `levels` first because options of levels depend on it."""
    return setting.spec.name != "levels", setting.spec.number


def _put(setting: Setting, draft: Draft, notices: Notices) -> None:
    free = setting.free
    if free and setting.spec.section.startswith("workqueue_priority/"):
        if not _LEVEL.fullmatch(free):
            problem = f"`{free}` is not a level; the section is ignored"
            notices.add(Code.RANGE, setting.place, problem, "write a number from 1 on")
            return
        free = str(_level_within(int(free), draft, setting, notices))
    name = free if FREE in setting.spec.section else setting.name
    if setting.spec.section == "exclude_headers" and not is_header_name(name):
        problem = f"no response has a header `{name}`, so that it excludes nothing"
        notices.add(Code.CONTEXT, setting.place, problem, "write the name of a header, as `Content-Language`")
        return
    for target in setting.spec.sets:
        path = tuple(name if step == FREE else step for step in target.split("."))
        FORMS[setting.spec.form](setting, path, draft, notices)


def _level_within(number: int, draft: Draft, setting: Setting, notices: Notices) -> int:
    levels = draft.get(("priority", "levels"))
    nearest = min(number, levels) if isinstance(levels, int) else number
    if nearest != number:
        problem = f"there is no level {number}; {nearest} is used"
        notices.add(Code.RANGE, setting.place, problem, f"raise `levels` to {number}")
    return nearest


def _check_scripts(collection: Scope, notices: Notices) -> None:
    """Report `javascript_keep_html` without `use_javascript`."""
    keep, use = (collection.settings.get(("", name)) for name in ("javascript_keep_html", "use_javascript"))
    if keep is not None and keep.value and not (use is not None and use.value):
        problem = "has no effect without `use_javascript`; the page is indexed as it was sent"
        notices.add(Code.CONFLICT, keep.place, problem, "write `use_javascript`, or remove it")


def _admit_every_host(draft: Draft) -> None:
    """Include all hosts if no host rule includes any; URI rules alone do not restrict hosts."""
    include: OptionPath = ("boundary", "domains", "include")
    if not draft.get(include):
        draft.put_option(include, ["*"])
