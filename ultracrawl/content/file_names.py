"""Media types by file name, for files without a declared type."""

from __future__ import annotations

from mimetypes import MimeTypes

from ultracrawl.content.converters.registry import type_of_name

_TYPES = MimeTypes()
_ADDITIONAL = {
    "7z": "application/x-7z-compressed",
    "deb": "application/vnd.debian.binary-package",
    "dmg": "application/x-apple-diskimage",
    "gz": "application/gzip",
    "img": "application/x-raw-disk-image",
    "iso": "application/x-iso9660-image",
    "jar": "application/java-archive",
    "md5": "text/plain",
    "rar": "application/x-rar-compressed",
    "rpm": "application/x-rpm",
    "sha256": "text/plain",
    "tgz": "application/gzip",
    "xz": "application/x-xz",
    "zst": "application/zstd",
}
"""Types of files common on FTP servers that Python's `mimetypes` lacks."""
_COMPRESSED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


def media_type_of(url: str) -> str:
    """Return the media type for the file name in a URL, or empty."""
    name = url.rpartition("/")[2].partition("?")[0].lower()
    known = type_of_name(name) or _ADDITIONAL.get(name.rpartition(".")[2] if "." in name else "", "")
    if known:
        return known
    media_type, compression = _TYPES.guess_type(name)
    return _COMPRESSED.get(compression, "application/octet-stream") if compression else media_type or ""
