"""The options of the kind `file`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.agents.file.file_urls import canonical_prefix
from ultracrawl.agents.file.remote.locations import RemoteLocation, is_remote, parse_location
from ultracrawl.agents.file.remote.section import OPTIONS, WITH_READERS, ConnectionSection, is_loopback
from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.sources.mistakes import format_names, format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import one_or_list


def _check_paths(value: tuple[str, ...]) -> tuple[str, ...]:
    for path in filter(is_remote, value):
        location = parse_location(path)
        if location.scheme == "smb" and location.path == b"/":
            raise mistake(f"{format_value(path)} names no share", "write `smb://files.example.com/share`")
    return value


def _check_connections(value: Mapping[str, ConnectionSection]) -> Mapping[str, ConnectionSection]:
    for prefix, connection in value.items():
        location = parse_location(prefix)
        scheme = location.scheme
        if unfit := sorted(connection.model_fields_set - OPTIONS[scheme]):
            raise mistake(
                f"{format_names(unfit)} does not apply to `{scheme}://`",
                f"write of {format_names(sorted(OPTIONS[scheme]))} what you need",
            )
        if not connection.tls and not is_loopback(location.host):
            raise mistake(f"{location.host} would get the password in clear text", "remove `tls`")
    return value


def _check_prefixes(value: Mapping[str, str]) -> Mapping[str, str]:
    for prefix, replacement in value.items():
        if canonical_prefix(prefix) is None:
            raise mistake(
                f"{format_value(prefix)} is not the beginning of a file URL",
                "write `file:///srv/docs/`, or for remote files a URL as in `paths`",
            )
        if "://" not in replacement or not is_display_url(replacement):
            raise mistake(
                f"{format_value(replacement)} is not the beginning of a URL",
                "write `https://files.example.com/`",
            )
    return value


PathOrUrl = Annotated[str, Field(min_length=1)]
Patterns = Annotated[tuple[str, ...], one_or_list(str)]


class FileSection(Section):
    """Folders whose files are documents."""

    ADVICE: ClassVar = dict.fromkeys(
        ("path", "folder", "folders", "dir", "dirs", "directory", "directories", "root", "url"),
        "write `paths: [/srv/docs]`",
    )
    FETCH_OPTIONS: ClassVar = frozenset(
        {"paths", "connections", "include", "exclude", "levels", "hidden", "symlinks", "mailboxes", "watch"}
    )

    paths: Annotated[
        tuple[PathOrUrl, ...], one_or_list(PathOrUrl), Field(min_length=1), AfterValidator(_check_paths)
    ] = Field(examples=[["/srv/docs", "sftp://reader@files.example.com/srv/docs"]])
    """The folders, local, mounted or remote, crawled with all their subfolders; or single files."""
    connections: Annotated[Mapping[str, ConnectionSection], AfterValidator(_check_connections)] = Field(
        default={},
        examples=[
            {"sftp://files.example.com": {"password": "${FILES_PASSWORD}", "known_hosts": "known_hosts"}}
        ],
    )
    """How the servers of remote folders are connected to, by the beginning of their URLs in `paths`."""
    include: Patterns = Field(default=(), examples=[["*.pdf", "handbook/*"]])
    """Files to include: patterns without `/` match names, others match paths below the folder. None: all."""
    exclude: Patterns = Field(default=(), examples=[["*.bak", "private"]])
    """Files and folders to exclude, even if `include` matches them; excluded folders are not entered."""
    levels: int | None = Field(default=None, ge=0, examples=[3])
    """Depth of subfolders that are entered below `paths`; 0: no subfolders. None: all."""
    hidden: bool = Field(default=False, examples=[True])
    """Include files and folders whose names begin with a dot."""
    symlinks: bool = Field(default=False, examples=[True])
    """Follow symbolic links; those that lead out of `paths` are always ignored."""
    mailboxes: Patterns = Field(default=("*.mbox",), examples=[["*.mbox", "mail/*"]])
    """Mailboxes (mbox) whose messages become single documents if `types` has mail; patterns as for `include`."""
    display_url: Annotated[Mapping[str, str], AfterValidator(_check_prefixes)] = Field(
        default={}, examples=[{"file:///srv/docs/": "https://files.example.com/"}]
    )
    """Prefixes of file URLs, and the URL prefixes that users see instead; the longest matching prefix applies."""
    permissions: bool = Field(default=False, examples=[True])
    """Restrict each file in searches to those who may read it here: `user:OWNER`, `group:GROUP`, or everybody."""
    watch: bool = Field(default=False, examples=[True])
    """Have `ultracrawl serve` crawl the source soon after something in its folders has changed."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The local ones of `paths`."""
        return tuple(Path(path) for path in self.paths if not is_remote(path))

    @property
    def remote(self) -> tuple[RemoteLocation, ...]:
        """The remote ones of `paths`."""
        return tuple(parse_location(path) for path in self.paths if is_remote(path))

    @model_validator(mode="after")
    def _readers_are_known(self) -> Self:
        for location in self.remote if self.permissions else ():
            if location.scheme not in WITH_READERS:
                raise mistake(
                    f"`{location.scheme}://` does not say who may read a file, so `permissions` would show all to all",
                    "take it into a source of its own, with the readers in `acl`",
                )
        return self

    @model_validator(mode="after")
    def _connections_are_used(self) -> Self:
        for prefix in self.connections:
            if not any(parse_location(prefix).holds(location) for location in self.remote):
                raise mistake(
                    f"no remote path begins with {format_value(prefix)}",
                    "write the beginning of one of `paths`",
                )
        return self
