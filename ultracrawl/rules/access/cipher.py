"""Passwords that stand encrypted in a definition: AES with 128 bits, and the key in a file of its own."""

from __future__ import annotations

import binascii
import os
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from ultracrawl.errors import UserError

MARK = "{aes}"
"""What an encrypted password begins with; the rest is base64 (RFC 4648, 5) of nonce, text and tag."""
_KEY = 16
_NONCE = 12
_PURPOSE = b"ultracrawl password"


class PasswordCipher:
    """AES-128 in Galois/Counter Mode, so that a wrong key or a changed text is noticed. Raises `UserError`."""

    def __init__(self, key: bytes) -> None:
        if len(key) != _KEY:
            raise UserError(
                f"the key has {len(key)} bytes and not {_KEY}; make one with `ultracrawl secret new-key`"
            )
        self._cipher = AESGCM(key)

    @classmethod
    def of_text(cls, text: str) -> PasswordCipher:
        """Return the cipher of a key as a key file holds it: 16 bytes in base64, or as 32 hexadecimal digits."""
        written = text.strip()
        try:
            key = bytes.fromhex(written) if len(written) == 2 * _KEY else b64decode(written, validate=True)
        except (ValueError, binascii.Error):
            raise UserError("the key file holds no key; make one with `ultracrawl secret new-key`") from None
        return cls(key)

    def encrypt(self, password: str) -> str:
        """Return a password as it may stand in a definition; each call gives another text."""
        nonce = os.urandom(_NONCE)
        return (
            MARK
            + urlsafe_b64encode(nonce + self._cipher.encrypt(nonce, password.encode(), _PURPOSE)).decode()
        )

    def decrypt(self, text: str) -> str:
        """Return the password of an encrypted text."""
        try:
            sealed = urlsafe_b64decode(text.removeprefix(MARK).encode())
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], _PURPOSE).decode()
        except (InvalidTag, ValueError, binascii.Error):
            raise UserError("the password was encrypted with another key, or its text was changed") from None


def new_key() -> str:
    """Return a new key as a key file holds it."""
    return os.urandom(_KEY).hex()
