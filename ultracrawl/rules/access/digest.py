"""The Digest scheme (RFC 7616, and RFC 2069 for servers without quality of protection)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable

from ultracrawl.rules.access.challenge import Challenge

_STRENGTH = ("SHA-512-256", "SHA-256", "MD5")
_HASHES = {"SHA-512-256": "sha512_256", "SHA-256": "sha256", "MD5": "md5"}


def best_digest(challenges: Iterable[Challenge]) -> Challenge | None:
    """Return the strongest supported challenge, None if there is none."""
    supported = [challenge for challenge in challenges if _is_supported(challenge)]
    return min(supported, key=lambda challenge: _STRENGTH.index(_algorithm(challenge)), default=None)


class DigestSession:
    """Answers to one nonce with increasing nonce counts, so that later requests need no new challenge.

    Texts are encoded as UTF-8, the only charset that servers may name.
    """

    def __init__(
        self,
        challenge: Challenge,
        user: str,
        password: str,
        new_cnonce: Callable[[], str] = lambda: secrets.token_hex(16),
    ) -> None:
        parameters = challenge.parameters
        self.realm = challenge.realm
        self.nonce = parameters.get("nonce", "")
        self._opaque = parameters.get("opaque")
        self._algorithm = parameters.get("algorithm")
        self._hash = _hash_of(_algorithm(challenge))
        self._qop = _quality(challenge)
        self._new_cnonce = new_cnonce
        self._cnonce = new_cnonce()
        self._hides_user = parameters.get("userhash", "").lower() == "true"
        self._user = user
        self._user_hash = self._hash(f"{user}:{self.realm}".encode())
        self._secret = self._hash(f"{user}:{self.realm}:{password}".encode())
        if self._algorithm and self._algorithm.upper().endswith("-SESS"):
            self._secret = self._hash(f"{self._secret}:{self.nonce}:{self._cnonce}".encode())
        self._count = 0

    def answer(self, method: str, target: str, body: bytes = b"") -> str:
        """Return the value of an Authorization header for a request; `target` is its path with the query."""
        self._count += 1
        count = f"{self._count:08x}"
        subject = f"{method}:{target}"
        if self._qop == "auth-int":
            subject += f":{self._hash(body)}"
        middle = f":{count}:{self._cnonce}:{self._qop}" if self._qop else ""
        digest = self._hash(f"{self._secret}:{self.nonce}{middle}:{self._hash(subject.encode())}".encode())
        return "Digest " + ", ".join(self._fields(target, digest, count))

    def _fields(self, target: str, digest: str, count: str) -> Iterable[str]:
        yield self._name()
        yield f"realm={_quoted(self.realm)}"
        yield f"nonce={_quoted(self.nonce)}"
        yield f"uri={_quoted(target)}"
        yield f'response="{digest}"'
        if self._algorithm:
            yield f"algorithm={self._algorithm}"
        if self._opaque is not None:
            yield f"opaque={_quoted(self._opaque)}"
        if self._qop:
            yield f"qop={self._qop}"
            yield f"nc={count}"
            yield f'cnonce="{self._cnonce}"'
        if self._hides_user:
            yield "userhash=true"

    def _name(self) -> str:
        return f"username={_quoted(self._user_hash if self._hides_user else self._user)}"


def _algorithm(challenge: Challenge) -> str:
    return challenge.parameters.get("algorithm", "MD5").upper().removesuffix("-SESS")


def _is_supported(challenge: Challenge) -> bool:
    if challenge.scheme != "digest" or "nonce" not in challenge.parameters:
        return False
    if _HASHES.get(_algorithm(challenge)) not in hashlib.algorithms_available:
        return False
    return not challenge.parameters.get("qop") or bool(_quality(challenge))


def _quality(challenge: Challenge) -> str:
    """Return the quality of protection to use; empty if the server offers no known one."""
    offered = {name.strip().lower() for name in challenge.parameters.get("qop", "").split(",")}
    return next((name for name in ("auth", "auth-int") if name in offered), "")


def _hash_of(algorithm: str) -> Callable[[bytes], str]:
    return lambda data: hashlib.new(_HASHES[algorithm], data, usedforsecurity=False).hexdigest()


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
