"""HTML elements by lexbor's tag numbers: comparing integers is several times cheaper than comparing names."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

TEXT = 2
COMMENT = 4

EDGE = "\f"
"""Stands in front of the tags of blocks (`marks`): white space for the parser, and no page has it otherwise."""

_BLOCK_NAMES = (
    "address article aside blockquote br button caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr legend li "
    "listing main menu object ol optgroup option p plaintext pre search section select summary table "
    "tbody td textarea tfoot th thead tr ul xmp"
)
_UNSEEN_NAMES = (
    "audio canvas datalist iframe nav noembed noframes noscript script style svg template title video"
)

FIRST_OWN_NUMBER = 10_000
"""Numbers from here on are given to unknown elements, anew in every document."""


def tag_number(name: str) -> int:
    """Return lexbor's number for an element; from `FIRST_OWN_NUMBER` on it holds for one document only."""
    return LexborHTMLParser("").create_node(name).tag_id


BLOCK_NAMES = tuple(_BLOCK_NAMES.split())
"""In their order."""
BLOCKS = frozenset(map(tag_number, BLOCK_NAMES))
"""Elements whose edges part words."""

UNSEEN = frozenset(map(tag_number, _UNSEEN_NAMES.split()))
"""Elements whose text is no part of the page's own text: programs, pictures, navigation."""
