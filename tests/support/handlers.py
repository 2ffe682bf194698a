"""Both download handlers, as a definition chooses them."""

from typing import Any

from ultracrawl.handlers import CURL_HANDLER, TWISTED_HANDLER

HANDLERS = {"curl": CURL_HANDLER, "twisted": TWISTED_HANDLER}


def by(handler: str) -> dict[str, Any]:
    """Return the `settings` of a source that is downloaded with a handler."""
    path = HANDLERS[handler]
    return {"DOWNLOAD_HANDLERS": {"http": path, "https": path}}
