"""Passwords of users: what they have to be like, and their hashes by argon2id with the parameters of RFC 9106."""

from __future__ import annotations

import secrets
import unicodedata
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ultracrawl.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_CHARACTERS = 8
MAX_BYTES = 1024
"""A longer password is neither hashed nor compared: hashing takes time for each byte."""


def check_password(name: str, password: str) -> None:
    """Raise `UserError` for a password that is too short or too long, or easily guessed from the name of its user."""
    plain = _normal(password)
    if len(plain) < MIN_CHARACTERS or len(plain.encode("utf-8", "replace")) > MAX_BYTES:
        raise UserError(
            f"the password has to have {MIN_CHARACTERS} characters at least, and {MAX_BYTES} bytes at most"
        )
    if len(set(plain)) < MIN_CHARACTERS // 2 or plain.casefold().replace(name.casefold(), "") == "":
        raise UserError(
            "the password is easily guessed: take several words, or let a password manager make one"
        )


def hash_password(password: str) -> str:
    """Return the hash of a password, with its salt and parameters. Raises `MissingExtraError`."""
    return _hasher().hash(_normal(password).encode())


def fits(digest: str, password: str) -> bool:
    """Return whether a hash is that of a password; takes as long if not."""
    from argon2.exceptions import Argon2Error, InvalidHashError  # noqa: PLC0415 - an extra

    secret = _normal(password).encode("utf-8", "replace")
    if len(secret) > MAX_BYTES:
        return False
    try:
        return _hasher().verify(digest, secret)
    except (Argon2Error, InvalidHashError):
        return False


def is_outdated(digest: str) -> bool:
    """Return whether a hash was made with other parameters than those of today."""
    return _hasher().check_needs_rehash(digest)


@cache
def hash_of_nobody() -> str:
    """Return the hash of a password that nobody knows, to compare with where there is no user."""
    return hash_password(secrets.token_urlsafe())


@cache
def _hasher() -> PasswordHasher:
    if find_spec("argon2") is None:
        raise MissingExtraError("users with passwords", "serve")
    from argon2 import PasswordHasher  # noqa: PLC0415 - an extra

    return PasswordHasher()


def _normal(password: str) -> str:
    """Return a password as keyboards of all systems type it (RFC 8265, OpaqueString)."""
    return unicodedata.normalize("NFC", password)
