"""Opens a destination by its type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from ultracrawl.dataclass import dataclass, field
from ultracrawl.index.destinations.destination import Destination, OpenDestination
from ultracrawl.index.engine import Json
from ultracrawl.system.plugins import DESTINATIONS


@dataclass(frozen=True, slots=True)
class DestinationConfig:
    """Name, type and options of a destination: all that another process needs to open it."""

    name: str
    type: str
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """The options of its type, with secrets in plain text."""

    @property
    def has_options(self) -> bool:
        """Whether the type gets options."""
        return bool(self.options)

    def to_json(self) -> str:
        """Return name and type as one line of JSON, which is visible in process lists; the options may be secret."""
        visible: dict[str, Json] = {"destination": self.name, "type": self.type}
        return json.dumps(visible | ({"has_options": True} if self.has_options else {}))

    def options_to_json(self) -> str:
        """Return the options as one line of JSON."""
        return json.dumps(self.options)

    @classmethod
    def from_json(cls, text: str, options: str | bytes = "{}") -> DestinationConfig:
        """Parse the lines of `to_json` and `options_to_json`; raises ValueError for anything else."""
        match json.loads(text), json.loads(options):
            case {"destination": str(name), "type": str(kind)}, dict(given):
                return cls(name, kind, given)
        raise ValueError("not the configuration of a destination")


def open_destination(config: DestinationConfig) -> Destination:
    """Open a destination. Raises `UserError` for an unknown type or an invalid option."""
    opener = DESTINATIONS.load(config.type)
    if not callable(opener):
        raise DESTINATIONS.find(config.type).wrong_type_error(
            "an ultracrawl.index.destinations.OpenDestination"
        )
    return cast(OpenDestination, opener)(config.name, config.options)
