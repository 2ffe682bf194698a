"""Option types with their short forms: sizes, depths, lists, URLs, networks, media types, plug-in names."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from functools import partial
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from ultracrawl.content.converters.registry import GROUPS
from ultracrawl.content.languages import CODES, is_language
from ultracrawl.rules.access.readers import NOBODY
from ultracrawl.rules.urls.canonical import UrlPolicy
from ultracrawl.sources.mistakes import (
    closest_match,
    format_names,
    format_value,
    mistake,
    must_match,
    suggestion,
)
from ultracrawl.system.plugins import REWRITERS, PluginError, PluginGroup

AttributeName = Annotated[str, Field(pattern=r"^[^\W\d]\w*$", max_length=100)]
"""The name of a search attribute."""
NODE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
NodeName = Annotated[str, Field(pattern=rf"{NODE_NAME}|^$")]
"""The name of a machine that runs `ultracrawl node run`; empty for none."""

_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)\s*(?:([kmg])(?:i?b)?|b)?", re.IGNORECASE)
_SHIFTS = {"k": 10, "m": 20, "g": 30}
_DIGITS = re.compile(r"[0-9]{1,9}")
_MEDIA_TYPE = re.compile(r"\*/\*|[a-z0-9][a-z0-9!#$&^_.+-]*/(\*|[a-z0-9][a-z0-9!#$&^_.+-]*)")
_EXTENSION = re.compile(r"\.[^\s./\\?#,]+(\.[^\s./\\?#,]+)*")
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_HEADER_TEXT = re.compile(r"[\x20-\x7e]+")


HOST = re.compile(r"[^\s/*:,#]+|\[[0-9a-f:.]+\]")


def _check_host_name(value: str) -> str:
    host = value.strip().lower()
    if not HOST.fullmatch(host):
        raise mistake(
            f"{format_value(value)} is not a host name", "write the host alone, as `www.example.com`"
        )
    return host


HostName = Annotated[str, AfterValidator(_check_host_name)]


def as_list(value: object, *, types: type | tuple[type, ...] = str) -> object:
    """Return a single value of some types as a list of one, for options that accept both."""
    return [value] if isinstance(value, types) and not isinstance(value, bool) else value


def one_or_list(kind: Any, *, types: type | tuple[type, ...] = str) -> BeforeValidator:
    """Return a validator that accepts a single value of `types` for a list of one; `kind` is its type in the schema."""
    return BeforeValidator(partial(as_list, types=types), json_schema_input_type=kind | list[kind])


def lower_keys(value: object) -> object:
    """Return a group with lower-case keys, for case-insensitive names."""
    return {str(name).lower(): member for name, member in value.items()} if isinstance(value, dict) else value


def parse_size(value: object) -> int:
    """Return the bytes of a whole number, or of a text such as `20 MB` (1 KB is 1024 bytes)."""
    if isinstance(value, int) and not isinstance(value, bool):
        size = value
    else:
        found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
        if found is None:
            raise mistake(
                f"{format_value(value)} is not a size",
                "write bytes or a number with KB, MB or GB, as `20 MB`",
            )
        size = int(float(found[1]) * (1 << _SHIFTS.get((found[2] or "").lower(), 0)))
    if size < 1:
        raise mistake(
            f"the size {format_value(value)} is less than one byte", "write a larger size, as `20 MB`"
        )
    return size


def _parse_depth(value: object) -> object:
    if isinstance(value, str) and value.strip().upper() == "FULL":
        return None
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        return int(value)
    if value is None or (type(value) is int and value >= 0):
        return value
    problem = (
        f"the depth {value} is less than 0" if type(value) is int else f"{format_value(value)} is not a depth"
    )
    raise mistake(problem, "write a whole number from 0 on, or `FULL` for no limit")


def _split_urls(value: object) -> object:
    """Split one text with several URLs (Ultra Search 2.1: separated by blank, tab, newline or comma)."""
    return (
        re.split(r"[\s,]+", value.strip(" \t\r\n,"))
        if isinstance(value, str) and value.strip()
        else _one(value)
    )


def _one(value: object) -> object:
    """Accept a single text where a list of texts is expected."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    return value


