"""API tokens with their roles and principals, stored hashed in a file that only its owner can read."""

from __future__ import annotations

import json
import logging
import math
import re
import secrets
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Any

from ultracrawl.dataclass import asdict, dataclass, replace
from ultracrawl.errors import UserError
from ultracrawl.model.dates import as_text, iso, parse_w3c_date
from ultracrawl.service.access.refusals import Refusal, RefusedError
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.row_file import RowFile
from ultracrawl.sources import Project
from ultracrawl.system.files import cause_and_remedy, exclusive_lock, replace_file

logger = logging.getLogger(__name__)
PREFIX = "uc"
SITE_KEY = "box"
"""The name of the public key that `serve --public` makes."""
USE_INTERVAL = 60.0
"""Seconds between two writes of the last use of a token."""
LONGEST_NAME = 100
_SPANS = {"h": 3600, "d": 86_400, "w": 7 * 86_400}
"""Seconds of an hour, a day and a week."""
_TOKEN_PARTS = 3
"""Parts of a token, separated by `_`: prefix, number and secret."""


@dataclass(frozen=True, slots=True)
class Token:
    """A stored token, without its secret."""

    name: str
    role: Role | None
    created: str
    principals: tuple[str, ...] | None = ()
    """Users and groups whose documents it may see, beside public ones; None: all documents."""
    expires: str | None = None
    """When it ends (UTC); None: it does not."""
    sites: tuple[str, ...] = ()
    """Of a public key, which has no role: the origins of the sites whose pages may use it."""
    sources: tuple[str, ...] | None = None
    """The only sources in which it finds something; None: all, and for a public key all that are public."""

    @property
    def requester(self) -> Requester:
        """Who sends a request with this token; for a public key no source exists as yet."""
        if self.role is None:
            return Requester(f"key:{self.name}", RequesterKind.KEY, None, (), sources=())
        name = f"token:{self.name}"
        return Requester(name, RequesterKind.TOKEN, self.role, self.principals, self.sources)

    def public_requester(self, public: Sequence[str]) -> Requester:
        """Who sends a request with this public key, where `public` are the sources that say `public`."""
        known = public if self.sources is None else [one for one in public if one in self.sources]
        return replace(self.requester, sources=tuple(known))

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that is stored; `ultracrawl token list --json` adds `last_used`."""
        return {**asdict(self), "role": self.role and self.role.value}


@dataclass(frozen=True, slots=True)
class _Kept:
    token: Token
    number: str
    digest: str
    text: str = ""
    """Of the public key that `serve --public` shows at each start: what its pages contain."""


class TokenExpiredError(UserError):
    """A token that was right until its end."""

    def __init__(self, token: Token) -> None:
        super().__init__(f"this token expired at {token.expires}; ask for a new one")
        self.token = token


class TokenStore:
    """The token file of a project; changes by other processes take effect at once.

    When each token was last used is in a file of its own, which is written once in `USE_INTERVAL` at most.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._rows = RowFile(path, "tokens", _kept, _row, "make the tokens anew by `ultracrawl token create`")
        self._clock = clock
        self._used: dict[str, float] = {}
        """When the use of a token, by its number, was last written."""

    @classmethod
    def of_project(cls, project: Project) -> TokenStore:
        """Return the token store of a project, in its state folder."""
        return cls(project.state.path / "service" / "tokens.json")

    def create_token(
        self,
        name: str,
        role: Role | None,
        principals: Sequence[str] | None = (),
        expires: float | None = None,
        sites: Sequence[str] = (),
        sources: Sequence[str] | None = None,
    ) -> str:
        """Create a token and return its text, which is not stored; `expires` is in seconds since the epoch.

        Without a role it is a public key for pages of `sites`, which are origins as of `origin_of`.
        Raises `RefusedError` for a used name, and what is none, `WorkError`.
        """
        if not is_token_name(name):
            raise RefusedError(Refusal.NAME, f"{name!r} is no name of a token; write for example `portal`")
        who = None if principals is None else tuple(dict.fromkeys(principals))
        where = None if sources is None else tuple(dict.fromkeys(sources))
        made = Token(
            name, role, as_text(self._clock()), who, iso(expires), tuple(dict.fromkeys(sites)), where
        )
        with self._rows.changing() as kept:
            if any(one.token.name == name for one in kept.values()):
                raise RefusedError(
                    Refusal.TAKEN,
                    f"there is a token {name!r} already; choose another name, or "
                    f"`ultracrawl token revoke {name}` first",
                )
            new, text = _made(made)
            kept[new.number] = new
        return text

    def site_key(self, sites: Sequence[str]) -> str:
        """Return the public key `SITE_KEY` for pages of `sites`: a new one at the first call, then always the same.

        Its text is stored, which stands in public pages anyway. Raises `WorkError`, and `UserError` if there is another
        token of that name.
        """
        with self._rows.changing() as kept:
            found = next((one for one in kept.values() if one.token.name == SITE_KEY), None)
            if found is None:
                made, text = _made(Token(SITE_KEY, None, as_text(self._clock())))
                found = replace(made, text=text)
            elif not found.text:
                raise UserError(
                    f"there is a token {SITE_KEY!r} whose text is not stored; "
                    f"`ultracrawl token revoke {SITE_KEY}` first"
                )
            kept[found.number] = replace(found, token=replace(found.token, sites=tuple(dict.fromkeys(sites))))
        return found.text

    def revoke_token(self, name: str) -> None:
        """Delete a token, so that it is refused from now on. Raises `UserError` for an unknown name."""
        with self._rows.changing() as kept:
            found = [number for number, one in kept.items() if one.token.name == name]
            if not found:
                known = ", ".join(sorted(one.token.name for one in kept.values())) or "none"
                raise UserError(f"there is no token {name!r}; the tokens are: {known}")
            for number in found:
                del kept[number]

    def all_tokens(self) -> list[Token]:
        """Return all tokens by name. Raises `WorkError`."""
        return sorted((one.token for one in self._rows.read().values()), key=lambda one: one.name)

    def last_uses(self) -> dict[str, str]:
        """Return when tokens were last used, to the minute, by name; one that was never used is missing."""
        uses = self._read_uses()
        return {one.token.name: uses[number] for number, one in self._rows.read().items() if number in uses}

    def find_token(self, text: str) -> Token | None:
        """Return the stored token of a text, and note its use; None if it is not a valid token.

        Raises `TokenExpiredError`, which only the holder of the secret sees, `WorkError`.
        """
        parts = text.split("_", _TOKEN_PARTS - 1)
        is_ours = len(parts) == _TOKEN_PARTS and parts[0] == PREFIX
        kept = self._rows.read().get(parts[1]) if is_ours else None
        digest = _digest(parts[-1])
        fits = compare_digest(digest, kept.digest if kept else _digest(""))
        if kept is None or not fits:
            return None
        if kept.token.expires is not None and kept.token.expires <= as_text(self._clock()):
            raise TokenExpiredError(kept.token)
        self._note_use(kept.number)
        return kept.token

    @property
    def _uses_path(self) -> Path:
        return self.path.with_name("token-uses.json")

    def _note_use(self, number: str) -> None:
        """Write that a token is used now, unless that was written a short while ago; an error is logged."""
        now = self._clock()
        if now - self._used.get(number, -math.inf) < USE_INTERVAL:
            return
        self._used[number] = now
        try:
            with exclusive_lock(self._rows.lock_path):
                known = self._read_uses()
                uses = {one: known[one] for one in self._rows.read() if one in known} | {number: as_text(now)}
                replace_file(self._uses_path, json.dumps(uses).encode())
        except OSError as error:
            logger.warning("%s cannot be written: %s", self._uses_path, cause_and_remedy(error))

    def _read_uses(self) -> dict[str, str]:
        """Return the times of the last uses by number; a file that cannot be read has none."""
        try:
            found = json.loads(self._uses_path.read_bytes())
        except (OSError, ValueError):
            return {}
        return {str(number): str(at) for number, at in found.items()} if isinstance(found, dict) else {}


