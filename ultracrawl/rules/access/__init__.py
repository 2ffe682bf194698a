"""Access to protected sites, as rules: which secret belongs to which URL, and what is said to a server that asks.

`UrlPrefix` (a scheme, host, port and path, and what lies below), `Credential` and `CredentialStore` (which user and
password are for a URL), `challenges_in` (what a server asks for), `DigestSession` (answers of RFC 7616),
`basic_answer`, `PasswordCipher` (encrypted passwords). Nothing here speaks to a server.
"""

from ultracrawl.rules.access.basic import basic_answer
from ultracrawl.rules.access.challenge import Challenge, challenges_in
from ultracrawl.rules.access.cipher import PasswordCipher
from ultracrawl.rules.access.credentials import NTLM_SCHEMES, Credential, CredentialStore, Scheme
from ultracrawl.rules.access.digest import DigestSession
from ultracrawl.rules.access.prefix import UrlPrefix

__all__ = [
    "NTLM_SCHEMES",
    "Challenge",
    "Credential",
    "CredentialStore",
    "DigestSession",
    "PasswordCipher",
    "Scheme",
    "UrlPrefix",
    "basic_answer",
    "challenges_in",
]
