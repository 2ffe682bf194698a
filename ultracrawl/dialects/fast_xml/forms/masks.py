"""Masks the passwords of an export, and restores them when the export is loaded again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.forms.access import SCHEMES
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.options import LOGIN_FIELDS, SECRET_SECTIONS, Value
from ultracrawl.dialects.fast_xml.values import Setting

MASK = "****"


def masked(setting: Setting) -> Value:
    """Return the value of an option with its passwords masked."""
    value = setting.value
    match setting.spec.section, setting.spec.name:
        case "passwd", _:
            user, password, rest = _account(str(value))
            return f"{user}:{MASK}{rest}" if password else value
        case "ftp_acct", _:
            return f"{str(value).partition(':')[0]}:{MASK}"
        case section, _ if section == LOGIN_FIELDS:
            return MASK
        case "", "proxy" if isinstance(value, tuple):
            return tuple(map(_without_password, value))
    return value


def unmasked(new: Scope, old: Scope) -> Scope:
    """Return a collection, or a part of one, with masks replaced by the passwords of its former state."""
    return replace(
        new,
        settings={key: _restored(setting, old.settings.get(key)) for key, setting in new.settings.items()},
        logins=_parts(new.logins, old.logins),
        subs=_parts(new.subs, old.subs),
        nodes=_parts(new.nodes, old.nodes),
    )


def report_masked_passwords(collection: Scope, notices: Notices) -> None:
    """Add an error for each remaining mask, which must not be sent to servers as a password."""
    for scope in (collection, *collection.logins.values()):
        for setting in scope.settings.values():
            if _has_mask(setting):
                problem = "has a password that is masked, as `admin export` prints it"
                notices.add(Code.VALUE, setting.place, problem, "write the password itself")


def _parts(new: Mapping[str, Scope], old: Mapping[str, Scope]) -> dict[str, Scope]:
    return {name: unmasked(part, old[name]) if name in old else part for name, part in new.items()}


def _restored(setting: Setting, known: Setting | None) -> Setting:
    if known is None or not _has_mask(setting):
        return setting
    if setting.spec.section == "passwd":
        (user, _, rest), (former, password, _) = _account(str(setting.value)), _account(str(known.value))
        return replace(setting, value=f"{user}:{password}{rest}") if user == former else setting
    if isinstance(setting.value, tuple) and isinstance(known.value, tuple):
        hidden = {_without_password(member): member for member in known.value}
        return replace(setting, value=tuple(hidden.get(member, member) for member in setting.value))
    return replace(setting, value=known.value) if masked(known) == setting.value else setting


def _has_mask(setting: Setting) -> bool:
    value = setting.value
    if isinstance(value, tuple):
        hidden = (member for member in value if f":{MASK}@" in member)
        return setting.spec.name == "proxy" and any(_without_password(member) == member for member in hidden)
    return setting.spec.section in SECRET_SECTIONS and MASK in str(value) and masked(setting) == value


def _account(text: str) -> tuple[str, str, str]:
    """Return user, password, and the rest: `:realm:scheme`, or empty."""
    user, _, rest = text.partition(":")
    parts = rest.rsplit(":", 2)
    if len(parts) == 3 and parts[2].lower() in SCHEMES:
        return user, parts[0], f":{parts[1]}:{parts[2]}"
    return user, rest, ""


def _without_password(proxy: str) -> str:
    user, at, host = proxy.rpartition("@")
    scheme, mark, account = user.rpartition("://")
    return f"{scheme}{mark}{account.partition(':')[0]}:{MASK}{at}{host}" if at else proxy
