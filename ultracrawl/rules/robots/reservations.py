"""Uses of a page that its owner reserves: noai, TDMRep and Content-Signal, read as one vocabulary.

Sources: the `noai`, `noimageai` and `noml` directives of META robots and X-Robots-Tag; the TDM Reservation Protocol
(`tdm-reservation: 1` as header or META); `Content-Signal` in robots.txt (`search`, `ai-input`, `ai-train`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Reservation(StrEnum):
    """A use that a page may be withheld from; `robots.obey_reservations` names those that count."""

    SEARCH = "search"
    """Being found by a search engine (`Content-Signal: search=no`)."""
    AI = "ai"
    """Training models, or being read by one (`noai`, `noml`, `ai-train=no`, `ai-input=no`)."""
    AI_IMAGES = "ai-images"
    """Training models on the images of the page (`noimageai`)."""
    TDM = "tdm"
    """Text and data mining (`tdm-reservation: 1`)."""


TDM_RESERVED = "tdm-reservation"

_USES = {
    "noai": Reservation.AI,
    "noml": Reservation.AI,
    "noimageai": Reservation.AI_IMAGES,
    TDM_RESERVED: Reservation.TDM,
    "search=no": Reservation.SEARCH,
    "ai-train=no": Reservation.AI,
    "ai-input=no": Reservation.AI,
}


def reservations_of(
    directives: Iterable[str] = (), tdm: Iterable[str] = (), signals: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return what a page reserves, as words (`noai`, `tdm-reservation`, `ai-train=no`), each once.

    `directives` are robots directives in lower case, `tdm` the values of `tdm-reservation` in META and header,
    `signals` those of Content-Signal for its site. One source that reserves is enough.
    """
    found = [word for word in directives if word in _USES]
    if any(value.strip() == "1" for value in tdm):
        found.append(TDM_RESERVED)
    for name, value in (signals or {}).items():
        if f"{name}={value}" in _USES:
            found.append(f"{name}={value}")
    return tuple(dict.fromkeys(found))


def first_reserved(words: Iterable[str], obeyed: frozenset[Reservation]) -> str:
    """Return the first of the words from `reservations_of` that reserves one of the obeyed uses, or empty."""
    return next((word for word in words if _USES.get(word) in obeyed), "") if obeyed else ""
