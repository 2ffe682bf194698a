"""Checks of access options: secrets in clear text, weak schemes, sessions without a key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue, SecretStr

from ultracrawl.model.finding import FindingCode
from ultracrawl.rules.access.credentials import Scheme
from ultracrawl.sources.checking.written_values import written_values
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.reading.tree import OptionPath, PathFinding
from ultracrawl.sources.secrets import ADVICE, is_clear_text, unset_variable
from ultracrawl.sources.sections.fetching.request import SECRET_HEADERS
from ultracrawl.sources.sections.sign_in import SignInSection

PASSWORD_FIELD = re.compile(r"pass|secret|pw|pin|token", re.IGNORECASE)
"""Names of form fields that hold secrets."""
PASSWORD_IN_URL = re.compile(r"://[^/@:]*:[^/@]+@")
"""A password in a database URL."""
_PATHS: OptionPath = ("paths",)
"""The option with the folders of a source of files, of which remote ones need a log-in."""
_WHO_MAY_SEE = "write `acl: [NAME]` with those who may see it, or `acl: everybody` if that is meant"


def check_secrets(options: object) -> Iterator[PathFinding]:
    """Yield a warning for each secret of a source or project that is written in clear text."""
    for path, secret in written_values(options):
        if isinstance(secret, SecretStr) and _is_secret(path, secret) and is_clear_text(secret):
            problem = "the secret is written in clear text"
            yield PathFinding(path, problem, ADVICE, False, FindingCode.SECRET_IN_CLEAR)


def check_variables(options: object) -> Iterator[PathFinding]:
    """Yield a hint for each secret of a source or project whose environment variable is not set here."""
    for path, secret in written_values(options):
        if isinstance(secret, SecretStr) and (name := unset_variable(secret)):
            problem = f"the environment variable `{name}` is not set here"
            instead = f"set it where the source is crawled: `export {name}=...`"
            yield PathFinding(path, problem, instead, False, FindingCode.UNCOUNTED)


def check_sign_in(section: SignInSection) -> Iterator[PathFinding]:
    """Yield a hint for each option that has no effect because no other system signs users in."""
    if section.oidc.issuer is None and not section.proxy.networks:
        for name in ("ldap", "roles", "groups"):
            if name in section.model_fields_set:
                problem = f"`{name}` has no effect: no other system signs users in"
                yield PathFinding(("sign_in", name), problem, "add `oidc` or `proxy`, or remove it", False)
    for name, part, key in (
        ("oidc", section.oidc, "issuer"),
        ("proxy", section.proxy, "networks"),
        ("ldap", section.ldap, "url"),
    ):
        if part.model_fields_set and not getattr(part, key):
            problem = f"`{name}` has no effect without `{key}`"
            yield PathFinding(("sign_in", name), problem, f"add `{key}`, or remove it", False)


def check_user_names(section: SignInSection, sources: Iterable[DataSource]) -> Iterator[PathFinding]:
    """Yield a hint if users from outside find files by their names, and nobody has said that the names are the same."""
    signs_in = section.oidc.issuer is not None or bool(section.proxy.networks)
    is_said = "user_prefix" in section.model_fields_set
    if not signs_in or is_said or not (names := [one.name for one in sources if one.derives_readers]):
        return
    problem = f"who signs in as NAME finds the private files of the user NAME in {', '.join(names)}"
    instead = (
        "write `user_prefix: web:` if the names are not those of the same people, else `user_prefix: 'user:'`"
    )
    yield PathFinding(("sign_in", "user_prefix"), problem, instead, fatal=False)


def check_access(source: DataSource) -> Iterator[PathFinding]:
    """Yield log-ins beside `guard: names`, and warnings about secrets in clear text, NTLM version 1, and others."""
    yield from check_secrets(source)
    if source.boundary.guard == "names":
        used = source.login_options
        yield PathFinding(
            ("boundary", "guard"),
            f"download handlers of others would get `{used[0]}`, and only the names of hosts are checked"
            if used
            else "with download handlers of others, a name that changes its address is not noticed",
            "remove one of the two" if used else "remove it unless such a handler needs it",
            fatal=bool(used),
        )
    for path, entry in source.password_entries:
        if entry.scheme is Scheme.NTLM_V1:
            yield PathFinding(
                (*path, "scheme"),
                "NTLM version 1 reveals the password to anybody who can read the traffic",
                "write `ntlm` for version 2, unless the server knows no other",
                fatal=False,
            )
    if source.proxy.servers and "ftp" in source.boundary.schemes:
        yield PathFinding(
            ("proxy", "servers"),
            "FTP servers are asked directly, not through a proxy",
            "take `ftp` out of `boundary.schemes` if that must not be",
            fatal=False,
        )


def check_public(source: DataSource) -> Iterator[PathFinding]:
    """Yield a source that says `public: true` though it may read what the public cannot, and that has no `acl`."""
    if source.public is not True or source.acl:
        return
    ways = dict.fromkeys(path for path, is_used in _ways_beyond_public(source) if is_used)
    if ways:
        problem = f"the source is public, but {_named(ways)} may let it read pages that the public cannot"
        instead = "write `acl` with those who may see the documents, or `public: confirmed` if everybody may"
        yield PathFinding(("public",), problem, instead)


def log_ins_for_everybody(source: DataSource) -> tuple[OptionPath, ...]:
    """Return the options with log-ins behind which a source reads what it then shows to every user.

    None if the definition says who may see it, `acl: everybody` and `public: confirmed` too, or if the documents say
    it: rows with a column of readers, files with permissions, agents.
    """
    is_said = bool({"acl", "acl_paths"} & source.model_fields_set) or source.public == "confirmed"
    if is_said or source.type == "agent" or source.derives_readers or getattr(source, "acl_column", None):
        return ()
    return tuple(dict.fromkeys(path for path, is_used in _log_ins(source) if is_used))


def check_readers(source: DataSource) -> Iterator[PathFinding]:
    """Yield a hint if every user finds what a source reads behind a log-in."""
    if paths := log_ins_for_everybody(source):
        problem = f"what is read with {_named(paths)} is shown to every user"
        yield PathFinding(paths[0], problem, _WHO_MAY_SEE, fatal=False)


def exposure_note(source: DataSource) -> str:
    """Return the same in one sentence, for the report of the first run and the page of the source; else empty."""
    return "; ".join((found.problem, found.instead)) if (found := next(check_readers(source), None)) else ""


def _named(paths: Iterable[OptionPath]) -> str:
    return ", ".join(f"`{'.'.join(map(str, path))}`" for path in paths)


def _log_ins(source: DataSource) -> Iterator[tuple[OptionPath, bool]]:
    """Yield the options with log-ins, by names as far as they have some, and whether each is used."""
    for option in ("logins", "authentication", "client_certificates", "site_headers"):
        for name in getattr(source, option):
            yield (option, name), True
    for path, _ in source.password_entries:
        yield path[:-1], path[0] == "sites"
    for name in source.ftp.accounts:
        yield ("ftp", "accounts", name), True
    # Options of kinds other than `web`: passwords of databases, of mail accounts, and of servers with files.
    connection: SecretStr | None = getattr(source, "connection", None)
    in_url = connection is not None and PASSWORD_IN_URL.search(connection.get_secret_value()) is not None
    yield ("connection",), in_url
    for name in ("password", "token"):
        yield (name,), getattr(source, name, None) is not None
    yield _PATHS, source.type == "file" and bool(getattr(source, "remote", ()))


def _ways_beyond_public(source: DataSource) -> Iterator[tuple[OptionPath, bool]]:
    """Yield the options by which a source may read what the public cannot, and whether each is used."""
    for path, is_used in _log_ins(source):
        yield path, is_used and path != _PATHS
    yield ("cookies", "enabled"), source.cookies.enabled
    yield ("boundary", "networks"), bool(source.boundary.networks)
    yield ("boundary", "intranet_hosts"), source.boundary.intranet_hosts
    parameters: Mapping[str, JsonValue] = getattr(source, "parameters", {})
    secret = (not is_clear_text(SecretStr(value)) for value in parameters.values() if isinstance(value, str))
    yield ("parameters",), any(secret)


def check_kept_sessions(source: DataSource, *, has_key: bool) -> Iterator[PathFinding]:
    """Yield the logins with `keep_session` if the project has no key to encrypt sessions with."""
    for name, login in source.logins.items():
        if login.keep_session and not has_key:
            problem = "sessions are kept encrypted, and the project has no `key_file`"
            instead = (
                "make a key with `ultracrawl secret new-key FILE`, and write `key_file: FILE` at the top"
            )
            yield PathFinding(("logins", name, "keep_session"), problem, instead)


def _is_secret(path: OptionPath, secret: SecretStr) -> bool:
    """Return whether the option holds a real secret; headers, webhooks and form fields need not."""
    name = str(path[-1])
    if path[0] == "logins":
        return PASSWORD_FIELD.search(name) is not None
    if name == "webhook":
        return False
    if path[0] == "connection":
        return PASSWORD_IN_URL.search(secret.get_secret_value()) is not None
    return path[-2:-1] != ("headers",) or name.lower() in SECRET_HEADERS
