"""The client of the servers: how it connects and signs, and what a busy server says of the next request."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection

from ultracrawl.errors import UserError
from ultracrawl.index.engine import Json
from ultracrawl.rules.frontier.politeness.retry_after import RETRY_AFTER_STATUS, retry_after

_LONGEST_RETRY_AFTER = 3600.0
"""Seconds after which a busy server is asked again, whatever it said."""
_SERVICE = "es"
"""The name of the managed service in signatures."""


class Connection(Urllib3HttpConnection):
    """A connection that says for how many seconds a busy server wants no request; 0 if it says nothing."""

    def __init__(self, *, busy: Callable[[float], None], **options: Any) -> None:
        super().__init__(**options)
        self._busy = busy

    def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        timeout: float | None = None,
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """See the client library."""
        passed = (*ignore, *RETRY_AFTER_STATUS)
        status, found, data = super().perform_request(method, url, params, body, timeout, passed, headers)
        self._busy(retry_after(found.get("Retry-After", ""), time.time(), _LONGEST_RETRY_AFTER))
        if status in RETRY_AFTER_STATUS and status not in ignore:
            self._raise_error(status, data, found.get("Content-Type"))
        return status, found, data


def connect(
    urls: list[str], options: Mapping[str, Json], timeout: float, busy: Callable[[float], None]
) -> OpenSearch:
    """Return a client that sends each request once; `busy` is told what each answer says of the next request.

    Raises `UserError` if there are no keys to sign with.
    """
    user, password, key = (str(options.get(name) or "") for name in ("user", "password", "key"))
    authority: dict[str, Any] = {"ca_certs": str(options["ca"])} if options.get("ca") else {}
    auth: Any = (user, password) if user else None
    if options.get("auth") == "aws":
        auth = _signer(user, password, str(options.get("region") or ""))
    return OpenSearch(
        hosts=urls,
        http_auth=auth,
        headers={"Authorization": f"ApiKey {key}"} if key else None,
        timeout=timeout,
        max_retries=0,  # otherwise a late request is sent twice
        retry_on_timeout=False,
        verify_certs=True,
        connection_class=Connection,
        busy=busy,
        **authority,
    )


def _signer(user: str, password: str, region: str) -> Urllib3AWSV4SignerAuth:
    """Return what signs each request with these keys, or with those of the environment, a profile or the machine."""
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - of an extra that only this needs
    from botocore.session import get_session  # noqa: PLC0415 - of the same extra

    session = get_session()
    if user:
        session.set_credentials(user, password)
    try:
        credentials = session.get_credentials()
        known = region or session.get_config_variable("region")
    except BotoCoreError as error:
        raise UserError(f"`auth: aws` of the index engine opensearch: {type(error).__name__}") from None
    if credentials is None:
        raise UserError(
            "`auth: aws` of the index engine opensearch finds no keys; write `user` and `password`, or set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    if not known:
        raise UserError("`auth: aws` of the index engine opensearch needs a region; write `region`")
    return Urllib3AWSV4SignerAuth(credentials, known, _SERVICE)
