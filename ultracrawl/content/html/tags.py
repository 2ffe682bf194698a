"""lexbor's tag numbers: comparing integers is several times faster than comparing names."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

TEXT = 2
COMMENT = 4

EDGE = "\f"
"""Inserted before the tags of blocks (`marks`); white space to the parser. Other occurrences are replaced first."""

_BLOCK_NAMES = (
    "address article aside blockquote br button caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr legend li "
    "listing main menu object ol optgroup option p plaintext pre search section select summary table "
    "tbody td textarea tfoot th thead tr ul xmp"
)
_UNSEEN_NAMES = "audio canvas datalist iframe nav noembed noframes script style svg template title video"

FIRST_OWN_NUMBER = 10_000
"""Numbers from here on are assigned to unknown elements, differently in each document."""


def tag_number(name: str) -> int:
    """Return lexbor's number for an element; from `FIRST_OWN_NUMBER` on it is only valid in one document."""
    return LexborHTMLParser("").create_node(name).tag_id


BLOCK_NAMES = tuple(_BLOCK_NAMES.split())
"""Sorted by name."""
BLOCKS = frozenset(map(tag_number, BLOCK_NAMES))
"""Elements whose edges separate words."""

UNSEEN = frozenset(map(tag_number, _UNSEEN_NAMES.split()))
"""Elements whose text does not belong to the text of the page: scripts, graphics, navigation."""
