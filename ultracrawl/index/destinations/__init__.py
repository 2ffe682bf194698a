"""Destinations of documents: the interface, and the built-in ones.

`Destination` is the interface, `Batch` its argument. `EngineDestination` wraps an index, `json_lines.JsonLines` is a
file, `http_push.HttpPush` a web server; `destination_config.open_destination` opens one by its type.
"""

from ultracrawl.index.destinations.destination import Batch, Destination, EngineDestination, OpenDestination

__all__ = ["Batch", "Destination", "EngineDestination", "OpenDestination"]
