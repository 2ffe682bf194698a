"""The registrable domain of a host (`example.co.uk` for `www.example.co.uk`)."""

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
    """Return the registrable domain of a host, below which cookies may be shared (RFC 6265, 5.3).

    Private suffixes such as `github.io` count as public suffixes. For a name outside the public suffix list, as in
    intranets, returns the last two labels. An IP address, `localhost` or a public suffix is returned unchanged.
    """
    result = _suffixes().extract_str(host, include_psl_private_domains=True)
    if result.ipv4 or result.ipv6:
        return host
    if result.suffix:
        return result.top_domain_under_public_suffix or host
    return ".".join(host.split(".")[-2:])


def is_public_suffix(domain: str) -> bool:
    """Return whether anybody may register names below a domain: `com`, `co.uk`, `github.io`."""
    result = _suffixes().extract_str(domain, include_psl_private_domains=True)
    return bool(result.suffix) and not result.domain
