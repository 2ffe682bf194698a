"""What changed lines of a source would do: mistakes, changes that are refused, and the difference in URLs."""

from __future__ import annotations

import difflib
import time
from typing import Any

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import StateError, UserError
from ultracrawl.model import Finding
from ultracrawl.model.dates import iso
from ultracrawl.run.inspection.definition_difference import DefinitionDifference, definition_difference
from ultracrawl.service.editing.definition_files import FoundDefinition
from ultracrawl.service.editing.reach import other_machines, wider_reach
from ultracrawl.sources import DataSource, Loaded, Project, usable_project
from ultracrawl.sources.editing.draft import Draft, draft_of
from ultracrawl.sources.loading.yaml_loader import load_definitions


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The answer about changed lines; nothing was requested or changed."""

    draft: Draft
    findings: tuple[Finding, ...] = ()
    """Mistakes and hints that these lines bring or hold."""
    problems: tuple[str, ...] = ()
    """Why the change has to be written into the file by whoever may."""
    difference: DefinitionDifference | None = None
    """None if there are mistakes or changes that are refused, and for schedules."""
    launches: dict[str, float] = field(default_factory=dict)
    """When each schedule would be launched next, in seconds since 1970."""

    @property
    def can_be_saved(self) -> bool:
        """Whether there is nothing against it."""
        return not (self.draft.refused or self.problems or any(one.fatal for one in self.findings))

    def check(self) -> None:
        """Raise `UserError` if it cannot be saved."""
        refused = [
            f"{one or 'what is not of this source'} can be changed in the file only"
            for one in map(str, self.draft.refused)
        ]
        mistakes = [str(one) for one in self.findings if one.fatal]
        if reasons := [*refused, *mistakes, *self.problems]:
            raise UserError("; ".join(reasons))

    def as_json(self) -> dict[str, Any]:
        """Return the answer of the API."""
        return {
            "can_be_saved": self.can_be_saved,
            "changed": [str(one) for one in self.draft.changes],
            "refused": [str(one) for one in self.draft.refused],
            "findings": [one.as_json() for one in self.findings],
            "problems": list(self.problems),
            "difference": self.difference.as_json() if self.difference is not None else None,
            "launches": {name: iso(at) for name, at in self.launches.items()},
        }


def what_if(
    project: Project,
    source: str | None,
    found: FoundDefinition,
    lines: str,
    *,
    with_urls: bool = True,
    may_remove: bool = False,
) -> WhatIf:
    """Return what would be if a source, or all schedules (None), had these lines. Raises `UserError`.

    `with_urls` judges all known URLs, which takes seconds for a hundred thousand; nothing else depends on it. With
    `may_remove` there may be no lines.
    """
    draft = draft_of(found.excerpt, lines, may_remove=may_remove)
    if draft.findings or draft.refused:
        return WhatIf(draft, draft.findings)
    present, changed = load_definitions(found.definitions), draft.load(found.definitions)
    findings = _own_findings(draft, present, changed)
    before, after = usable_project(present), usable_project(changed)
    if any(one.fatal for one in findings):
        return WhatIf(draft, findings)
    if source is None:
        now = time.time()
        launches = {name: one.times.next_after(now) for name, one in after.schedules.items() if one.enabled}
        return WhatIf(draft, findings, tuple(other_machines(before, after)), launches=launches)
    if source not in after.sources:
        return WhatIf(draft, findings)
    new = after.sources[source]
    # A new source trusts no host before; what `defaults` have is for those whose start URLs are in the file.
    old = before.known_sources.get(source) or DataSource(name=source)
    problems = tuple(wider_reach(project, old, new))
    if problems or not with_urls:
        return WhatIf(draft, findings, problems)
    try:
        difference = definition_difference(project, before.sources.get(source), new)
    except StateError:  # a damaged state must not keep anybody from mending a definition
        return WhatIf(draft, findings)
    return WhatIf(draft, findings, (), difference)


def _own_findings(draft: Draft, present: Loaded, changed: Loaded) -> tuple[Finding, ...]:
    """Return the findings in the lines of the draft, and those elsewhere that were not there before."""
    definition, (_, end) = draft.excerpt.definition, draft.excerpt.span
    new_end = len(draft.text) - (len(definition.text) - end)
    own = range(draft.excerpt.first_line, draft.text.count("\n", 0, new_end) + 2)
    known = {(one.file, one.key, one.problem) for one in present.findings}
    return tuple(
        one
        for one in changed.findings
        if (one.file == definition.file and one.line in own) or (one.file, one.key, one.problem) not in known
    )


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A line of a draft beside the saved lines."""

    mark: str
    """`+` added, `-` removed, empty: unchanged."""
    number: int | None
    """Its number in the file; None for a line that is removed."""
    text: str
    findings: tuple[Finding, ...] = ()


def draft_lines(found: FoundDefinition, lines: str, findings: tuple[Finding, ...]) -> list[DraftLine]:
    """Return the lines of a draft with those that it removes, and the findings about each."""
    saved, wanted = (
        found.excerpt.shown.split("\n") if found.excerpt.shown else [],
        lines.replace("\r\n", "\n").rstrip("\n").split("\n"),
    )
    first, file, result = found.excerpt.first_line, found.excerpt.definition.file, list[DraftLine]()
    for kind, begin, end, new_begin, new_end in difflib.SequenceMatcher(None, saved, wanted).get_opcodes():
        if kind != "equal":
            result += (DraftLine("-", None, text) for text in saved[begin:end])
        for number, text in enumerate(wanted[new_begin:new_end], first + new_begin):
            own = tuple(one for one in findings if (one.file, one.line) == (file, number))
            result.append(DraftLine("" if kind == "equal" else "+", number, text, own))
    return result
