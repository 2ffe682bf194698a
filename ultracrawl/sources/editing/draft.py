"""`Draft`: changed lines of a source that are not saved, and which of the changes users of the pages may not make."""

from __future__ import annotations

from collections.abc import Iterator

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import UserError
from ultracrawl.model import DefinitionError, Finding
from ultracrawl.sources.editing.excerpt import SCHEDULES, Excerpt
from ultracrawl.sources.editing.hidden_values import source_entry_model
from ultracrawl.sources.editing.option_changes import OptionChange, is_same, option_changes
from ultracrawl.sources.loading.loaded import Loaded
from ultracrawl.sources.loading.yaml_loader import is_single_source, load_definitions
from ultracrawl.sources.project import DefinitionHead
from ultracrawl.sources.reading.locations import Definitions, DefinitionText
from ultracrawl.sources.reading.tree import Data, OptionPath
from ultracrawl.sources.reading.yaml_tree import YamlTree

OUTSIDE = OptionChange((), is_editable=False)
"""Stands for a change of something that is not of the source."""


class ReadOnlyOptionsError(UserError):
    """A change of options that users of the pages may not change."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The lines of a source as somebody wants them."""

    excerpt: Excerpt
    text: str = ""
    """The whole file with these lines; empty if it is no YAML."""
    changes: tuple[OptionChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    """Why the text is no YAML."""

    @property
    def refused(self) -> tuple[OptionChange, ...]:
        """The changes that are not allowed."""
        return tuple(change for change in self.changes if change.is_known and not change.is_editable)

    def load(self, definitions: Definitions) -> Loaded:
        """Load the definitions with these lines. Raises `ReadOnlyOptionsError`, `DefinitionError`.

        Nothing that the lines name is looked at unless all changes are allowed: files with rules, classes, plug-ins.
        """
        if self.findings:
            raise DefinitionError(self.findings)
        if self.refused:
            names = ", ".join(str(change) or "what is not of this source" for change in self.refused)
            raise ReadOnlyOptionsError(f"this can be changed in the definition file only: {names}")
        changed = replace(self.excerpt.definition, text=self.text)
        is_main = definitions.main is not None and definitions.main.file == changed.file
        others = (
            changed if isinstance(one, DefinitionText) and one.file == changed.file else one
            for one in definitions.others
        )
        return load_definitions(
            replace(definitions, main=changed if is_main else definitions.main, others=tuple(others))
        )


def draft_of(excerpt: Excerpt, lines: str, *, may_remove: bool = False) -> Draft:
    """Return what is different with other lines. Raises `UserError` if hidden values are not where they were.

    With `may_remove` there may be none: the source, or the schedules, are no more.
    """
    try:
        tree = excerpt.with_lines(lines)
    except DefinitionError as error:
        return Draft(excerpt, findings=error.findings)
    if may_remove and not lines.strip():
        return Draft(excerpt, tree.text, (OptionChange(excerpt.path, is_editable=True),))
    return Draft(excerpt, tree.text, tuple(_changes(excerpt, tree)))


def _changes(excerpt: Excerpt, tree: YamlTree) -> Iterator[OptionChange]:
    before, rest = _separated(excerpt.tree.data, excerpt.path)
    after, new_rest = _separated(tree.data, excerpt.path)
    is_gone = excerpt.path and after is None and (before is not None or excerpt.glue)
    if is_gone or not is_same(rest, new_rest) or is_single_source(tree) is bool(excerpt.path):
        yield OUTSIDE
    if excerpt.path == (SCHEDULES,):
        yield from option_changes(DefinitionHead, {SCHEDULES: before}, {SCHEDULES: after})
    else:
        kind = before.get("type") if isinstance(before, dict) else None
        yield from option_changes(source_entry_model(kind), before, after)


def _separated(data: Data, path: OptionPath) -> tuple[Data, Data]:
    """Return the data at a path, and those of the rest of the file; a group that is empty counts as none."""
    if not path:
        return data, None
    name, *further = path
    if not isinstance(data, dict) or name not in data:
        return None, data
    own, rest = _separated(data[str(name)], tuple(further))
    others = {key: value for key, value in data.items() if key != name}
    return own, others if rest is None or rest == {} else {**others, str(name): rest}
