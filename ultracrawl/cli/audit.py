"""Records verbs that change something in the audit log of the project that they opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ultracrawl import stores
from ultracrawl.cli.plugin_verbs import PLUGIN_VERB, PluginVerb
from ultracrawl.errors import UserError, WorkError
from ultracrawl.system.files import why_not_writable

if TYPE_CHECKING:
    from ultracrawl.sources import Project

_CHANGING = frozenset({
    "approve", "approve-changes", "approve-deletions", "backup", "feeding pause", "feeding resume",
    "index optimise", "index rebuild", "load-metadata", "node drain", "node release", "node remove",
    "pause", "remove", "rename", "restore", "resume",
    "schedule disable", "schedule enable", "schedule launch", "schedule resume", "schedule stop", "stop",
    "store copy", "submit", "suggest", "token create", "token revoke", "user add", "user change", "user password",
    "user remove",
})  # fmt: skip
"""Verbs that are recorded when they end."""
_LONG = frozenset({"crawl", "node run", "reindex", "serve"})
"""Verbs that are recorded when they begin, because nobody knows when they end."""
_TARGETS = ("source", "sources", "site", "name", "names", "file")
"""Parameters whose values are names; all others, such as URLs and queries, are not recorded."""
_FLAGS = (
    "force",
    "remove",
    "restore",
    "discard",
    "yes",
    "continuous",
    "all_principals",
    "no_principals",
    "all_sources",
)
_READING = ("listing", "only_list")
"""Flags with which a verb changes nothing."""
_RESULTS: dict[object, str] = {0: "done", 2: "refused"}
"""Results by exit code."""
_PROJECT, _DETAILS = "ultracrawl.audit.project", "ultracrawl.audit.details"


def note_project(project: Project) -> None:
    """Remember the project that the running verb has opened, and record the verb if it is a long one."""
    context = click.get_current_context(silent=True)
    if context is not None and _PROJECT not in context.meta:
        context.meta[_PROJECT] = project, context
        if _verb_of(context).is_long:
            folder = project.logs.path if project.state.url else project.state.path
            if problem := why_not_writable(folder):
                raise WorkError(problem)
            _record(project, context, "begun")


def note_details(**details: Any) -> None:
    """Add numbers to what will be recorded of the running verb."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_DETAILS, {}).update(details)


@contextmanager
def recorded(context: click.Context) -> Iterator[None]:
    """Record the verb that runs in the block, if it changes something."""
    result = "failed"
    try:
        yield
        result = "done"
    except SystemExit as ending:
        result = _RESULTS.get(ending.code or 0, "failed")
        raise
    except (UserError, click.UsageError):
        result = "refused"
        raise
    finally:
        project, verb = context.meta.get(_PROJECT, (None, context))
        if project is not None and _verb_of(verb).changes and not any(map(verb.params.get, _READING)):
            _record(project, verb, result)


class _Verb(NamedTuple):
    """The words of a verb that is recorded, and when it is."""

    words: str = ""
    changes: bool = False
    is_long: bool = False


def _verb_of(context: click.Context) -> _Verb:
    """Return the verb if it is recorded, without the words of verbs that it runs itself."""
    names: list[str] = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        names.insert(0, at.info_name or "")
        at = at.parent
    plugin: PluginVerb | None = context.meta.get(PLUGIN_VERB)
    changing, long = (_CHANGING, _LONG) if plugin is None else (plugin.changing, plugin.long)
    for number in range(1, len(names) + 1):
        words = " ".join(names[:number])
        if words in changing | long:
            return _Verb(words, words in changing, words in long)
    return _Verb()


def _record(project: Project, context: click.Context, result: str) -> None:
    given = context.params
    targets: list[str] = []
    for name in _TARGETS:
        value = given.get(name) or ()
        targets += map(str, value if isinstance(value, tuple) else (value,))
    details = dict(context.meta.get(_DETAILS, {}))
    if options := [name for name in _FLAGS if given.get(name)]:
        details["options"] = options
    if given.get("role"):
        details["role"] = given["role"]
    stores.record_action(
        project, stores.Actor.of_process(), _verb_of(context).words, targets, result, **details
    )
