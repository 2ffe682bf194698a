"""Where documents go besides our own indexes: the port, and what ships with it.

`Destination` is the port, a `Batch` is what it takes. `EngineDestination` is an index behind it, `json_lines.JsonLines`
a file, `http_push.HttpPush` a web server; `opening.open_destination` opens one by its type.
"""

from ultracrawl.index.destinations.destination import Batch, Destination, EngineDestination, OpenDestination

__all__ = ["Batch", "Destination", "EngineDestination", "OpenDestination"]
