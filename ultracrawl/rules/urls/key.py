"""The 64-bit key of a URL."""

from __future__ import annotations

from xxhash import xxh3_64_intdigest

_SIGN = 1 << 63
_MODULUS = 1 << 64


def url_key(url: str, salt: int = 0) -> int:
    """Return the key of a URL: XXH3-64 of its UTF-8 as a signed 64-bit number, as SQLite stores integers.

    Two URLs may share a key: who stores keys compares the stored URL and asks again with another `salt`
    (0 to 2**64 - 1). Any string has a key; lone surrogates are encoded as they stand.
    """
    try:
        data = url.encode()
    except UnicodeEncodeError:
        data = url.encode("utf-8", "surrogatepass")
    digest: int = xxh3_64_intdigest(data, salt)
    return digest - _MODULUS if digest >= _SIGN else digest