def is_token_name(name: str) -> bool:
    """Return whether a text can name a token: a word or some words."""
    return bool(name.strip()) and name.isprintable() and len(name) <= LONGEST_NAME


def expiry(text: str, now: float) -> float:
    """Return the time, in seconds since the epoch, of `90d`, `12h`, `2w` or a date (UTC). Raises `RefusedError`."""
    if span := re.fullmatch(r"([1-9]\d{0,4})([hdw])", text):
        return now + int(span[1]) * _SPANS[span[2]]
    moment = parse_w3c_date(text) if re.match(r"\d{4}-\d\d-\d\d", text) else None
    if moment is None:
        raise RefusedError(Refusal.EXPIRY, f"{text!r} is neither a time span as 90d nor a date as 2027-01-31")
    if moment.timestamp() <= now:
        raise RefusedError(Refusal.EXPIRED, f"{text!r} is not in the future")
    return moment.timestamp()


def _made(token: Token) -> tuple[_Kept, str]:
    """Return a token with a new secret as it is stored, and its text."""
    number, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    return _Kept(token, number, _digest(secret)), f"{PREFIX}_{number}_{secret}"


def _kept(row: dict[str, Any]) -> tuple[str, _Kept]:
    who, where = row["principals"], row.get("sources")
    principals = None if who is None else tuple(map(str, who))
    expires = row.get("expires")
    token = Token(
        str(row["name"]),
        None if row["role"] is None else Role(row["role"]),
        str(row["created"]),
        principals,
        None if expires is None else str(expires),
        tuple(map(str, row.get("sites", ()))),
        None if where is None else tuple(map(str, where)),
    )
    return row["number"], _Kept(token, row["number"], row["sha256"], str(row.get("text", "")))


def _row(one: _Kept) -> dict[str, Any]:
    text = {"text": one.text} if one.text else {}
    return {**one.token.as_json(), "number": one.number, "sha256": one.digest, **text}


def _digest(secret: str) -> str:
    """Return the hash of a secret; with 256 random bits it needs no slow password hash."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
