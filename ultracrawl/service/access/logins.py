"""Log-ins by name and password: checked a few at a time, and refused where somebody guesses.

What is counted hangs on the name as it was typed, whether there is such a user or not. Nobody can shut out a user from
elsewhere: an address that fails too often is refused alone, and a browser in which the user has logged in before is
counted for itself ("device cookies", OWASP).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from itsdangerous import BadData, URLSafeTimedSerializer

from ultracrawl.errors import WorkError
from ultracrawl.service.access import passwords
from ultracrawl.service.access.failed_logins import (
    FAILURE_WINDOW,
    MAX_FAILED_LOGINS,
    FailedLogins,
    RecentCounts,
    network_of,
)
from ultracrawl.service.access.users import User, UserStore, normal_name

T = TypeVar("T")
CHECKS = 2
"""Passwords that are checked at a time; each takes 64 MiB."""
DEVICE_LIFE = 180 * 86_400
"""Seconds for which a browser counts as one in which a user has logged in."""
_MAX_WAITING = 50
_MAX_OF_ADDRESS = 4
"""Checks of one address that run or wait."""
MANY_ADDRESSES = 30
"""Addresses that failed for a name within `_LONG`, above which unknown browsers get one check in `PAUSE` for it."""
_LONG = 3600.0
PAUSE = 10.0
_LONGEST_NAME = 256


class TooManyLoginsError(WorkError):
    """A log-in that was not checked; `retry_after` has the seconds after which another one may be."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(f"too many log-ins; try again in {math.ceil(retry_after)} s")
        self.retry_after = math.ceil(retry_after)


class LoginChecker:
    """Checks names and passwords."""

    def __init__(
        self,
        users: UserStore,
        failures: FailedLogins,
        secret: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`secret` signs what marks browsers; `failures` counts those of tokens too."""
        self._users = users
        self._failures = failures
        self._clock = clock
        self._places = CapacityLimiter(CHECKS)
        self._of_address: dict[str, int] = {}
        self._under_way = 0
        self._of_devices = RecentCounts(FAILURE_WINDOW, MAX_FAILED_LOGINS, clock)
        self._addresses_of_names = RecentCounts(_LONG, MANY_ADDRESSES, clock)
        self._passed = RecentCounts(PAUSE, 1, clock)
        self._signer = URLSafeTimedSerializer(secret, salt="device")

    async def check(self, name: str, password: str, address: str, device: str = "") -> User | None:
        """Return the user of a name and a password, None if they do not fit. Raises `TooManyLoginsError`, `WorkError`.

        `device` is what `device_of` returned when this browser logged in before.
        """
        name = normal_name(name[:_LONGEST_NAME])
        is_known = self._is_device_of(device, name)
        if is_known and self._of_devices.count_of(name) >= MAX_FAILED_LOGINS:
            raise TooManyLoginsError(FAILURE_WINDOW)
        if not is_known:
            self._check_limits(name, address)
        with self._place(network_of(address)):
            user = await to_thread.run_sync(self._verified, name, password, limiter=self._places)
        if user is None and is_known:
            self._of_devices.add(name)
        elif user is None:
            self._addresses_of_names.add(name, network_of(address))
        return user

    async def change_password(self, user: User, password: str) -> User | None:
        """Give a user whose old password was checked a new one; return the user, None if somebody else was faster.

        Raises `WeakPasswordError`, `WorkError`.
        """
        return await self.hashing(self._users.replace_password, user, password)

    async def hashing(self, act: Callable[..., T], *values: object) -> T:
        """Return what a function returns that hashes a password, when it has a place beside the checks."""
        return await to_thread.run_sync(partial(act, *values), limiter=self._places)

    def device_of(self, user: User) -> str:
        """Return a signed text that marks a browser as one in which a user has logged in."""
        return str(self._signer.dumps(user.name))

    def _is_device_of(self, device: str, name: str) -> bool:
        try:
            return bool(self._signer.loads(device, max_age=DEVICE_LIFE) == name)
        except BadData:
            return False

    def _check_limits(self, name: str, address: str) -> None:
        """Raise `TooManyLoginsError` for a browser in which this user has never logged in."""
        if self._failures.too_many(address):
            raise TooManyLoginsError(FAILURE_WINDOW)
        if self._addresses_of_names.count_of(name) >= MANY_ADDRESSES:
            if self._passed.count_of(name):
                raise TooManyLoginsError(PAUSE)
            self._passed.add(name)

    @contextmanager
    def _place(self, network: str) -> Iterator[None]:
        """Take one of the places of an address. Raises `TooManyLoginsError`."""
        taken = self._of_address.get(network, 0)
        if taken >= _MAX_OF_ADDRESS or self._under_way >= CHECKS + _MAX_WAITING:
            raise TooManyLoginsError(1)
        self._of_address[network] = taken + 1
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._of_address[network] -= 1
            if not self._of_address[network]:
                del self._of_address[network]

    def _verified(self, name: str, password: str) -> User | None:
        """Return the user of a password; takes as long if there is none."""
        user, nobody = self._users.find_user(name), passwords.hash_of_nobody()
        digest = user.password if user is not None else nobody
        if not passwords.fits(digest, password) or user is None:
            return None
        if passwords.is_outdated(digest):
            self._users.renew_hash(user, password)
        return user
