"""Which texts of queries are counted, and in which form."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 120
"""Characters of a query; longer ones are pasted texts."""
_SECRETS = re.compile(
    r"""
      [^\s@]+@[^\s@]+\.\w                                         # a mail address
    | ://[^\s/@]*:[^\s/@]*@                                       # a URL with a password
    | \beyj[\w-]{10,}\.                                           # a JSON Web Token
    | \b(?:bearer|basic)\s+[\w+/=.-]{8,}
    | \b\w*(?:passw(?:or)?d|pwd|passwort|kennwort|secret|token|api[_-]?key)\s*[:=]\s*\S
    | (?:\d[ ().-]?){9,}                                          # a number of a phone, an account or a card
    | \b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b             # a UUID
    | \b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\b          # hexadecimal digits of a key
    """,
    re.VERBOSE,
)
_RUN = re.compile(r"[a-z0-9+/=]{16,}", re.IGNORECASE)
_CHANGES = re.compile(r"(?<=[a-z])(?=\d)|(?<=\d)(?=[a-z])", re.IGNORECASE)
_MANY_CHANGES = 4
"""Changes between letters and digits in a run of characters from which it looks random."""


def counted_text(text: str) -> str:
    """Return the form in which a query is counted; empty if its text must not be stored.

    Case and blanks make no difference. Not stored are texts of more than `LONGEST` characters, with control
    characters, without a letter or digit, and those that look like a secret or like data of a person: mail addresses,
    long numbers, passwords, keys and tokens.
    """
    shown = " ".join(unicodedata.normalize("NFC", text[: 4 * LONGEST]).split())
    plain = shown.casefold()
    if len(plain) > LONGEST or len(text) > 4 * LONGEST or not any(map(str.isalnum, plain)):
        return ""
    if not plain.isprintable() or _SECRETS.search(plain) or any(map(_looks_random, _RUN.findall(shown))):
        return ""
    return plain


def _looks_random(run: str) -> bool:
    return len(_CHANGES.findall(run)) >= _MANY_CHANGES
