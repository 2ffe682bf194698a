"""The options of the kind `agent`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, JsonValue, ValidationInfo, model_validator

from ultracrawl.sources.reading.rule_files import RuleFiles
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import PluginName, Seconds, as_list
from ultracrawl.system.plugins import AGENTS

SCHEME = "agent"
"""URL scheme of the access URLs of delivered documents."""
AgentName = Annotated[
    str,
    Field(pattern=r"^([A-Za-z_][\w-]*|[A-Za-z_]\w*(\.[A-Za-z_]\w*)+)$"),
    PluginName(AGENTS, or_path=True),
]
Folders = Annotated[tuple[Path, ...], BeforeValidator(as_list, json_schema_input_type=str | list[str])]


class AgentSection(Section):
    """Options of a source of the type `agent`, beside the shared options."""

    FETCH_OPTIONS: ClassVar = frozenset({"spider_class", "parameters", "plugins", "call_timeout"})

    spider_class: AgentName = Field(alias="class", examples=["mypackage.MyAgent"])
    """The agent: the dotted path of a subclass of `ultracrawl.agents.CrawlerAgent`, or the name of an agent plug-in."""
    parameters: Mapping[str, JsonValue] = Field(
        default={}, repr=False, examples=[{"url": "https://cms.example.com/api"}]
    )
    """Values of the parameters that the agent declares. Secret ones may be `${NAME}`, `file:PATH` or encrypted."""
    plugins: Folders = Field(default=(), examples=["agents"])
    """Folders in which the class is searched for if it is not on the import path. Default: the folder of the
    definition file; none if the definition is not in a file.
    """
    call_timeout: Seconds = Field(default=300.0, gt=0, examples=[60])
    """Seconds after which a call of the agent that has not returned ends the run."""

    @model_validator(mode="before")
    @classmethod
    def _place_folders(cls, data: Any, info: ValidationInfo) -> Any:
        """Resolve the folders against that of the definition file; a definition without a file may not set any."""
        if not isinstance(data, dict):
            return data
        if not isinstance(info.context, RuleFiles):
            return {**data, "plugins": ()}  # only the owner of the files may decide which code is run
        folders = as_list(data.get("plugins", "."))
        if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
            return data
        return {**data, "plugins": [str((info.context.base / folder).absolute()) for folder in folders]}