def _types(value: object) -> object:
    """Replace names of media-type groups (`documents`) by their media types."""
    listed = _one(value)
    if not isinstance(listed, (list, tuple)):
        return listed
    return tuple(dict.fromkeys(name for member in listed for name in _group(member)))


def _group(value: object) -> Iterable[object]:
    return GROUPS.get(value.strip().lower(), (value,)) if isinstance(value, str) else (value,)


def _parse_network(value: object) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(str(value).strip(), strict=False)
    except ValueError:
        raise mistake(
            f"{format_value(value)} is not a network", "write an address with its length, as `10.1.0.0/16`"
        ) from None
    if str(value).strip() not in {str(network), str(network.network_address), network.exploded}:
        raise mistake(f"{format_value(value)} has bits set behind its length", f"write `{network}`")
    return network


def _check_media_type(value: str) -> str:
    lowered = value.strip().lower()
    if not _MEDIA_TYPE.fullmatch(lowered):
        instead = f"write type and subtype, as `text/html`, `text/*` or `*/*`, or one of {', '.join(GROUPS)}"
        raise mistake(f"{format_value(value)} is not a media type", instead)
    return lowered


def _check_extension(value: str) -> str:
    name = value.strip().lower()
    dotted = name if name.startswith(".") else f".{name}"
    if not _EXTENSION.fullmatch(dotted):
        raise mistake(
            f"{format_value(value)} is not a file-name extension", "write it with its dot, as `.zip`"
        )
    return dotted


def check_path(value: object) -> object:
    """Refuse an empty text, which would be the folder of the definition."""
    if isinstance(value, str) and not value.strip():
        raise mistake("the path is empty", "write a path, or leave the option out")
    return value


def _check_charset(value: str) -> str:
    try:
        codecs.lookup(value)
    except (LookupError, ValueError):
        raise mistake(
            f"the character set {format_value(value)} is not known", "write its name, as `iso-8859-1`"
        ) from None
    return value


def _check_language(value: str) -> str:
    if _LANGUAGE_TAG.fullmatch(value) and is_language(value):
        return value
    name = closest_match(value, CODES, likeness=0.85)  # `Deutsch` is not Dutch
    otherwise = "write a code as in `lang` of HTML: `en`, `pt-BR`"
    raise mistake(
        f"{format_value(value)} is not a language code", f"write `{CODES[name]}`" if name else otherwise
    )


def _check_header_text(value: str) -> str:
    if not _HEADER_TEXT.fullmatch(value) or not value.strip():
        raise mistake(
            f"{format_value(value)} cannot be sent in a header", "write one line of plain ASCII text"
        )
    return value.strip()


def _or_word(word: str) -> WrapValidator:
    """Return the validator of a boolean that may also be a word; whatever else is written is one mistake."""

    def check(value: object, handler: ValidatorFunctionWrapHandler) -> object:
        try:
            return handler(value)
        except ValidationError:
            problem = f"{format_value(value)} is not a known value"
            raise mistake(problem, f"write `true`, `{word}` or `false`") from None

    return WrapValidator(check)


class PluginName:
    """Pydantic annotation: a text that names a plug-in of a group; installed plug-ins are looked up on validation.

    With `or_path` it may also be the dotted path of an object.
    """

    def __init__(self, group: PluginGroup, *, or_path: bool = False) -> None:
        self._group = group
        self._or_path = or_path

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return a schema that checks the name."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a schema with the names of the installed plug-ins."""
        return handler(schema) if self._or_path else {**handler(schema), "enum": list(self._group.names)}

    def _check(self, name: str) -> str:
        if self._or_path and "." in name:
            return name
        known = list(self._group.names)
        if name not in known:
            words = [*([format_names(known)] if known else []), *(["a dotted path"] if self._or_path else [])]
            otherwise = f"write {' or '.join(words)}, or install the package that brings it"
            raise mistake(
                f"there is no {self._group.label} {format_value(name)}", suggestion(name, known, otherwise)
            )
        try:
            self._group.find(name)
        except PluginError as error:
            raise mistake(error.problem, error.instead) from None
        return name


