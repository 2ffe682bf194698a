"""The one failure of a download that is ours and not the network's."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest

from ultracrawl.model import Decision


class AddressRefusedError(IgnoreRequest):
    """The address guard refused every address that the request would have been sent to.

    No byte was sent, no connection was made. It is an `IgnoreRequest`, so that Scrapy does not try again.
    """

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.reason)
        self.decision = decision
        """The answer of the address policy, with the rule that refused."""
