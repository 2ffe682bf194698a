"""A function for filters of robots."""

from collections.abc import Mapping

from ultracrawl.rules.filters import REQ_PROCEED, FilterHandle, ResourceHandle, filter_function


@filter_function(under=["Generate"], needs=["shelf"])
def shelve(pb: Mapping[str, str], csf: FilterHandle, csr: ResourceHandle) -> int:
    """Describe a resource by the shelf that it stands on."""
    csr.rd["keywords"] = [pb["shelf"]]
    return REQ_PROCEED
