"""A bucket on loopback: the server of moto."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from botocore.session import get_session
from moto.server import DomainDispatcherApplication, create_backend_app

from support.remote_site import PASSWORD, USER, HttpSite

_LISTING = "list-type"


class S3Site(HttpSite):
    """The bucket `files`; keys of `reader` are accepted, signatures are not looked at."""

    url = "s3://files/"

    def __init__(self) -> None:
        super().__init__()
        self.application = DomainDispatcherApplication(create_backend_app)
        self._port = 0

    def served_at(self, port: int) -> None:
        self._port = port
        self._client = get_session().create_client(
            "s3",
            region_name="us-east-1",
            endpoint_url=f"http://127.0.0.1:{port}",
            aws_access_key_id=USER,
            aws_secret_access_key=PASSWORD,
        )
        for key in self._keys("") if self._has_bucket() else ():
            self._client.delete_object(Bucket="files", Key=key)
        self._client.create_bucket(Bucket="files")

    def _has_bucket(self) -> bool:
        return any(one["Name"] == "files" for one in self._client.list_buckets()["Buckets"])

    def _keys(self, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket="files", Prefix=prefix)
        return [one["Key"] for page in pages for one in page.get("Contents", ())]

    def put(self, path: str, text: str | bytes = "common words") -> None:
        self._client.put_object(
            Bucket="files", Key=path, Body=text.encode() if isinstance(text, str) else text
        )

    def delete(self, path: str) -> None:
        for key in self._keys(path):
            if key == path or key.startswith(f"{path}/"):
                self._client.delete_object(Bucket="files", Key=key)

    def connection(self) -> dict[str, object]:
        return {"endpoint": f"http://127.0.0.1:{self._port}"}

    def move_to(self, port: int) -> None:
        self._port = port

    def listed(self, environ: dict[str, Any]) -> str | None:
        words = parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
        return "/" + words.get("prefix", [""])[0] if _LISTING in words and "max-keys" not in words else None

    def read(self, environ: dict[str, Any]) -> str | None:
        is_object = environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].count("/") > 1
        return str(environ["PATH_INFO"]) if is_object and environ["PATH_INFO"][-1] != "/" else None

    def refusal(self, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes] | None:
        if f"Credential={USER}/" in environ.get("HTTP_AUTHORIZATION", ""):
            return None
        return (
            "403 Forbidden",
            [("Content-Type", "application/xml")],
            b"<Error><Code>InvalidAccessKeyId</Code><Message>no</Message></Error>",
        )
