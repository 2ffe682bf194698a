"""Passwords of users: what they have to be like, and their hashes by argon2id with the parameters of RFC 9106."""

from __future__ import annotations

import re
import secrets
import threading
import unicodedata
from enum import StrEnum
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ultracrawl.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

MIN_CHARACTERS, MAX_CHARACTERS = 12, 128
"""Of a password that is set; those of earlier versions are compared as they are."""
MAX_BYTES = 1024
"""A longer password is neither hashed nor compared: hashing takes time for each byte."""
LEAST_GUESSES = 10**9
"""Guesses that a password has to withstand; one can be tried each ten seconds."""
_ESTIMATED = 32
"""Characters that are looked at; of some texts, twice as many take seconds."""
_estimating = threading.Lock()
"""zxcvbn keeps the words of its caller in a global."""


class Weakness(StrEnum):
    """Why a password is not taken."""

    LENGTH = "length"
    GUESSED = "guessed"
    """It is frequent, or made of frequent words, names, dates, rows of the keyboard, repetitions, or words of here."""


class WeakPasswordError(UserError):
    """A new password that is not taken."""

    def __init__(self, weakness: Weakness) -> None:
        super().__init__(
            f"the password has to have {MIN_CHARACTERS} characters at least, and {MAX_CHARACTERS} at most"
            if weakness is Weakness.LENGTH
            else "the password is easily guessed: take several words, or let a password manager make one"
        )
        self.weakness = weakness


def weakness_of(name: str, password: str) -> Weakness | None:
    """Return why a new password of a user is not taken; None if it is. Raises `MissingExtraError`."""
    plain = _normal(password)
    if not MIN_CHARACTERS <= len(plain) <= MAX_CHARACTERS:
        return Weakness.LENGTH
    if find_spec("zxcvbn") is None:
        raise MissingExtraError("users with passwords", "serve")
    from zxcvbn import zxcvbn  # noqa: PLC0415 - an extra

    known = ["ultracrawl", name, *re.split(r"[\W_]+", name)]
    with _estimating:
        guesses = zxcvbn(plain[:_ESTIMATED], known)["guesses"]
    return Weakness.GUESSED if guesses < LEAST_GUESSES else None


def check_password(name: str, password: str) -> None:
    """Raise `WeakPasswordError` for a new password that is not taken, `MissingExtraError`."""
    if (weakness := weakness_of(name, password)) is not None:
        raise WeakPasswordError(weakness)


def new_password() -> str:
    """Return a random password, with 120 bits."""
    return secrets.token_urlsafe(15)


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
