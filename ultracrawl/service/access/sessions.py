"""Sessions of browsers that signed in, kept over restarts, and the one-time keys with which the first one signs in."""

from __future__ import annotations

import json
import logging
import secrets
import threading
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from ultracrawl.dataclass import asdict, dataclass, replace
from ultracrawl.sources import Project
from ultracrawl.sources.sections.sign_in import SessionLimits
from ultracrawl.system.files import cause_and_remedy, replace_file

logger = logging.getLogger(__name__)
FILE = "sessions.json"
ROTATION = 86_400.0
"""Seconds after which a session gets another identifier."""
KEY_LIFE = 600.0
"""Seconds for which a one-time key can be used."""
SAVE_INTERVAL = 60.0
"""Seconds between two writes that only say when sessions were last used."""
_GRACE = 60.0
"""Seconds for requests that were sent before the new identifier arrived."""
_MAX_SESSIONS = 10_000
_MAX_PER_USER = 50
_LONGEST_TOKEN = 4096
"""Characters of an ID token that is kept; it becomes a part of a URL."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a browser, under one of its identifiers."""

    user: str
    number: str
    """The number of the user when it began; another one now means that its password was changed. Empty: no user of
    the service, but whoever started it, by a one-time key."""
    csrf_token: str
    """What each form has to send; it stays the same under all identifiers."""
    began: float
    seen: float
    """When it was last used."""
    renewed: float
    """When it got this identifier."""
    predecessor: str = ""
    """The hash of its earlier identifier, until this one was used."""
    ends: float | None = None
    """When an earlier identifier ends."""
    issuer: str = ""
    """The provider of OpenID Connect that signed the user in; empty: the service itself did."""
    groups: tuple[str, ...] = ()
    """The groups that the provider named."""
    id_token: str = ""
    """With what the session at the provider is ended, too; empty: nothing is known, or it is too long to be kept."""
    address: str = ""
    """From where it began; empty for sessions of earlier versions."""

    @property
    def has_password(self) -> bool:
        """Whether it is that of a user of the service, who has a password here."""
        return bool(self.number) and not self.issuer

    @property
    def handle(self) -> str:
        """What names it on a page: the same under all identifiers, and good for nothing else."""
        return _digest(self.csrf_token)[:16]

    def is_over(self, now: float, limits: SessionLimits) -> bool:
        """Return whether it has ended by itself."""
        return now >= min(self.began + limits.expiry, self.seen + limits.idle_timeout, self.ends or now + 1)


