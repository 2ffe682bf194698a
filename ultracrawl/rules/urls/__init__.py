"""URLs as the crawler compares, stores and shows them.

`UrlPolicy` (how a link as written becomes a canonical URL; `Canonical` is its explained answer), `url_key`
(the 64-bit key of a canonical URL), `JoinedLinks` (a memory in front of a policy), `split`, `site_of`,
`host_of`, `port_of`, `path_of` and `UrlParts` (its parts), `display_url`
(the form for people), `unify` (percent-encoding in canonical form), `repeats` (path segments that repeat, the mark of
an endless site), `widest_own_domain` (what the owner of a host has registered), `SESSION_PARAMETERS` and
`TRACKING_PARAMETERS` (names that a source may have removed).
"""

from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, Canonical, UrlPolicy, unify
from ultracrawl.rules.urls.joined import JoinedLinks
from ultracrawl.rules.urls.key import url_key
from ultracrawl.rules.urls.parameters import SESSION_PARAMETERS, TRACKING_PARAMETERS
from ultracrawl.rules.urls.parts import (
    UrlParts,
    display_url,
    host_of,
    on_site,
    path_of,
    port_of,
    site_of,
    split,
)
from ultracrawl.rules.urls.recursion import repeats
from ultracrawl.rules.urls.registrable import widest_own_domain

__all__ = [
    "DEFAULT_POLICY",
    "SESSION_PARAMETERS",
    "TRACKING_PARAMETERS",
    "Canonical",
    "JoinedLinks",
    "UrlParts",
    "UrlPolicy",
    "display_url",
    "host_of",
    "on_site",
    "path_of",
    "port_of",
    "repeats",
    "site_of",
    "split",
    "unify",
    "url_key",
    "widest_own_domain",
]