Size = Annotated[int, BeforeValidator(parse_size, json_schema_input_type=int | str)]
"""Bytes; `20 MB` is accepted."""
Depth = Annotated[
    int | None,
    BeforeValidator(_parse_depth),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 0}, {"enum": ["FULL", None]}]}),
]
"""Link steps from a start URL; None (written `FULL`) means no limit."""
Seconds = Annotated[float, Field(ge=0, le=86_400 * 366, allow_inf_nan=False)]
DottedPath = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")]
RewriterName = Annotated[
    str,
    Field(pattern=r"^([A-Za-z_][\w-]*|[A-Za-z_]\w*(\.[A-Za-z_]\w*)+)$"),
    PluginName(REWRITERS, or_path=True),
]
FileNames = Annotated[tuple[str, ...], BeforeValidator(as_list)]
UrlList = Annotated[tuple[str, ...], BeforeValidator(_split_urls, json_schema_input_type=str | list[str])]

_SITES = UrlPolicy(schemes=frozenset({"http", "https", "ftp"}))


def is_site(url: str) -> bool:
    """Return whether a URL is absolute and without user and password."""
    return _SITES.canonical(url) is not None and "@" not in url.partition("://")[2].partition("/")[0]


def _check_sites(urls: tuple[str, ...]) -> tuple[str, ...]:
    wrong = next((url for url in urls if not is_site(url)), None)
    if wrong is not None:
        host = wrong.rpartition("@")[2]
        raise mistake(
            f"{format_value(host)} is not the URL of a site",
            "write it in full, as `https://www.example.com/`",
        )
    return urls


SiteList = Annotated[UrlList, AfterValidator(_check_sites)]
Network = Annotated[
    IPv4Network | IPv6Network,
    PlainValidator(_parse_network),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "examples": ["10.1.0.0/16", "fd00::/8"]}),
]
MediaType = Annotated[str, AfterValidator(_check_media_type)]
MediaTypes = Annotated[tuple[MediaType, ...], BeforeValidator(_types, json_schema_input_type=str | list[str])]
GroupNames = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[^\s,][^,]*$", max_length=100)], ...],
    BeforeValidator(_one, json_schema_input_type=str | list[str]),
]
PrincipalNames = Annotated[
    tuple[Annotated[str, Field(pattern=r"^\S(.*\S)?$", max_length=1000)], ...],
    BeforeValidator(as_list, json_schema_input_type=str | list[str]),
]
"""Users and groups, compared exactly; names may contain commas, as in LDAP directories."""
REQUIRED = "required"
"""What `acl` says for documents that nobody may see unless something names their readers."""
EVERYBODY = "everybody"
"""What `acl` says for documents that every user may see, though a log-in is needed to read them."""
Readers = Annotated[
    tuple[Annotated[str, Field(pattern=rf"^(\S(.*\S)?|{NOBODY})$", max_length=1000)], ...],
    BeforeValidator(
        lambda value: (NOBODY,) if value == REQUIRED else () if value == EVERYBODY else as_list(value),
        json_schema_input_type=str | list[str],
    ),
    PlainSerializer(lambda readers: REQUIRED if readers == (NOBODY,) else list(readers)),
]
"""Users and groups that may see documents, or `required`, or `everybody`."""
ReaderPath = Annotated[
    str,
    must_match(
        r"(/|\*|https?://[^/\s]+/)\S*",
        "is not the beginning of a path or a URL",
        "write it as `/staff/`, `*.pdf` or `https://www.example.com/staff/`",
    ),
]
Region = Annotated[
    str,
    must_match(
        r"(?!\d+$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?",
        "is not the name of a region",
        "write it as `eu-central-1`",
    ),
]
"""A region of Amazon, or of a server with its interface: a part of the name of a server."""
FilePath = Annotated[Path, BeforeValidator(check_path, json_schema_input_type=Path)]
"""A path as it is written."""
Extension = Annotated[str, AfterValidator(_check_extension)]
Charset = Annotated[str, AfterValidator(_check_charset)]
Language = Annotated[str, AfterValidator(_check_language)]
"""The tag of a language, as in `lang` of HTML."""
Publicity = Annotated[
    bool | Literal["confirmed"],
    _or_word("confirmed"),
    WithJsonSchema({"enum": [False, True, "confirmed"]}),
]
AutoUse = Annotated[bool | Literal["auto"], _or_word("auto"), WithJsonSchema({"enum": [False, True, "auto"]})]
HeaderText = Annotated[str, AfterValidator(_check_header_text)]
