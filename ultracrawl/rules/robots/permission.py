"""Permission to index a page by its directives, and the uses that its owner reserves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from ultracrawl.dataclass import dataclass
from ultracrawl.model.cause import NO_CAUSE, Cause, CauseCode
from ultracrawl.model.dates import parse_http_date
from ultracrawl.model.page import RobotsDirectives


class Reservation(StrEnum):
    """A use that an owner may reserve; `robots.obey_reservations` names those that are obeyed."""

    SEARCH = "search"
    """Search (`Content-Signal: search=no`)."""
    AI = "ai"
    """Both `ai-input` and `ai-train`."""
    AI_INPUT = "ai-input"
    """Input to AI models that answer at the time of a question (`ai-input=no`, `noai`)."""
    AI_TRAIN = "ai-train"
    """Training of AI models (`ai-train=no`, `noai`, `noml`)."""
    AI_IMAGES = "ai-images"
    """Training of AI models on the images of the page (`noimageai`)."""
    TDM = "tdm"
    """Text and data mining (`tdm-reservation: 1`, or a rule of tdmrep.json)."""


TDM_RESERVED = "tdm-reservation"
TDM_FILE = "tdmrep.json"

_USES = {
    "noai": frozenset({Reservation.AI_INPUT, Reservation.AI_TRAIN}),
    "noml": frozenset({Reservation.AI_TRAIN}),
    "noimageai": frozenset({Reservation.AI_IMAGES}),
    TDM_RESERVED: frozenset({Reservation.TDM}),
    TDM_FILE: frozenset({Reservation.TDM}),
    "search=no": frozenset({Reservation.SEARCH}),
    "ai-train=no": frozenset({Reservation.AI_TRAIN}),
    "ai-input=no": frozenset({Reservation.AI_INPUT}),
}
"""The uses that each word reserves."""


def reservations_of(
    directives: Iterable[str] = (), tdm: Iterable[str] = (), signals: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """Return the reservations of a page as words (`noai`, `tdm-reservation`, `ai-train=no`), each once.

    `directives` are robots directives in lower case, `tdm` those of `tdm_words`, `signals` those of Content-Signal for
    its site. A reservation by any of them counts.
    """
    words = [*(word for word in directives if word in _USES), *tdm]
    for name, value in (signals or {}).items():
        if f"{name}={value}" in _USES:
            words.append(f"{name}={value}")
    return tuple(dict.fromkeys(words))


def tdm_words(meta: Iterable[str], header: Iterable[str], *, in_file: bool) -> tuple[str, ...]:
    """Return the word of the place that reserves a page from text and data mining, if one does.

    META counts before the header, and both before tdmrep.json (TDMRep 6.4), `in_file` being what that file says. Within
    one place a reservation counts before a permission; values other than 0 and 1 are ignored.
    """
    for values in (meta, header):
        valid = {tdm_value(value) for value in values} - {None}
        if valid:
            return (TDM_RESERVED,) if True in valid else ()
    return (TDM_FILE,) if in_file else ()


def tdm_value(value: object) -> bool | None:
    """Return whether a value of `tdm-reservation` reserves (1) or permits (0); None for any other value."""
    return {"0": False, "1": True}.get(str(value).strip())


def first_reserved(words: Iterable[str], obeyed: frozenset[Reservation]) -> str:
    """Return the first of the words from `reservations_of` that reserves one of the obeyed uses, or empty."""
    if not obeyed:
        return ""
    uses = obeyed | {Reservation.AI_INPUT, Reservation.AI_TRAIN} if Reservation.AI in obeyed else obeyed
    return next((word for word in words if not uses.isdisjoint(_USES.get(word, ()))), "")


UNAVAILABLE_AFTER = "unavailable_after"
_NO_SNIPPET = frozenset({"nosnippet", "max-snippet:0", "max-snippet: 0"})


@dataclass(frozen=True, slots=True)
class IndexPermission:
    """Which requests of pages are obeyed: their directives (`meta`), and the reservations of which uses."""

    meta: bool = True
    reservations: frozenset[Reservation] = frozenset({Reservation.SEARCH})

    @property
    def obeys_tdm(self) -> bool:
        """Whether reservations from text and data mining are obeyed, so that tdmrep.json is needed."""
        return self.meta and Reservation.TDM in self.reservations

    def refusal(self, directives: RobotsDirectives, reserved: Iterable[str], now: float) -> Cause:
        """Return why a page may not be indexed, or `NO_CAUSE`; `now` is in seconds since the epoch."""
        if not self.meta:
            return NO_CAUSE
        if not directives.index:
            return Cause(CauseCode.NOINDEX)
        word = first_reserved(reserved, self.reservations)
        if word:
            return Cause(CauseCode.RESERVED, word)
        end = expiry(directives)
        return NO_CAUSE if end is None or end > now else Cause(CauseCode.UNAVAILABLE_AFTER)

    def hides_text(self, directives: RobotsDirectives) -> bool:
        """Return whether hits may not show text of the page (`nosnippet`, `max-snippet: 0`)."""
        return self.meta and not _NO_SNIPPET.isdisjoint(directives.others)


def expiry(directives: RobotsDirectives) -> float | None:
    """Return the time of `unavailable_after` in seconds since the epoch, the earliest if there are several."""
    moments = []
    for word in directives.others:
        name, _, value = word.partition(":")
        if name.rstrip() == UNAVAILABLE_AFTER and (moment := parse_http_date(value.strip())):
            moments.append(moment.timestamp())
    return min(moments, default=None)
