"""The `completion` section of a source: what happens when a run is over."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, one_or_list


def _words(value: object) -> object:
    """Split a command as a shell does; nothing else of a shell is there: no variables, no pipes."""
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError as error:
        raise mistake(
            f"the command {format_value(value)} cannot be split: {error}", "close its quotes"
        ) from None


Command = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(_words, json_schema_input_type=str | list[str]),
]
"""A program and its arguments."""


class CompletedRun(StrEnum):
    """Kinds of runs that are over."""

    DOCUMENTS = "documents"
    """A document came into the index."""
    FAILURE = "failure"
    """It has a problem, or could not begin; its documents may have come into the index all the same."""
    NOTHING_NEW = "nothing new"


class CompletionSection(Section):
    """What happens when a run is over, all of it done (portal robot 13.3)."""

    command: Command = Field(default=(), examples=["/usr/local/bin/mail-report --to webmaster"])
    """A program that is run then: words, or one text. No shell."""
    after: Annotated[tuple[CompletedRun, ...], one_or_list(CompletedRun)] = Field(
        default=(CompletedRun.DOCUMENTS, CompletedRun.FAILURE), examples=["failure"]
    )
    """After which runs: those by which a document came into the index, those that failed, all others."""
    timeout: Seconds = Field(default=600.0, gt=0, examples=[60])
    """Seconds after which that program is ended."""
    programs: Path | None = Field(default=None, examples=["/opt/robot/bin"])
    """A folder that goes ahead of `PATH` for that program."""
    then: Literal["idle", "loop", "quit"] = Field(default="quit", examples=["loop"])
    """What a robot started by `ultracrawl robot start` does then: wait, run again, or end."""
