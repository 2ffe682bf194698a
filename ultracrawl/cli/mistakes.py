"""What is wrong with what somebody types: a code for each mistake, with the sentence that is printed.

The verbs write no such sentence themselves, so that all of them can be read and reworded side by side; tests compare
codes and values. Exceptions are the verbs for files of other crawlers (`dialects`). What is wrong in a
definition or a query is said where it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import click
from click.core import ParameterSource

from ultracrawl.errors import UserError, WorkError

_FILE = r"[^/]*\.(?:html?|php|aspx?|jsp|pdf|txt|xml)(?:[/?#]|$)"
_HOST = (
    rf"(?!{_FILE})(?:(?:[\w-]+\.)+[A-Za-z]{{2,}}(?:/\S*)?|(?P<http>[\w.-]+:\d+|localhost|\d[\d.]*)(?:/\S*)?)"
)
"""A host that is written without its scheme, perhaps with a path; a name such as `page.html` is none."""
_ALIKE = 0.65
"""Likeness of names from which on an option is a misspelt one; below, `--since` is like `--index`."""


class Mistake(Enum):
    """A mistake: what is wrong, and what to write instead, in one line; names in braces are values of the error."""

    # verbs and options
    NO_SUCH_VERB = "there is no verb {verb!r}; try `{instead}`"
    CONFIG_BEFORE_VERB = "-c belongs behind the verb; write `{instead}`"
    NO_SUCH_OPTION = "`{command}` has no option {option}; try {instead}"
    BAD_VALUE = "{option}: {problem}"
    MISSING = "`{command}` needs {what}; `{command} --help` has examples"
    MISSING_CHOICE = "`{command}` needs {what}; write one of {instead}"
    USAGE = "{problem}; {where} has examples"
    EXCLUDE_EACH_OTHER = "{options} exclude each other; write one of them"
    ALL_AND_SOME_PRINCIPALS = "--all-principals includes every --principal; write one of them"
    NO_RIGHTS_NAMED = (
        "nothing is to be changed; write --role, --principal, --all-principals, --no-principals, --source or "
        "--all-sources"
    )
    NOBODY_TO_ASK = "{question} Nobody can be asked here; write --yes"
    NOBODY_TO_ASK_FOR_PASSWORD = "nobody can be asked for a password here; write --password-stdin"

    # names
    NO_SUCH_NAME = "there is no {what} {name!r}; known are: {known}"
    NO_SCHEDULE = (
        "there is no schedule {name!r}, nor any other; write at the top of ultracrawl.yaml for example "
        "`schedules: {{nightly: {{sources: [NAME], cron: '0 3 * * *'}}}}`"
    )
    NO_SUCH_SOURCE = (
        "no source is named {name!r}, in the definitions, the state or the index; known are: {known}"
    )
    NO_SUCH_SITE = "{name!r} is neither a source nor a site that a crawl knows; the sources are: {known}"
    BAD_SOURCE_NAME = "{name!r} cannot be the name of a source; write letters, digits, `.`, `_` and `-`"
    SAME_NAME = "{name!r} is the name that it has; write another"
    BAD_PACKAGE_NAME = "{name!r} cannot name a Python package; write letters, digits and _, with --name"
    PACKAGE_EXISTS = "{name!r} is the name of an installed package; write another, with --name"
    BAD_NODE_NAME = "{name!r} cannot be the name of a node; write letters, digits, `.`, `_` and `-`"
    NO_TOKEN_NAME = "the name of a token is a word or some words; write for example `portal`"

    # URLs
    URL_AND_DEFINITION = "a URL needs neither names of sources nor --config; leave out one or the other"
    CONFIG_WITHOUT_SOURCE = "--config has the source that a probe is sent as; write --source, too"
    BAD_HOST = "--allow-host {name} is no name of a host; write for example www.example.com"
    SCOPE_WITHOUT_URL = (
        "--path, --exclude, --depth, --limit, --delay and --public belong to a URL; write in a definition for example "
        "`only: [/docs/]`, `exclude: [/archive/]`, `depth: 3`, `limits: {{documents: 100}}`, "
        "`politeness: {{delay: 0.1}}`, `public: true`"
    )
    VERB_AS_SOURCE = "{name!r} is no source, but a verb; write `{instead}`"
    NO_SCHEME = "{name!r} is no source; for a site write `{instead}`"
    FILES_AS_SITE = (
        "{name!r} is a folder or a file, and no URL; write in ultracrawl.yaml "
        "`sources: {{docs: {{type: file, paths: [{name}]}}}}`, and then `ultracrawl crawl docs`"
    )
    URL_WITHOUT_SCHEME = "{url!r} has no http:// or https://; write `{instead}`"
    NO_URL = "{url!r} is no URL; write for example https://docs.example.com/x"
    NO_WEB_SITE = "{url!r} is no web site; write a URL that begins with http:// or https://"
    NO_SITE = "{name!r} is no URL; write for example https://{name}/, or `{instead}` for a Scrapy project"
    NO_URL_OR_PATH = "{url!r} is no URL; write for example https://docs.example.com/x, or a path as /x"
    SOURCE_FOR_URL = "{name!r} is a source; name one of its URLs, as `{instead}`"
    URL_OF_NO_SOURCE = "no source knows {url}; `ultracrawl urls` lists what is known"
    BAD_ROOT_PATH = "--root-path {path} is no path; write for example /search"
    BAD_BOOST = "--boost {text!r} is not URL=FACTOR; write for example https://www.example.com/new/*=2"

    # sources and their runs
    NO_DEFINITION = "there is no definition file to check; name one, or write ultracrawl.yaml here"
    NOTHING_TO_CONVERT = "there is no definition file to convert; name one"
    NOTHING_TO_COPY = "there is no definition file; name what is copied with --from, or the file with -c"
    TWO_FILES = "name one file, as FILE or with -c"
    RUN_OF_SEVERAL = "each source counts its own runs; name one by --source"
    INTERRUPTED = "interrupted; `{again}` continues it"
    NEVER_CRAWLED = "the source {name!r} was never crawled; write first `ultracrawl crawl {name}`"
    EVERYTHING_MEANT = "{option} would mean everything; name URLs, or write --prefix or --regexp"
    NO_TABLE = "the source {name!r} is no table; name a source of the type `table`"
    NOTHING_STORED = "no documents are stored; write `storage: {{keep: true}}` in a source, and crawl it"
    NO_WARC = "an export needs a file to write; write `{instead}`"
    NO_CHANNEL = "no notice channel is defined; write one under `notices: {{to: ...}}` of the definition file"
    NO_QUERY = "{file} has no query; write one with --add QUERY URL"
    SOURCE_WITHOUT_DOCUMENTS = "--source is for documents; write --type documents, or leave it out"
    NO_DOCUMENT_FILE = "{number} sources take documents from a file; {instead}"
    TYPE_OF_ATTRIBUTE = "{file}: {name} is a {type}, not a {written}; correct the type"

    BAD_LANGUAGE = "--language {text} is no code of a language; write {instead}"

    # files
    NO_FILE = "there is no file {file}; name another"
    NO_ANSWERS_FILE = "there is no file {file}; make one by `ultracrawl check-answers {file} --add QUERY URL`"
    NO_BACKUP = (
        "{file} is damaged, or not a backup made by ultracrawl; name one that `ultracrawl backup` has made"
    )
    FILE_UNREADABLE = "{file} cannot be read: {problem}"
    FILE_MISTAKE = "{file}: {problem}"
    FILE_EXISTS = "{file} exists already; name another, or remove it"
    DEFINITION_EXISTS = "{file} exists already; name another with --output, or write --force to replace it"
    NO_NEW_FOLDER = "{folder} is not empty, or a file; name a new folder"
    KEY_EXISTS = "{file} is there already, and passwords encrypted with it need it; name another file"
    NO_KEY = "{file} cannot be read as a key file; `ultracrawl secret new-key {file}` makes one"

    # access
    EMPTY_PASSWORD = "the password is empty; write one"
    PASSWORDS_DIFFER = "the two passwords are not the same; type them again"
    PASSWORD_NOT_TEXT = "the password at the standard input is not text in UTF-8; write it so"
    KEY_WITHOUT_CERTIFICATE = "--key is the key of a certificate; write --certificate, too"
    CERTIFICATE_WITHOUT_KEY = "--certificate {file} has no key in it; write --key, too"
    CANNOT_LISTEN = "{problem}; write another with --port, or end what listens there"
    NOT_OUR_ADDRESS = "{problem}; write an address of this machine with --host"
    SERVER_UNREACHABLE = (
        "{problem}; check that `ultracrawl serve` runs there, and scheme, host and port of --server"
    )
    SERVER_UNTRUSTED = "{problem}; write its host, or name its authority: `export SSL_CERT_FILE=/path/ca.pem`"
    NO_SERVICE = (
        "--server {url} answers with status {status}, as `ultracrawl serve` does not; check its address"
    )
    BAD_SERVER = "--server {url} is no address of a service; write for example https://crawls.example.com"
    SERVER_WITHOUT_TLS = "--server {url} would get the token unencrypted; write https"
    TOKEN_NOT_TEXT = "the token is not one line of plain text; copy it again"
    NO_TOKEN = "--server needs a token; put it into ${variable}, or its file into ${file_variable}"
    NO_EFFECT_ON_SERVICE = "{option} has no effect on a service; leave it out, or --server"
    PUBLIC_WITH_RIGHTS = "a public key finds what everybody may see; leave out --role and --principal"
    PUBLIC_WITHOUT_SITE = "a public key needs the sites that use it; write for example --site {example}"
    SITE_WITHOUT_PUBLIC = "--site is for public keys; write --public, too"
    NO_ROLE = "a token needs a role; write --role reader, editor or administrator, or --public"
    BAD_EXPIRY = "--expires {text}: write days, hours or weeks, as 90d, 12h or 2w, or a date, as 2027-01-31"
    EXPIRED = "--expires {text} is not in the future; write a later time"

    def error(self, **values: object) -> CommandLineError:
        """Return the error to raise, with a value for each name in braces; several names become a list."""
        return CommandLineError(self, values)

    def failure(self, **values: object) -> CommandFailedError:
        """Return the error to raise if work failed for a reason outside of what was typed."""
        return CommandFailedError(self, values)


class CommandLineError(UserError):
    """A mistake in what was typed: `mistake` is its code, `values` are what its sentence names."""

    def __init__(self, mistake: Mistake, values: Mapping[str, object]) -> None:
        self.mistake = mistake
        self.values = values
        super().__init__(_sentence(mistake, values))


class CommandFailedError(WorkError):
    """A failure that what was typed may have caused: `mistake` and `values` are those of a `CommandLineError`."""

    def __init__(self, mistake: Mistake, values: Mapping[str, object]) -> None:
        self.mistake = mistake
        self.values = values
        super().__init__(_sentence(mistake, values))


def _sentence(mistake: Mistake, values: Mapping[str, object]) -> str:
    return mistake.value.format(**{name: _shown(value) for name, value in values.items()})


def with_scheme(text: str) -> str:
    """Return the URL that a host without its scheme means; empty for another text.

    A host with a port, or named by a number, has rather no TLS.
    """
    host = re.fullmatch(_HOST, text)  # compiled only after a mistake
    return f"{'http' if host['http'] else 'https'}://{text}" if host else ""


def is_path(text: str) -> bool:
    """Return whether a text is meant as a path of this machine: it begins as one, and no URL does."""
    return text.startswith(("/", "./", "../", "~"))


def _shown(value: object) -> object:
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    return ", ".join(map(str, value)) or "none"


def of_usage(error: click.UsageError) -> CommandLineError:
    """Return the mistake in options and arguments that click has found."""
    command = error.ctx.command_path if error.ctx else ""
    match error:
        case click.NoSuchOption(option_name=option, possibilities=close):
            instead = _meant(option, close or ()) or f"`{command} --help`"
            return Mistake.NO_SUCH_OPTION.error(command=command, option=option, instead=instead)
        case click.MissingParameter(param=click.Option(type=click.Choice(choices=choices)) as parameter):
            what = _name_of(parameter, error.ctx)
            return Mistake.MISSING_CHOICE.error(command=command, what=what, instead=[*map(str, choices)])
        case click.MissingParameter(param=click.Parameter() as parameter):
            return Mistake.MISSING.error(command=command, what=_name_of(parameter, error.ctx))
        case click.BadParameter(param=click.Parameter() as parameter):
            problem = _problem(parameter.type, _as_clause(error))
            return Mistake.BAD_VALUE.error(option=_name_of(parameter, error.ctx), problem=problem)
    where = f"`{command} --help`" if command else "--help behind the verb"
    return Mistake.USAGE.error(problem=_as_clause(error), where=where)


def _meant(option: str, known: Iterable[str]) -> str:
    """Return the known option that is meant by an unknown one; empty if none is much like it."""
    from difflib import SequenceMatcher  # noqa: PLC0415 - only after a mistake

    def likeness(name: str) -> float:
        return SequenceMatcher(None, option.lstrip("-"), name.lstrip("-")).ratio()

    best = max(known, key=likeness, default="")
    return best if best and likeness(best) >= _ALIKE else ""


def _name_of(parameter: click.Parameter, context: click.Context | None) -> str:
    """Return how a parameter was given: as an option, an argument or a variable of the environment."""
    name = parameter.name or ""
    if context and context.get_parameter_source(name) is ParameterSource.ENVIRONMENT:
        return f"${parameter.envvar}"
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(context) if context else name
    return max(parameter.opts, key=len)


def _problem(kind: click.ParamType[Any], problem: str) -> str:
    """Return what to write for a value of a type, where `problem` does not say it."""
    match kind:
        case click.Choice(choices=choices):
            return f"write one of {', '.join(map(str, choices))}"
        case click.Path():
            return f"{problem}; name another"
        case click.IntRange(min=least, max=most) | click.FloatRange(min=least, max=most):
            noun = "a whole number" if isinstance(kind, click.IntRange) else "a number"
            if most is not None:
                return f"write {noun} from {least} to {most}"
            return f"write {noun} above {least}" if kind.min_open else f"write {noun} from {least} on"
    return problem


def _as_clause(error: click.UsageError) -> str:
    """Return the message of click as the beginning of a sentence."""
    text = " ".join(error.message.split()).rstrip(".")
    return text[:1].lower() + text[1:]
