"""Verifies signatures of Amazon (Version 4) as its servers do, from what came in alone."""

from __future__ import annotations

import re
from hashlib import sha256

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from support.server import Request

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
    r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})"
)
NEEDED = {"host", "x-amz-content-sha256", "x-amz-date"}
"""Headers that have to be signed."""


def is_signed(request: Request, key: str, secret: str, region: str, service: str) -> bool:
    """Return whether a request is signed with this key, for this region and service."""
    found = _AUTHORIZATION.fullmatch(request.header("Authorization") or "")
    if found is None:
        return False
    signed = found[5].split(";")
    moment = request.header("X-Amz-Date") or ""
    if (
        (found[1], found[3], found[4]) != (key, region, service)
        or not set(signed) >= NEEDED
        or request.header("X-Amz-Content-SHA256") != sha256(request.body).hexdigest()
        or not moment.startswith(found[2])
    ):
        return False
    expected = AWSRequest(
        request.method,
        f"http://{request.header('Host')}{request.path}",
        {name: request.header(name) for name in signed},
        request.body,
    )
    expected.context["timestamp"] = moment
    signer = SigV4Auth(Credentials(key, secret), service, region)
    text = signer.string_to_sign(expected, signer.canonical_request(expected))
    return bool(signer.signature(text, expected) == found[6])
