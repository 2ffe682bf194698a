"""Objects of S3 buckets (`s3:`), read with botocore; a prefix is a folder, certificates are checked."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - the name that the library gives it
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.session import get_session

from ultracrawl.agents.file.remote.connecting import Reconnecting
from ultracrawl.agents.file.remote.port import RemoteAccess, RemoteFile, RemoteFolder, version_by_time
from ultracrawl.agents.server_addresses import allowed_addresses
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model.dates import epoch, parse_http_date
from ultracrawl.settings.trust import trusted_roots

_MOST_EMPTY_PAGES = 1000
"""Pages of a listing in a row that name nothing. Deleted versions cause some; a server may send them without end."""
_GONE = frozenset({"404", "NoSuchKey", "NoSuchBucket"})
_REFUSED = frozenset(
    {
        "InvalidAccessKeyId",
        "SignatureDoesNotMatch",
        "AuthorizationHeaderMalformed",
        "InvalidToken",
        "ExpiredToken",
    }
)
_DENIED = frozenset({"403", "AccessDenied", "AllAccessDisabled", "InvalidObjectState"})


class S3Folder(RemoteFolder):
    """The objects of a bucket whose keys begin with a prefix, or one object."""

    def __init__(self, access: RemoteAccess) -> None:
        self._access = access
        self._bucket = access.location.host
        self._client: Reconnecting[Any] = Reconnecting(self._connect, lambda client: client.close())

    def members(self, folder: bytes) -> Iterator[RemoteFile]:
        """Yield the objects and the next parts of longer keys; keys with empty parts, `.` or `..` are left out."""
        prefix = _key(folder) and _key(folder) + "/"
        client, empty = self._client.get(), 0
        with self._errors(client):
            pages = client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=prefix, Delimiter="/", FetchOwner=True
            )
            for page in pages:
                empty = 0 if page.get("Contents") or page.get("CommonPrefixes") else empty + 1
                if empty > _MOST_EMPTY_PAGES:
                    raise WorkError(f"s3://{self._bucket} sends a listing without end that names nothing")
                for common in page.get("CommonPrefixes", ()):
                    name = common["Prefix"][len(prefix) : -1]
                    if name not in ("", ".", ".."):
                        yield RemoteFile(name.encode(), is_folder=True)
                for member in page.get("Contents", ()):
                    name = member["Key"][len(prefix) :]
                    if name not in ("", ".", ".."):
                        yield _remote_file(name, member)

    def find(self, path: bytes) -> RemoteFile:
        """Return the object or prefix of a path."""
        key = _key(path)
        client = self._client.get()
        with self._errors(client):
            if not key or self._first(client, key + "/") is not None:
                return RemoteFile(b"", is_folder=True)
            first = self._first(client, key)
        if first is None or first["Key"] != key:
            raise FileNotFoundError(errno.ENOENT, "no key is or begins with it")
        return _remote_file(key.rpartition("/")[2], first)

    def read(self, path: bytes, max_bytes: int) -> tuple[RemoteFile, bytes]:
        """Return an object, and its content or the beginning of that."""
        client, key = self._client.get(), _key(path)
        with self._errors(client):
            answer = client.get_object(Bucket=self._bucket, Key=key)
            body = answer["Body"]
            try:
                content: bytes = body.read(max_bytes) if max_bytes else body.read()
            finally:
                body.close()
        found = {**answer, "Size": answer.get("ContentLength", len(content))}
        return _remote_file(key.rpartition("/")[2], found), content

    def close(self) -> None:
        """Close the connections."""
        self._client.drop()

    def _first(self, client: Any, prefix: str) -> Any:
        """Return the first object whose key begins with a prefix; None if there is none."""
        found = client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, MaxKeys=1, FetchOwner=True)
        return next(iter(found.get("Contents", ())), None)

    def _connect(self) -> Any:
        """Return a client that has had an answer."""
        access, options = self._access, self._access.options
        config = Config(
            connect_timeout=options.timeout,
            read_timeout=options.timeout,
            retries={"total_max_attempts": 2, "mode": "standard"},
            s3={"addressing_style": "path" if options.endpoint else "auto"},
        )
        secret = access.secret("password")
        session = get_session()
        session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=_moment)
        client = session.create_client(
            "s3",
            region_name=options.region or "us-east-1",
            endpoint_url=options.endpoint,
            verify=str(access.base / options.ca) if options.ca else trusted_roots()[0] or True,
            aws_access_key_id=access.user or None,
            aws_secret_access_key=secret,
            config=config,
        )
        endpoint = urlsplit(client.meta.endpoint_url)
        allowed_addresses(endpoint.hostname or "", endpoint.port or 443, options.timeout)
        try:
            with self._errors(client):
                self._first(client, _key(access.location.path))
        except OSError:
            return client  # the operation itself says it again
        return client

    @contextmanager
    def _errors(self, client: Any) -> Iterator[None]:
        """Convert the errors of the library as the methods of the class raise them."""
        name = f"s3://{self._bucket}"
        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in _REFUSED:
                raise UserError(
                    f"{name} refuses the connection ({code}); correct its user and password"
                ) from None
            if code in _GONE:
                raise FileNotFoundError(errno.ENOENT, f"it does not exist ({code})") from None
            if code in _DENIED:
                raise PermissionError(errno.EACCES, f"it may not be read ({code})") from None
            raise OSError(errno.EIO, f"the server answers {code}") from None
        except (NoCredentialsError, PartialCredentialsError):
            raise UserError(
                f"there is no key for {name}; write `user` and `password` of the connection"
            ) from None
        except (ConnectionError, HTTPClientError, IncompleteReadError, OSError) as error:
            self._client.drop(client)
            raise WorkError(f"the server of {name} cannot be reached: {type(error).__name__}") from None
        except ValueError as error:  # a size that is no number
            raise OSError(errno.EIO, f"the server answers what cannot be read: {error}") from None
        except BotoCoreError as error:
            raise UserError(f"{name} cannot be read: {' '.join(str(error).split())[:300]}") from None


def _key(path: bytes) -> str:
    return path.strip(b"/").decode("utf-8", "surrogateescape")


def _moment(text: object) -> datetime | None:
    """Return a time that a server writes; None for one that cannot be, where the library ends the listing."""
    return parse_http_date(str(text))


def _remote_file(name: str, member: Any) -> RemoteFile:
    owner = member.get("Owner", {})
    modified = int(epoch(member.get("LastModified")))  # listings may have fractions, objects have none
    return RemoteFile(
        name.encode("utf-8", "surrogateescape"),
        size=member.get("Size", 0),
        modified=max(modified, 0),
        version=member.get("ETag", "").strip('"') or version_by_time(modified),
        owner=owner.get("DisplayName") or owner.get("ID") or "",
    )
