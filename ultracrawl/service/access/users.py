"""Users of the service with their roles, principals and passwords, in a file that only its owner can read."""

from __future__ import annotations

import re
import secrets
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ultracrawl.dataclass import asdict, dataclass, field, replace
from ultracrawl.errors import UserError
from ultracrawl.model.dates import as_text
from ultracrawl.service.access.passwords import check_password, hash_password
from ultracrawl.service.access.refusals import Refusal, RefusedError
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.row_file import RowFile
from ultracrawl.sources import Project

_NAME = re.compile(r"\w[\w.@+-]{0,63}")


@dataclass(frozen=True, slots=True)
class User:
    """A user who can log in."""

    name: str
    role: Role | None
    """None: may only search."""
    created: str
    principals: tuple[str, ...] | None = ()
    """Users and groups whose documents are shown, beside public ones; None: all documents."""
    password_changed: str = ""
    number: str = field(default="", repr=False)
    """Drawn anew with each password and with other rights: a session with another number has ended."""
    password: str = field(default="", repr=False)
    """The hash of the password."""
    sources: tuple[str, ...] | None = None
    """The only sources in which searches find something; None: all."""

    @property
    def requester(self) -> Requester:
        """Who sends a request in a session of this user."""
        return Requester(f"user:{self.name}", RequesterKind.USER, self.role, self.principals, self.sources)

    def as_json(self) -> dict[str, Any]:
        """Return what `ultracrawl user list --json` shows."""
        return {name: value for name, value in _row(self).items() if name not in ("number", "password")}


class UserStore:
    """The users of a project; changes by other processes take effect at once."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._rows = RowFile(path, "users", _user, _row, "make the users anew by `ultracrawl user add`")
        self._clock = clock

    @classmethod
    def of_project(cls, project: Project) -> UserStore:
        """Return the users of a project, in its state folder."""
        return cls(project.state.path / "service" / "users.json")

    def add_user(
        self,
        name: str,
        role: Role | None,
        password: str,
        principals: Sequence[str] | None = (),
        sources: Sequence[str] | None = None,
    ) -> User:
        """Add a user. Raises `UserError` for a used or invalid name and for a weak password, `WorkError`."""
        self.check_new(name)
        name = normal_name(name)
        check_password(name, password)
        user = User(name, role, as_text(self._clock()), _once(principals), sources=_once(sources))
        user = self._with_password(user, password)
        with self._rows.changing() as users:
            self.check_new(name)
            users[name] = user
        return user

    def check_new(self, name: str) -> None:
        """Raise `UserError` for a used or invalid name."""
        plain = normal_name(name)
        if not _NAME.fullmatch(plain):
            raise RefusedError(
                Refusal.NAME,
                f"{name!r} is no name of a user: write letters, digits and . _ @ + -, 64 at most, as `anna`",
            )
        if self.find_user(plain) is not None:
            raise RefusedError(
                Refusal.TAKEN,
                f"there is a user {plain!r} already; `ultracrawl user change {plain}` changes role and principals, "
                f"`ultracrawl user password {plain}` gives a new password",
            )

    def change_rights(self, name: str, *, keep_administrator: bool = False, **rights: Any) -> User:
        """Give a user another `role`, other `principals` or `sources`; the password stays, sessions end if one differs.

        Raises `UserError` for an unknown name, `RefusedError` where `keep_administrator` would be broken, `WorkError`.
        """
        with self._rows.changing() as users:
            user = self.known_user(name)
            changed = replace(user, **rights)
            if keep_administrator and changed.role is not Role.ADMINISTRATOR:
                _check_administrator_is_left(users, user)
            if changed != user:
                changed = replace(changed, number=secrets.token_hex(8))
            users[changed.name] = changed
        return changed

    def change_password(self, name: str, password: str) -> None:
        """Give a user a new password, which ends all sessions of the old one. Raises `UserError`, `WorkError`."""
        while self.replace_password(self.known_user(name), password) is None:
            pass  # somebody else was faster

    def replace_password(self, user: User, password: str) -> User | None:
        """Give a user a new password if it is still the one that `user` has; return the user, None if it is not.

        This ends all sessions of the old one. Raises `WeakPasswordError`, `WorkError`.
        """
        check_password(user.name, password)
        changed = self._with_password(user, password)
        with self._rows.changing() as users:
            present = users.get(user.name)
            if present is None or present.number != user.number:
                return None
            changed = replace(
                changed, role=present.role, principals=present.principals, sources=present.sources
            )
            users[user.name] = changed
        return changed

    def remove_user(self, name: str, *, keep_administrator: bool = False) -> None:
        """Remove a user, which ends all sessions; raises as `change_rights` does."""
        with self._rows.changing() as users:
            user = self.known_user(name)
            if keep_administrator:
                _check_administrator_is_left(users, user)
            del users[user.name]

    def all_users(self) -> list[User]:
        """Return all users by name. Raises `WorkError`."""
        return sorted(self._rows.read().values(), key=lambda user: user.name)

    def find_user(self, name: str) -> User | None:
        """Return a user. Raises `WorkError`."""
        return self._rows.read().get(normal_name(name))

    def renew_hash(self, user: User, password: str) -> None:
        """Hash an unchanged password with the parameters of today. Raises `WorkError`."""
        digest = hash_password(password)
        with self._rows.changing() as users:
            if users.get(user.name) == user:
                users[user.name] = replace(user, password=digest)

    def _with_password(self, user: User, password: str) -> User:
        return replace(
            user,
            password=hash_password(password),
            password_changed=as_text(self._clock()),
            number=secrets.token_hex(8),
        )

    def known_user(self, name: str) -> User:
        """Return a user. Raises `UserError` for an unknown name, `WorkError`."""
        user = self.find_user(name)
        if user is None:
            known = ", ".join(self._rows.read()) or "none"
            raise UserError(f"there is no user {name!r}; the users are: {known}")
        return user


def normal_name(name: str) -> str:
    """Return a name as it is stored: `Anna` and `anna` are the same user (RFC 8265, UsernameCaseMapped)."""
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _check_administrator_is_left(users: Mapping[str, User], user: User) -> None:
    """Raise `RefusedError` if a user is the only administrator; administrators of other systems do not count."""
    others = (one for one in users.values() if one.name != user.name)
    if user.role is Role.ADMINISTRATOR and all(one.role is not Role.ADMINISTRATOR for one in others):
        raise RefusedError(
            Refusal.LAST_ADMINISTRATOR, f"{user.name} is the last administrator; make another one first"
        )


def _once(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(dict.fromkeys(names))


def _user(row: dict[str, Any]) -> tuple[str, User]:
    who, where = row["principals"], row.get("sources")
    principals = None if who is None else tuple(map(str, who))
    return str(row["name"]), User(
        str(row["name"]),
        row["role"] and Role(row["role"]),
        str(row["created"]),
        principals,
        str(row["password_changed"]),
        str(row["number"]),
        str(row["password"]),
        None if where is None else tuple(map(str, where)),
    )


def _row(user: User) -> dict[str, Any]:
    return {**asdict(user), "role": user.role and user.role.value}
