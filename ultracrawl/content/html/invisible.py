"""Elements that their style attribute makes invisible: their text is no content, and may be meant for machines only.

Styles of classes are not read, so text for screen readers (`sr-only`) stays.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode

from ultracrawl.content.html.tags import tag_number

HINT = (
    r"display\s*:\s*none|opacity\s*:\s*[0.]|font-size\s*:\s*[0.]|visibility\s*:\s*[hc]"
    r"|(?:left|top|right|bottom|text-indent)\s*:\s*-\d{3}|clip(?:-path)?\s*:"
)
"""Expression that a page with such elements matches."""
SELECTOR = ",".join(
    f"[style*={name} i]"
    for name in ("display", "opacity", "font-size", "visibility", "position", "text-indent", "clip-path")
)
"""Selector of all elements that may be such; `is_invisible` decides."""

_END = r"\s*(?:!\s*important\s*)?(?:;|$)"
_HIDDEN = re.compile(
    rf"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse){_END}"
    r"|text-indent\s*:\s*-(?:999|\d{4,}|\d{3,}(?:\.\d+)?r?em)"
    r"|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0|polygon\(\s*0(?:px)?\s+0(?:px)?\s*\)))",
    re.IGNORECASE,
)
_NOT_DISPLAYED = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.IGNORECASE)
_TRANSPARENT = re.compile(rf"(?:^|;)\s*opacity\s*:\s*(?:0+(?:\.0*)?|\.0+)%?{_END}", re.IGNORECASE)
_ANIMATED = re.compile(r"transform|transition|animation|will-change", re.IGNORECASE)
_TINY = re.compile(rf"(?:^|;)\s*font-size\s*:\s*(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?{_END}", re.IGNORECASE)
_TAKEN_OUT = re.compile(r"(?:^|;)\s*position\s*:\s*(?:absolute|fixed)", re.IGNORECASE)
_AWAY = re.compile(
    r"(?:^|;)\s*(?:(?:left|top|right|bottom)\s*:\s*-(?:999|\d{4,}|\d{3,}(?:\.\d+)?r?em)"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?(?:\s*,?\s*[01](?:px)?){3}\s*\))",
    re.IGNORECASE,
)
_WHOLE = frozenset(map(tag_number, ("html", "body", "main")))
"""Elements with all the content, which scripts make visible after they have changed it."""
_MAX_STYLE = 2000
"""Characters of a style that are read."""


def is_invisible(node: LexborNode, style: str) -> bool:
    """Return whether an element with this `style` attribute, and all the text in it, cannot be seen."""
    style = style[:_MAX_STYLE]
    if node.tag_id in _WHOLE:
        return bool(_NOT_DISPLAYED.search(style))
    return bool(
        _HIDDEN.search(style)
        or (_TAKEN_OUT.search(style) and _AWAY.search(style))
        or (_TRANSPARENT.search(style) and not _is_faded_in(node, style))
        or (_TINY.search(style) and not _has_larger_text(node))
    )


def _is_faded_in(node: LexborNode, style: str) -> bool:
    """Whether a script makes a transparent element visible: it is moved as well, or has data for the script."""
    return bool(_ANIMATED.search(style)) or any(name.startswith("data-") for name in node.attributes)


def _has_larger_text(node: LexborNode) -> bool:
    """Whether a child sets its own size: without one, the size 0 only removes the gaps between the children."""
    child = node.first_child
    while child is not None:
        style = child.attributes.get("style") or "" if child.is_element_node else ""
        if "font-size" in style.lower() and not _TINY.search(style[:_MAX_STYLE]):
            return True
        child = child.next
    return False
