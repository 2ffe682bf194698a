"""Log-ins under way with a provider: what the browser that began one has to bring back, once."""

from __future__ import annotations

import secrets
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest

from itsdangerous import BadData, URLSafeTimedSerializer

from ultracrawl.dataclass import asdict, dataclass

ATTEMPT_LIFE = 600
"""Seconds for a log-in with a provider."""
_MAX_USED = 10_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """A log-in under way."""

    redirect_uri: str
    next: str
    """The path that it leads to."""
    state: str
    """What the provider sends back, so that only the browser that began this log-in can end it."""
    nonce: str
    """What the ID token has to have, so that it is one for this log-in."""
    verifier: str
    """The secret whose hash the provider has, so that a code that somebody else saw is worth nothing (RFC 7636)."""

    @classmethod
    def new(cls, redirect_uri: str, next_: str) -> Attempt:
        """Return one with secrets of its own."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(redirect_uri, next_, state, nonce, verifier)

    @property
    def challenge(self) -> str:
        """The hash of `verifier` (RFC 7636, method S256)."""
        return urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


class Attempts:
    """Signs log-ins under way, which browsers keep in a cookie; each can end once."""

    def __init__(self, secret: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._signer = URLSafeTimedSerializer(secret, salt="sign-in")
        self._clock = clock
        self._lock = threading.Lock()
        self._used: dict[str, float] = {}

    def signed(self, attempt: Attempt) -> str:
        """Return a log-in as a cookie has it."""
        return str(self._signer.dumps(asdict(attempt)))

    def take_attempt(self, cookie: str, state: str) -> Attempt | None:
        """Return the log-in of a cookie, if the provider sent back its `state`; None otherwise, and a second time."""
        try:
            attempt = Attempt(**self._signer.loads(cookie, max_age=ATTEMPT_LIFE))
        except (BadData, TypeError):
            return None
        if not compare_digest(attempt.state.encode(), state.encode("utf-8", "replace")):
            return None
        now = self._clock()
        with self._lock:
            is_first = self._used.get(attempt.state, now) <= now
            used = {one: ends for one, ends in self._used.items() if ends > now}
            self._used = dict([*used.items(), (attempt.state, now + ATTEMPT_LIFE)][-_MAX_USED:])
        return attempt if is_first else None