class SessionStore:
    """The sessions of a service, which is the only process that writes them. Identifiers are stored hashed.

    An error in writing is logged: then the sessions end with the service.
    """

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float] = time.time,
        limits: Callable[[], SessionLimits] = SessionLimits.by_default,
    ) -> None:
        """`limits` returns those of the present definitions."""
        self._path = path
        self._clock = clock
        self._limits = limits
        self._lock = threading.Lock()
        self._saved = clock()
        self._keys: dict[str, tuple[float, str]] = {}
        self.secret, self._sessions = self._read()

    @classmethod
    def of_project(cls, project_now: Callable[[], Project]) -> SessionStore:
        """Return the sessions of a project, in its state folder; they end as its present definitions say."""
        path = project_now().state.path / "service" / FILE
        return cls(path, limits=lambda: project_now().sign_in.sessions)

    def begin(
        self,
        user: str,
        number: str,
        issuer: str = "",
        groups: tuple[str, ...] = (),
        id_token: str = "",
        address: str = "",
    ) -> tuple[str, Session]:
        """Begin a session, under an identifier that nobody has seen; returns both."""
        now = self._clock()
        token = secrets.token_urlsafe(32)
        kept = id_token if len(id_token) <= _LONGEST_TOKEN else ""
        session = Session(
            user, number, token, now, now, now, issuer=issuer, groups=groups, id_token=kept, address=address
        )
        with self._lock:
            identifier = self._add(session)
            self._save()
        return identifier, session

    def find(self, identifier: str) -> Session | None:
        """Return the session of an identifier, and note its use; None if it has ended."""
        digest, now = _digest(identifier), self._clock()
        with self._lock:
            session = self._sessions.get(digest)
            if session is None or session.is_over(now, self._limits()):
                return None
            if session.predecessor in self._sessions:
                earlier = self._sessions[session.predecessor]
                self._sessions[session.predecessor] = replace(earlier, ends=now + _GRACE)
            self._sessions[digest] = session = replace(session, seen=now, predecessor="")
            if now - self._saved >= SAVE_INTERVAL:
                self._save()
        return session

    def rotated(self, identifier: str) -> str | None:
        """Return a new identifier of a session if it is time for one; the earlier one ends when this one is used."""
        digest, now = _digest(identifier), self._clock()
        with self._lock:
            session = self._sessions.get(digest)
            if session is None or session.ends is not None or now - session.renewed < ROTATION:
                return None
            # An answer that never arrives costs nobody the session: a minute later there is another one.
            self._sessions[digest] = replace(session, renewed=now - ROTATION + _GRACE)
            renewed = self._add(replace(session, renewed=now, predecessor=digest))
            self._save()
        return renewed

    def end_session(self, identifier: str) -> None:
        """End a session under all its identifiers."""
        with self._lock:
            session = self._sessions.get(_digest(identifier))
            if session is not None:
                self._end({session.csrf_token})

    def end_others(self, session: Session, handle: str = "") -> None:
        """End the session with this handle if it is another one of the same user; without a handle all of them."""
        with self._lock:
            self._end(
                {
                    one.csrf_token
                    for one in self._sessions.values()
                    if (one.user, one.issuer) == (session.user, session.issuer)
                    and one.csrf_token != session.csrf_token
                    and handle in ("", one.handle)
                }
            )

    def _end(self, csrf_tokens: set[str]) -> None:
        """End sessions under all their identifiers."""
        self._sessions = {
            digest: one for digest, one in self._sessions.items() if one.csrf_token not in csrf_tokens
        }
        self._save()

    def open_sessions(self) -> list[Session]:
        """Return all sessions that have not ended, each once."""
        with self._lock:
            now = self._clock()
            limits = self._limits()
            found = [one for one in self._sessions.values() if not one.is_over(now, limits)]
        return list({one.csrf_token: one for one in sorted(found, key=lambda one: one.seen)}.values())

    def make_key(self, user: str) -> str:
        """Return a key that begins one session within `KEY_LIFE`, as `user` who started the service."""
        key = secrets.token_urlsafe(32)
        with self._lock:
            self._keys[_digest(key)] = (self._clock() + KEY_LIFE, user)
        return key

    def redeem_key(self, key: str) -> str | None:
        """Return the user of a one-time key, which is worth nothing from now on; None if it is not valid."""
        with self._lock:
            ends, user = self._keys.pop(_digest(key), (0.0, ""))
        return user if self._clock() < ends else None

    def _add(self, session: Session) -> str:
        """Store a session under a new identifier; too many sessions push out the least used ones."""
        identifier, now, limits = secrets.token_urlsafe(32), self._clock(), self._limits()
        kept = {digest: one for digest, one in self._sessions.items() if not one.is_over(now, limits)}
        for user, most in ((session.user, _MAX_PER_USER), (None, _MAX_SESSIONS)):
            found = [digest for digest, one in kept.items() if user in (None, one.user)]
            for digest in sorted(found, key=lambda one: kept[one].seen)[: max(0, len(found) + 1 - most)]:
                del kept[digest]
        self._sessions = {**kept, _digest(identifier): session}
        return identifier

    def _read(self) -> tuple[str, dict[str, Session]]:
        """Return the secret for signatures, and the sessions by the hashes of their identifiers."""
        try:
            found = json.loads(self._path.read_text("utf-8"))
            return str(found["secret"]), {
                str(digest): Session(**row) for digest, row in found["sessions"].items()
            }
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.warning("%s cannot be read, so that everybody has to log in again: %s", self._path, error)
        return secrets.token_urlsafe(32), {}

    def _save(self) -> None:
        self._saved = self._clock()
        rows: dict[str, Any] = {digest: asdict(session) for digest, session in self._sessions.items()}
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._path, json.dumps({"secret": self.secret, "sessions": rows}).encode())
            self._path.chmod(0o600)
        except OSError as error:
            logger.warning("%s cannot be written: %s", self._path, cause_and_remedy(error))


def _digest(identifier: str) -> str:
    """Return the hash of an identifier; with 256 random bits it needs no slow hash."""
    return sha256(identifier.encode("utf-8", "replace")).hexdigest()
