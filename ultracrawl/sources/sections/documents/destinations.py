"""The `feeding` section of a source: which indexes get its documents, and whether they get them now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Size

PROJECT_INDEX = "default"
"""The name of the index of the project, where indexes are named."""

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]


class DestinationOptions(Section):
    """One index, or another destination, that gets the documents of a source."""

    index: Label = Field(default=PROJECT_INDEX, examples=["archive"])
    """A name from `indexes`, or `default`, the index of the project."""
    destination: Label | None = Field(default=None, examples=["export"])
    """Instead of an index: a name from `destinations` of the project."""
    paused: bool = Field(default=False, examples=[True])
    """Hold back everything for this destination. It gets it later, in order."""
    primary: bool = Field(default=False, examples=[True])
    """Its commits say whether a document counts as indexed. Without one, the first destination is it."""

    @model_validator(mode="after")
    def _is_one(self) -> DestinationOptions:
        if self.destination and "index" in self.model_fields_set:
            raise mistake("`index` and `destination` are both named", "write two entries, one for each")
        return self

    @property
    def target(self) -> str:
        """The name of the index, or of what gets documents instead of one."""
        return self.destination or self.index


@dataclass(frozen=True, slots=True)
class Destination:
    """A destination with its label."""

    label: str
    index: str
    """The name of the index, or of what gets documents instead of one."""
    paused: bool


def _check_destinations(value: Mapping[str, DestinationOptions]) -> Mapping[str, DestinationOptions]:
    labels: dict[str, str] = {}
    for label, one in value.items():
        other = labels.setdefault(one.target, label)
        if other != label:
            raise mistake(
                f"{format_value(other)} and {format_value(label)} are the same index, `{one.target}`",
                "remove one of them",
            )
    primary = [label for label, one in value.items() if one.primary]
    if len(primary) > 1:
        raise mistake(f"{' and '.join(map(format_value, primary))} are both primary", "let one be it")
    return value


class FeedingSection(Section):
    """Where documents go. Every change goes to every destination; one that is behind catches up."""

    paused: bool = Field(default=False, examples=[True])
    """Hold back everything that goes to any index. Crawling goes on."""
    destinations: Annotated[Mapping[Label, DestinationOptions], AfterValidator(_check_destinations)] = Field(
        default={}, examples=[{"public": {"primary": True}, "copy": {"index": "archive", "paused": True}}]
    )
    """The indexes that get the documents, by labels of your own. None: the index of the project alone."""
    backlog: Size = Field(default=10 << 30, examples=["50 GB"])
    """Most bytes held back for one destination. Beyond it a secondary one is filled anew by a later run; for the
    primary one the crawl ends.
    """

    @property
    def in_order(self) -> tuple[Destination, ...]:
        """The destinations, the primary one first; empty if there is only the index of the project."""
        listed = sorted(self.destinations.items(), key=lambda item: not item[1].primary)
        return tuple(Destination(label, one.target, one.paused) for label, one in listed)

    @property
    def primary_index(self) -> str:
        """The name of the index whose commits count."""
        return self.in_order[0].index if self.destinations else PROJECT_INDEX
