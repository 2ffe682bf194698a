"""HTML elements by lexbor's tag numbers: comparing integers is several times cheaper than comparing names."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

TEXT = 2
COMMENT = 4

_BLOCK_NAMES = (
    "address article aside blockquote br button caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr legend li "
    "main menu object ol optgroup option p pre search section select summary table tbody td textarea "
    "tfoot th thead tr ul listing plaintext xmp"
)
_UNSEEN_NAMES = (
    "audio canvas datalist iframe nav noembed noframes noscript script style svg template title video"
)


FIRST_OWN_NUMBER = 10_000
"""Numbers from here on are given to unknown elements, anew in every document."""


def tag_number(name: str) -> int:
    """Return lexbor's number for an element; from `FIRST_OWN_NUMBER` on it holds for one document only."""
    return LexborHTMLParser("").create_node(name).tag_id


BLOCKS = frozenset(map(tag_number, _BLOCK_NAMES.split()))
"""Elements whose edges part words."""

UNSEEN = frozenset(map(tag_number, _UNSEEN_NAMES.split()))
"""Elements whose text is no part of the page's own text: programs, pictures, navigation."""


def following(node: LexborNode, stop: frozenset[int] = frozenset()) -> int:
    """Return the address of the node after the subtree of `node`; 0 if none or if a `stop` element ends."""
    after = node.next
    while after is None:
        parent = node.parent
        if parent is None or parent.tag_id in stop:
            return 0
        node = parent
        after = node.next
    return after.mem_id
