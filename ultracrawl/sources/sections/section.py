"""`Section`: the base class of option groups. `Editable`: options that the pages may change."""

from contextvars import ContextVar
from enum import Enum
from typing import Annotated, Any, ClassVar, Self, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    SerializationInfo,
    ValidationInfo,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_building_schema: ContextVar[bool] = ContextVar("_building_schema", default=False)
"""Whether pydantic is currently building the core schema of a group."""


T = TypeVar("T")


class OptionMark(Enum):
    """What a declaration says of an option, beside its type."""

    EDITABLE = "editable"


Editable = Annotated[T, OptionMark.EDITABLE]
"""The type of an option that users of the pages and of the API may change.

All other options are read-only there, a new one too. Options must not have this type if they name code, a path, a
connection, a network, a proxy or a secret: those who may change them could run programs and read files.
"""


class Section(BaseModel):
    """A frozen group of options; unknown options are errors, an empty group (`robots:`) has only defaults.

    The core schema of a group is built when a definition first uses it, not together with the enclosing group:
    most definitions use few groups, and building all schemas was a quarter of the time of a small command. Modules of
    groups have no `from __future__ import annotations`: pydantic would compile the text of each type at each start.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=False,
        validate_default=False,
        defer_build=True,
    )

    LIST_OPTION: ClassVar[str] = ""
    """The option that is meant if a text or a list is written in place of the group; empty if none is."""
    FETCH_OPTIONS: ClassVar[frozenset[str]] = frozenset()
    """Options that affect which pages are fetched and how, but not the documents made from them.

    A change of any other option remakes documents; so options not listed here are safe by default.
    """
    KEEPS_WRITTEN: ClassVar[bool] = False
    """Whether an option that is written counts even if it has its default value, also in groups below."""

    @classmethod
    def by_default(cls) -> Self:
        """Return the group with all defaults."""
        return cast(Self, cls.model_construct())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of the group; inside another group, one that defers building it."""
        if _building_schema.get():
            return _deferred_schema(cls)
        before = _building_schema.set(True)
        try:
            return handler(source)
        finally:
            _building_schema.reset(before)

    @classmethod
    def fetch_options(cls) -> frozenset[str]:
        """Return `FETCH_OPTIONS` of this group and its base classes."""
        return frozenset().union(*(vars(base).get("FETCH_OPTIONS", ()) for base in cls.__mro__))

    @model_validator(mode="before")
    @classmethod
    def _empty(cls, data: Any) -> Any:
        return {} if data is None else data


def _deferred_schema(group: type[Section]) -> CoreSchema:
    """Return a schema that builds the real schema of a group on first use."""

    def check(value: Any, info: ValidationInfo) -> Section:
        return group.model_validate(value, context=info.context)

    def dump(value: Section, info: SerializationInfo) -> dict[str, Any]:
        chosen: Any = {"include": info.include, "exclude": info.exclude, "by_alias": info.by_alias}
        return value.model_dump(mode=info.mode, **chosen)

    def described(_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        group.model_rebuild()
        return handler(group.__pydantic_core_schema__)

    return core_schema.with_info_plain_validator_function(
        check,
        ref=f"{group.__module__}.{group.__qualname__}:{id(group)}",
        serialization=core_schema.plain_serializer_function_ser_schema(dump, info_arg=True),
        metadata={"pydantic_js_functions": [described]},
    )
