"""Opens a destination by its type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from ultracrawl.index.destinations.destination import Destination, OpenDestination
from ultracrawl.index.values import Json
from ultracrawl.system.plugins import DESTINATIONS


@dataclass(frozen=True, slots=True)
class DestinationConfig:
    """Name, type and options of a destination: all that another process needs to open it."""

    name: str
    type: str
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """The options of its type, with secrets in plain text."""

    def to_json(self) -> str:
        """Return name and type as one line of JSON, which is visible in process lists; the options may be secret."""
        return json.dumps({"destination": self.name, "type": self.type})

    def secrets_to_json(self) -> str:
        """Return the options as one line of JSON."""
        return json.dumps(self.options)


def open_destination(config: DestinationConfig) -> Destination:
    """Open a destination. Raises `UserError` for an unknown type or an invalid option."""
    opener = DESTINATIONS.load(config.type)
    if not callable(opener):
        raise DESTINATIONS.find(config.type).wrong_type_error(
            "an ultracrawl.index.destinations.OpenDestination"
        )
    return cast(OpenDestination, opener)(config.name, config.options)
