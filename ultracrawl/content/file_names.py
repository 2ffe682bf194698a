"""What the names of files say of them, where no server names a type."""

from __future__ import annotations

from mimetypes import MimeTypes

from ultracrawl.content.converters.registry import type_of_name

_TYPES = MimeTypes()
_MORE = {
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
"""Files that FTP servers are full of and that the table of Python does not know."""
_PACKED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


def media_type_of(url: str) -> str:
    """Return the media type that the name of a file stands for, or empty."""
    name = url.rpartition("/")[2].partition("?")[0].lower()
    known = type_of_name(name) or _MORE.get(name.rpartition(".")[2] if "." in name else "", "")
    if known:
        return known
    found, packed = _TYPES.guess_type(name)
    return _PACKED.get(packed, "application/octet-stream") if packed else found or ""
