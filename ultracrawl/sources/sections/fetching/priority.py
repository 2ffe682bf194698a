"""The `priority` section of a source: the levels of the queue."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from ultracrawl.rules.frontier.levels import MAX_LEVELS, PopScheme
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.sections.scope.boundary import HostPatterns, UriPatterns
from ultracrawl.sources.sections.section import Section

Level = Annotated[int, Field(ge=1, le=MAX_LEVELS)]


def _numbered(value: object) -> object:
    """Accept level numbers written as text, as in JSON."""
    if not isinstance(value, dict):
        return value
    return {
        int(key) if isinstance(key, str) and key.isdecimal() else key: level for key, level in value.items()
    }


class LevelSection(Section):
    """The URLs of one level, and its share."""

    share: int = Field(default=1, ge=1, le=1_000_000, examples=[6])
    """URLs taken from the level before the next level has its turn (`wrr`)."""
    hosts: HostPatterns = Field(default=(), examples=[["news.example.com"]])
    """Hosts whose URLs are put on this level (`put_scheme: include`)."""
    uris: UriPatterns = Field(default=(), examples=[["https://www.example.com/manuals/"]])
    """URLs put on this level (`put_scheme: include`)."""


class PrioritySection(Section):
    """Levels decide which of the URLs that may be fetched now comes first. Level 1 is the highest."""

    levels: Level = Field(default=1, examples=[3])
    """Number of levels of the queue."""
    default: Level = Field(default=1, examples=[3])
    """Level of URLs that no rule assigns to another level."""
    start: Level = Field(default=1, examples=[1])
    """Level of the start URLs."""
    pop_scheme: PopScheme = Field(default=PopScheme.DEFAULT, examples=["pri"])
    """Level of the next URL: `rr` each in turn, `wrr` (same as `default`) by `share`, `pri` the highest."""
    put_scheme: Literal["default", "include"] = Field(default="default", examples=["include"])
    """Which level URLs are put on: all on `default`, or by the rules of the levels (`include`)."""
    level: Annotated[
        Mapping[Level, LevelSection],
        BeforeValidator(_numbered, json_schema_input_type=Mapping[str, LevelSection]),
    ] = Field(default={}, examples=[{1: {"share": 6, "hosts": ["news.example.com"]}}])
    """The options of each level, by its number."""

    @model_validator(mode="after")
    def _levels_exist(self) -> Self:
        for name, level in (("default", self.default), ("start", self.start)):
            if level > self.levels:
                raise mistake(
                    f"`{name}` is level {level}, and there are {self.levels}",
                    f"raise `levels`, or write a number from 1 to {self.levels}",
                )
        beyond = [number for number in self.level if number > self.levels]
        if beyond:
            raise mistake(
                f"level {beyond[0]} is described, and there are {self.levels}",
                f"write `levels: {max(beyond)}`",
            )
        return self
