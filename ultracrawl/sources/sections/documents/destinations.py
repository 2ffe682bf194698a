"""The `feeding` section of a source: the indexes and other destinations of its documents."""

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.dataclass import dataclass
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Size

PROJECT_INDEX = "default"
"""The name of the project's own index."""

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]


class DestinationOptions(Section):
    """One index or other destination of the documents of a source."""

    index: Label = Field(default=PROJECT_INDEX, examples=["archive"])
    """A name from `indexes`, or `default` for the index of the project."""
    destination: Label | None = Field(default=None, examples=["export"])
    """Instead of an index: a name from `destinations` of the project."""
    paused: bool = Field(default=False, examples=[True])
    """Hold back all changes for this destination. They are sent later, in order."""
    primary: bool = Field(default=False, examples=[True])
    """A document counts as indexed once this destination has committed it. Default: the first destination."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if self.destination and "index" in self.model_fields_set:
            raise mistake("`index` and `destination` are both named", "write two entries, one for each")
        return self

    @property
    def target(self) -> str:
        """The name of the index or other destination."""
        return self.destination or self.index


@dataclass(frozen=True, slots=True)
class Destination:
    """A destination with its label."""

    label: str
    index: str
    """The name of the index or other destination."""
    paused: bool


def _check_destinations(value: Mapping[str, DestinationOptions]) -> Mapping[str, DestinationOptions]:
    labels: dict[str, str] = {}
    for label, destination in value.items():
        other = labels.setdefault(destination.target, label)
        if other != label:
            raise mistake(
                f"{format_value(other)} and {format_value(label)} are the same index, `{destination.target}`",
                "remove one of them",
            )
    primary = [label for label, destination in value.items() if destination.primary]
    if len(primary) > 1:
        raise mistake(f"{' and '.join(map(format_value, primary))} are both primary", "let one be it")
    return value


class FeedingSection(Section):
    """Destinations of documents. Every change goes to every destination; one that is behind catches up."""

    paused: bool = Field(default=False, examples=[True])
    """Hold back all changes for all destinations. Crawling continues."""
    destinations: Annotated[Mapping[Label, DestinationOptions], AfterValidator(_check_destinations)] = Field(
        default={}, examples=[{"public": {"primary": True}, "copy": {"index": "archive", "paused": True}}]
    )
    """The destinations of the documents, by labels of your own. None: the index of the project only."""
    backlog: Size = Field(default=10 << 30, examples=["50 GB"])
    """Maximum bytes held back for one destination. Beyond that, a secondary destination is refilled by a later run; for
    the primary one the crawl stops.
    """

    @property
    def in_order(self) -> tuple[Destination, ...]:
        """The destinations, the primary one first; empty if there is only the project's own index."""
        listed = sorted(self.destinations.items(), key=lambda item: not item[1].primary)
        return tuple(Destination(label, options.target, options.paused) for label, options in listed)

    @property
    def primary_index(self) -> str:
        """The name of the primary destination."""
        return self.in_order[0].index if self.destinations else PROJECT_INDEX
