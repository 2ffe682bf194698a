"""The registrable domain of a host: what its owner has registered (`example.co.uk` of `www.example.co.uk`)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract


@cache
def _suffixes() -> TLDExtract:
    from tldextract import TLDExtract  # noqa: PLC0415 - 0.1 s that few sources need

    return TLDExtract(suffix_list_urls=(), cache_dir=None, fallback_to_snapshot=True)


def widest_own_domain(host: str) -> str:
    """Return the widest domain around a host that has one owner: cookies may be shared below it (RFC 6265, 5.3).

    Domains below which anybody can have a site of his own (`github.io`) belong to nobody; of a name outside the list,
    as intranets have them, the last two labels count. An address, `localhost` or a public suffix is returned as it is.
    """
    found = _suffixes().extract_str(host, include_psl_private_domains=True)
    if found.ipv4 or found.ipv6:
        return host
    if found.suffix:
        return found.top_domain_under_public_suffix or host
    return ".".join(host.split(".")[-2:])
