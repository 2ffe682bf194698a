"""How close the requests of a crawl came, as the server saw them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def gaps(times: Sequence[float]) -> list[float]:
    """Return the seconds between requests."""
    return [later - earlier for earlier, later in pairwise(times)]


def kept(times: Sequence[float], delay: float) -> bool:
    """Whether requests went out no closer than this.

    A busy machine holds requests up on their way, some longer than others, and so brings two together at the server;
    what two of them lose, their neighbours gain. So the whole time has to be there, but for most of a delay that the
    first may have been held up, and no two may come at once, unless the earlier one came a whole delay late.
    """
    found = gaps(times)
    apart = all(gap >= 0.1 * delay or before + gap >= 1.9 * delay for before, gap in pairwise([0.0, *found]))
    return apart and times[-1] - times[0] >= (len(found) - 0.9) * delay
