"""A provider of OpenID Connect on loopback, with keys of its own, that can be told to misbehave."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote_plus, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT, SECRET = "ultracrawl", "a secret + more: 100 %"
ACCESS = "an-access-token"


class Provider:
    """Signs in whom a test names; `claims` are added to each ID token, None takes one away."""

    def __init__(self) -> None:
        self.key = self.new_key("one")
        self.signer = self.key
        self.algorithm = "RS256"
        self.claims: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.userinfo: Any = None
        """What the userinfo endpoint says; None: there is no such endpoint."""
        self.ends_sessions = False
        """Whether it has an address for log-outs."""
        self.asked: list[str] = []
        """The paths that were asked for."""
        self._codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @staticmethod
    def new_key(name: str) -> RSAKey:
        return RSAKey.generate_key(2048, {"kid": name}, private=True)

    def rotate(self) -> None:
        """Sign with a new key, and offer no other."""
        self.key = self.signer = self.new_key("two")

    def sign_in(self, address: str) -> str:
        """Return where the browser is sent back to, as a user who signs in at an address."""
        query = dict(parse_qsl(urlsplit(address).query))
        assert (query["response_type"], query["code_challenge_method"]) == ("code", "S256")
        code = f"code {len(self._codes)}"
        self._codes[code] = query
        back = urlencode({"code": code, "state": query["state"], "iss": self.issuer})
        return f"{query['redirect_uri']}?{back}"

    def _token(self, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        asked = self._codes.pop(form["code"], None)
        challenge = urlsafe_b64encode(sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        pair = b64decode(authorization.removeprefix("Basic ")).decode().split(":")
        is_right = (
            asked is not None
            and challenge == asked["code_challenge"]
            and form["redirect_uri"] == asked["redirect_uri"]
            and [unquote_plus(one) for one in pair] == [CLIENT, SECRET]
        )
        if asked is None or not is_right:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": "ida", "iat": now, "exp": now + 300}
        claims |= {"nonce": asked["nonce"], **self.claims}
        kept = {name: value for name, value in claims.items() if value is not None}
        return 200, {"access_token": ACCESS, "token_type": "Bearer", "id_token": self._signed(kept)}

    def _signed(self, claims: dict[str, Any]) -> str:
        if self.algorithm == "none":
            parts = [{"alg": "none"}, claims]
            return (
                ".".join(urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=").decode() for one in parts)
                + "."
            )
        header = {"alg": self.algorithm, "kid": self.signer.kid}
        return str(jwt.encode(header, claims, self.signer, algorithms=[self.algorithm]))

    def answer(self, path: str, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        self.asked.append(path)
        match path:
            case "/.well-known/openid-configuration":
                places = {
                    "authorization_endpoint": "/sign-in",
                    "token_endpoint": "/token",
                    "jwks_uri": "/keys",
                }
                if self.userinfo is not None:
                    places["userinfo_endpoint"] = "/userinfo"
                if self.ends_sessions:
                    places["end_session_endpoint"] = "/log-out"
                found = {name: self.issuer + place for name, place in places.items()}
                return 200, {"issuer": self.issuer, **found, **self.metadata}
            case "/keys":
                return 200, KeySet([self.key]).as_dict(private=False)
            case "/token":
                return self._token(form, authorization)
            case "/userinfo" if authorization == f"Bearer {ACCESS}":
                return 200, self.userinfo
        return 404, {}

    def _handler(provider) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
                form = {name: values[-1] for name, values in parse_qs(body).items()}
                status, found = provider.answer(self.path, form, self.headers.get("Authorization", ""))
                data = json.dumps(found).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
