"""The `completion` section of a source: what happens after a run."""

import shlex
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import FilePath, Seconds, one_or_list


def _words(value: object) -> object:
    """Split a command like a shell, without variables, pipes or other shell features."""
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
    """Kinds of finished runs."""

    DOCUMENTS = "documents"
    """A document was added to the index."""
    FAILURE = "failure"
    """The run had a problem or could not begin; documents may have been added to the index nevertheless."""
    NOTHING_NEW = "nothing new"


class CompletionSection(Section):
    """What happens after a run (portal robot 13.3)."""

    command: Command = Field(default=(), examples=["/usr/local/bin/mail-report --to webmaster"])
    """A program to run: a list of words, or one text. No shell is used."""
    after: Annotated[tuple[CompletedRun, ...], one_or_list(CompletedRun)] = Field(
        default=(CompletedRun.DOCUMENTS, CompletedRun.FAILURE), examples=["failure"]
    )
    """The runs after which the program is run: those that added a document to the index, those that failed, all
    others."""
    timeout: Seconds = Field(default=600.0, gt=0, examples=[60])
    """Seconds after which the program is terminated."""
    programs: FilePath | None = Field(default=None, examples=["/opt/robot/bin"])
    """A folder put in front of `PATH` for the program."""
    then: Literal["idle", "loop", "quit"] = Field(default="quit", examples=["loop"])
    """What a robot started by `ultracrawl robot start` does next: wait, run again, or end."""
