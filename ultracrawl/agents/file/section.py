"""The options of the kind `file`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from ultracrawl.agents.file.file_urls import canonical_prefix
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import one_or_list


def _check_prefixes(value: Mapping[str, str]) -> Mapping[str, str]:
    for prefix, other in value.items():
        if canonical_prefix(prefix) is None:
            raise mistake(
                f"{format_value(prefix)} is not the beginning of a file URL", "write `file:///srv/docs/`"
            )
        if "://" not in other:
            raise mistake(
                f"{format_value(other)} is not the beginning of a URL", "write `https://files.example.com/`"
            )
    return value


Patterns = Annotated[tuple[str, ...], one_or_list(str)]


class FileSection(Section):
    """Folders whose files are documents."""

    FETCH_OPTIONS: ClassVar = frozenset(
        {"paths", "include", "exclude", "levels", "hidden", "symlinks", "mailboxes", "watch"}
    )

    paths: Annotated[tuple[Path, ...], one_or_list(Path), Field(min_length=1)] = Field(
        examples=[["/srv/docs"]]
    )
    """The folders, local or mounted; they are walked with all that is below them."""
    include: Patterns = Field(default=(), examples=[["*.pdf", "handbook/*"]])
    """Files inside: patterns without `/` are compared with names, others with paths below the folder. None: all."""
    exclude: Patterns = Field(default=(), examples=[["*.bak", "private"]])
    """Files and folders outside, whatever `include` says; nothing below an excluded folder is looked at."""
    levels: int | None = Field(default=None, ge=0, examples=[3])
    """Folders below `paths` that are entered, one in the other: 0 is none. None: all."""
    hidden: bool = Field(default=False, examples=[True])
    """Also files and folders whose names begin with a dot."""
    symlinks: bool = Field(default=False, examples=[True])
    """Follow symbolic links; those that lead out of `paths` never count."""
    mailboxes: Patterns = Field(default=("*.mbox",), examples=[["*.mbox", "mail/*"]])
    """Mailboxes (mbox) whose messages are documents of their own, if `types` has mail; patterns as of `include`."""
    display_url: Annotated[Mapping[str, str], AfterValidator(_check_prefixes)] = Field(
        default={}, examples=[{"file:///srv/docs/": "https://files.example.com/"}]
    )
    """Beginnings of file URLs, and what users see in place of them; the longest that fits counts."""
    permissions: bool = Field(default=False, examples=[True])
    """Let only those find a file who may read it here: its owner, its group, or everybody."""
    watch: bool = Field(default=False, examples=[True])
    """Have `ultracrawl serve` crawl the source soon after something in its folders has changed."""
