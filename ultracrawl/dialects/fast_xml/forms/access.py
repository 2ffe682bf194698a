"""Converts access options: headers, proxies, passwords, accounts, certificates, logins."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ultracrawl.dialects.fast_xml.collection import Scope
from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.dialects.fast_xml.options import LOGIN, Value
from ultracrawl.dialects.fast_xml.values import Setting
from ultracrawl.sources import Data, OptionPath, Place
from ultracrawl.sources.mistakes import format_value

_TOKEN = re.compile(r"[^/\s(]+")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9 ._-]+")
_PROXY = re.compile(r"(?:(?P<scheme>\w+)://)?(?:(?P<user>[^:@]*):(?P<password>.*)@)?(?P<host>[^@]+)")
SCHEMES = {"basic": "basic", "digest": "digest", "ntlmv1": "ntlmv1", "ntlmv2": "ntlm", "auto": "auto"}
"""Schemes at the end of a credential, and their names in a definition."""
PROXIES: OptionPath = ("proxy", "servers")
_PROXY_SCHEMES = frozenset({"http", "https"})
_PORT = re.compile(r"(?<=[^:]):\d+\Z", re.ASCII)
_CERTIFICATE: OptionPath = ("client_certificates", "main", "certificate")
_KEY: OptionPath = ("client_certificates", "main", "key")
_NO_LIMIT = 2_147_483_647
"""The default of `proxy_max_pending`, which means no limit."""


def headers(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Convert header lines; the first word of User-Agent is also the robot name for robots.txt."""
    assert isinstance(setting.value, tuple)
    for text, line in zip(setting.value, setting.lines, strict=True):
        name, colon, value = (part.strip() for part in text.partition(":"))
        if not colon or not name:
            problem = f"{format_value(text)} is not a header line and is dropped"
            notices.add(Code.MEMBER, setting.member_place(line), problem, "write it as `Name: value`")
        elif name.lower() != "user-agent":
            draft.put_option(("headers", name), value, setting, line)
        elif value:
            draft.put_option(path, value, setting, line)
            if found := _TOKEN.match(value):
                draft.put_option(("robots", "name"), found[0], setting, line)


