"""What an HTTP status means for a URL when no page came with it (Ultra Search 6, 14.1)."""

from __future__ import annotations

from ultracrawl.model import UrlOutcome
from ultracrawl.model.status import REDIRECTS

_NAMED = {
    304: UrlOutcome.NOT_MODIFIED,
    404: UrlOutcome.GONE,
    410: UrlOutcome.GONE,
}


def outcome_of_status(status: int) -> UrlOutcome:
    """Return the outcome of an HTTP status other than 200.

    Only 404 and 410 say that a document is gone; whatever else is neither success nor a redirect leaves what is
    indexed as it is (checklist 19, 22). Success without a whole page (201 to 299) is NOT_INDEXED, because only 200
    is indexed (checklist 12). Raises `ValueError` for 200: there the content decides, see `classify`.
    """
    if status == 200:
        raise ValueError("the outcome of status 200 depends on the content")
    if status in _NAMED:
        return _NAMED[status]
    if status in REDIRECTS:
        return UrlOutcome.REDIRECTED
    return UrlOutcome.NOT_INDEXED if 200 < status < 300 else UrlOutcome.HTTP_ERROR
