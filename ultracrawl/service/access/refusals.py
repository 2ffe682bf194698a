"""Why a user, a token or a public key is not made or changed: codes, which command line and pages put into words."""

from __future__ import annotations

from enum import StrEnum

from ultracrawl.errors import UserError


class Refusal(StrEnum):
    """Why something about access is refused."""

    NAME = "name"
    """It cannot be a name."""
    TAKEN = "taken"
    """The name is used already."""
    LAST_ADMINISTRATOR = "last-administrator"
    """Nobody could give rights in a browser any more."""
    SITE = "site"
    """It is no site of http or https, or has more than scheme, host and port."""
    EXPIRY = "expiry"
    """It is neither a time span nor a date."""
    EXPIRED = "expired"
    """It is not in the future."""


class RefusedError(UserError):
    """Something about access that is refused; `refusal` is its code."""

    def __init__(self, refusal: Refusal, message: str) -> None:
        super().__init__(message)
        self.refusal = refusal