def http_version(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Convert a boolean to the version of HTTP."""
    draft.put_option(path, "1.1" if setting.value else "1.0", setting)


def proxies(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Parse `[http://][user:password@]host[:port]`; proxies are named by number."""
    assert isinstance(setting.value, tuple)
    for number, text in enumerate(setting.value, 1):
        line = setting.lines[number - 1]
        place = setting.member_place(line)
        found = _PROXY.fullmatch(text)
        if found is None:
            notices.add(Code.MEMBER, place, "the address of a proxy is invalid", "write `host:port`")
            continue
        if (found["scheme"] or "http").lower() not in _PROXY_SCHEMES:
            # Dropping it could let requests out directly that are meant to go through it.
            problem = f"`{found['scheme']}` proxies are not supported, only HTTP proxies"
            notices.add(Code.VALUE, place, problem, "write `http://host:port`")
            continue
        server: dict[str, Data] = {"url": f"{found['scheme'] or 'http'}://{found['host']}"}
        if found["user"]:
            server |= {"user": unquote(found["user"]), "password": found["password"]}
        draft.put_option((*path, f"proxy {number}"), server, setting, line)
    if setting.value and not notices.fatal:
        check_proxies(draft, setting.place, notices)


def check_proxies(draft: Draft, place: Place, notices: Notices) -> None:
    """Report an error if none of a collection's proxies is usable."""
    if not draft.below(PROXIES):
        problem = "no proxy of the list can be used, and requests would go out without one"
        instead = "correct the list, or remove it"
        notices.add(Code.VALUE, place, problem, instead)


def connections(setting: Setting, path: OptionPath, draft: Draft, _notices: Notices) -> None:
    """Limit the connections to each proxy."""
    if setting.value != _NO_LIMIT:
        for server in draft.below(path):
            assert isinstance(server, dict)
            assert isinstance(setting.value, int)
            server["connections"] = setting.value


def credentials(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Parse `user:password` or `user:password:realm:scheme`, for a URI prefix or for a realm."""
    user, _, rest = str(setting.value).partition(":")
    password, realm, scheme = rest, "", "basic"
    parts = rest.rsplit(":", 2)
    if len(parts) == 3 and parts[2].lower() in SCHEMES:
        password, realm, scheme = parts[0], parts[1], SCHEMES[parts[2].lower()]
    if not user or not password:
        problem = "is not a user with a password"
        notices.add(Code.VALUE, setting.place, problem, "write `user:password`")
        return
    entry: dict[str, Data] = {"user": user, "password": password, "scheme": scheme}
    if "://" in setting.name:
        entry |= {"url": setting.name, "realm": realm}
    else:
        entry["realm"] = setting.name
    draft.put_option((*path, f"passwd {len(draft.below(path)) + 1}"), entry, setting)


def accounts(setting: Setting, path: OptionPath, draft: Draft, notices: Notices) -> None:
    """Parse `user:password` of an FTP server."""
    user, colon, password = str(setting.value).partition(":")
    if not user or not colon or not password:
        problem = "is not a user with a password"
        notices.add(Code.VALUE, setting.place, problem, "write `user:password`")
        return
    entry: dict[str, Data] = {"host": setting.name, "user": user, "password": password}
    draft.put_option((*path, f"account {len(draft.below(path)) + 1}"), entry, setting)


def check_certificate(collection: Scope, draft: Draft, notices: Notices) -> None:
    """Report a client certificate without key, a key without certificate, and unreadable files."""
    given = [one for name in ("cert_file", "key_file") if (one := collection.settings.get(("", name)))]
    if len(given) == 1:
        draft.forget(_CERTIFICATE)
        draft.forget(_KEY)
        problem = "`cert_file` and `key_file` go together"
        notices.add(Code.VALUE, given[0].place, problem, "name both files")
    for setting in given:
        try:
            (Path(notices.file).parent / str(setting.value)).open("rb").close()
        except OSError as error:
            problem = f"{format_value(setting.value)} cannot be read: {error.strerror}"
            notices.add(Code.VALUE, setting.place, problem, "name a PEM file")


# ---- logins


def put_logins(collection: Scope, draft: Draft, notices: Notices) -> None:
    """Add the logins of a collection to its draft."""
    for name, login in collection.logins.items():
        entry = _login(login, notices)
        for option, key in (("timeout", "login_timeout"), ("required", "login_failed_ignore")):
            setting = collection.settings.get(("", key))
            if setting is not None:
                entry[option] = not setting.value if option == "required" else _data(setting.value)
        label = _NOT_IN_NAMES.sub("-", name).strip(" ._-") or "login"
        draft.put_from(("logins", label), entry, login.place._replace(key=f"{collection.name}/{name}"))


def _login(login: Scope, notices: Notices) -> dict[str, Data]:
    values: dict[str, Value] = {
        name: setting.value for (section, name), setting in login.settings.items() if section == LOGIN
    }
    fields: dict[str, Data] = {
        name: str(setting.value) for (section, name), setting in login.settings.items() if section != LOGIN
    }
    autofill = bool(values.get("autofill"))
    if autofill and not values.get("html_form"):
        problem = "`autofill` needs `html_form`"
        notices.add(Code.VALUE, login.place, problem, "name the page with the form")
    entry: dict[str, Data] = {"fields": fields, "autofill": autofill}
    if action := _address(values, login, notices):
        entry["action"] = action
    if "action" in values or not autofill:
        entry["method"] = str(values.get("action", "POST"))
    if ttl := values.get("ttl"):
        entry["ttl"] = f"{ttl} s"
    for name, option in (
        ("preload", "preload"),
        ("html_form", "page"),
        ("relogin_if_failed", "relogin_if_failed"),
    ):
        if name in values:
            entry[option] = _data(values[name])
    named = values.get("sites") or (values.get("site", ""),)
    if isinstance(named, tuple) and any(named):
        entry["sites"] = [_host(str(site)) for site in named]
    return entry


def _address(values: dict[str, Value], login: Scope, notices: Notices) -> str:
    """Return the action URL of the form: scheme, host and path; empty if the page with the form determines it."""
    site, form = str(values.get("site", "")), str(values.get("form", ""))
    try:
        page = urlsplit(str(values.get("html_form", "")) if values.get("autofill") else "")
    except ValueError:  # reported where the definition is validated
        page = urlsplit("")
    if form and not site and page.netloc:
        return f"{values.get('scheme', page.scheme)}://{page.netloc}/{form.removeprefix('/')}"
    if (not site and not form) or (not form and page.netloc):
        return ""
    if not site or not form:
        lacking = "form" if site else "site"
        problem = f"the login has no `{lacking}`"
        instead = "write `site` and `form`, or `html_form` with `autofill`"
        notices.add(Code.VALUE, login.place, problem, instead)
    return f"{values.get('scheme', 'http')}://{site}/{form.removeprefix('/')}"


def _host(site: str) -> str:
    """Return a host without its port: logins are per host."""
    return _PORT.sub("", site)


def _data(value: Value) -> Data:
    return list(value) if isinstance(value, tuple) else value
