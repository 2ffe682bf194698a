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


def registrable_domain(host: str) -> str:
    """Return the registrable domain of a host, by the Public Suffix List that tldextract ships; nothing is fetched.

    A host without one (an address, `localhost`, a public suffix) is returned as it is.
    """
    return _suffixes().extract_str(host).top_domain_under_public_suffix or host
