"""Reads `networks.txt` beside collections: the private networks they may reach, for which XML has no option."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.sources import OptionPath, Place
from ultracrawl.sources.mistakes import format_value
from ultracrawl.sources.reading.locations import track_file

NETWORKS_FILE = "networks.txt"
"""One network per line, as `10.1.0.0/16`; blank lines and lines that begin with `#` are skipped."""
_NETWORKS: OptionPath = ("boundary", "networks")


def read_networks(beside: Path, notices: Notices) -> dict[str, int]:
    """Return the networks of the file beside a collection file, with their lines; empty if there is no file."""
    path = beside.with_name(NETWORKS_FILE)
    track_file(path)
    if not path.exists():
        return {}
    own = Notices(str(path))
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        lines = []
        own.add(Code.VALUE, own.place(0), f"cannot be read: {error}", "check the file and its rights")
    found = _networks(lines, own)
    notices.add_all(own)
    return found


def _networks(lines: list[str], notices: Notices) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        try:
            found.setdefault(str(ip_network(text)), number)
        except ValueError:
            problem = f"{format_value(text)} is no network"
            notices.add(Code.VALUE, notices.place(number, "network"), problem, "write it as `10.1.0.0/16`")
    return found


def open_networks(draft: Draft, networks: dict[str, int], file: str) -> None:
    """Allow a source to reach networks in addition to its own ones."""
    if not networks:
        return
    known = draft.get(_NETWORKS)
    own = [str(network) for network in known] if isinstance(known, list) else []
    merged = list(dict.fromkeys([*own, *networks]))
    draft.put_from(_NETWORKS, [*merged], Place(file, next(iter(networks.values())), "network"))
