"""Headers of one's own that go out with every request, as `headers` writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from ultracrawl.sources.mistakes import mistake, shown
from ultracrawl.sources.values import HeaderText

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
OWNED = {
    "user-agent": "write it as `user_agent`",
    "host": "it follows from the URL",
    "authorization": "it would go to every host; leave it out",
    "proxy-authorization": "it would go to every host; leave it out",
    "cookie": "it would go to every host; leave it out",
    "connection": "it belongs to the connection",
    "content-length": "it belongs to the connection",
    "transfer-encoding": "it belongs to the connection",
    "if-none-match": "it follows from what is known of the page",
    "if-modified-since": "it follows from what is known of the page",
}
"""Headers that something else decides about, and what to do instead."""


def _check_name(name: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise mistake(f"{shown(name)} is not the name of a header", "write it as `From` or `X-Department`")
    if name.lower() in OWNED:
        raise mistake(f"the header {shown(name)} cannot be set here", OWNED[name.lower()])
    return name


RequestHeaders = Mapping[Annotated[str, AfterValidator(_check_name)], HeaderText]
"""Headers by name; those that hold secrets, or follow from the request, are refused."""
