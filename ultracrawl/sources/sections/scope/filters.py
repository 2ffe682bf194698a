"""The `filters` section of a source: the portal robot's filters at work, in any source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, Size

FunctionName = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]*$")]
ModuleName = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]
DottedPath = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$")]


class FiltersSection(Section):
    """Two filters, made of robot application functions, decide what is enumerated and what is described."""

    file: Path | None = Field(
        default=None,
        description="A `filter.conf`; without one there are no filters.",
        examples=["config/filter.conf"],
    )
    enumeration: str = Field(
        default="enumeration-default",
        description="The filter of that file that finds URLs.",
        examples=["enumeration-default"],
    )
    generation: str = Field(
        default="generation-default",
        description="The filter of that file that makes descriptions.",
        examples=["generation-default"],
    )
    classification: Path | None = Field(
        default=None,
        description="A `classification.conf`, whose rules give categories.",
        examples=["config/classification.conf"],
    )
    max_classifications: int = Field(
        default=10, ge=1, description="Most categories of one description.", examples=[10]
    )
    instance: Path = Field(
        default=Path(),
        description="The folder that paths inside these files are taken from.",
        examples=["."],
    )
    functions: Mapping[FunctionName, DottedPath] = Field(
        default={},
        description="Functions of your own that directives may name, as dotted paths.",
        examples=[{"by-department": "mypackage.filters.by_department"}],
    )
    modules: tuple[ModuleName, ...] = Field(
        default=(),
        description="Python modules whose functions marked with `filter_function` directives may name.",
        examples=[["mypackage.filters"]],
    )
    addresses: bool = Field(
        default=False,
        description="Look up the address of each host: the source and field `IP`.",
        examples=[True],
    )
    fold_www: bool = Field(
        default=False,
        description="Take `www1`, `www23` and so on for `www`, in links and in the hosts of sites.",
        examples=[True],
    )
    programs: Path | None = Field(
        default=None,
        description="A folder that goes ahead of `PATH` for programs that filters run.",
        examples=["bin"],
    )
    function_timeout: Seconds = Field(
        default=10.0,
        gt=0,
        description="Seconds that a function of your own may take for one resource, which is denied after them.",
        examples=[2],
    )
    function_memory: Size = Field(
        default=512 << 20,
        description="Memory that such a function may take on top of what the process has; the same for more.",
        examples=["256 MB"],
    )
    starts: tuple[str, ...] = Field(
        default=(),
        description="Starting points whose hosts get a site of their own in the rules, if no site names them.",
        examples=[["http://www.example.com/"]],
    )
    depth: int | None = Field(
        default=None,
        ge=0,
        description="Link steps from starting points of the rules that say nothing of it; none is no limit.",
        examples=[10],
    )
    restarts: int = Field(
        default=3,
        ge=0,
        le=1000,
        description="How often in a row a function of your own may begin the cycle anew (REQ_RESTART).",
        examples=[1],
    )
    csid: str = Field(
        default="", description="The source `csid` of the filters.", examples=["x-catalog://h/docs"]
    )

    def below(self, base: Path) -> FiltersSection:
        """Return the section with absolute paths; relative ones are taken from `base`."""
        instance = base / self.instance
        return self.model_copy(
            update={
                "file": instance / self.file if self.file else None,
                "classification": instance / self.classification if self.classification else None,
                "programs": instance / self.programs if self.programs else None,
                "instance": instance,
            }
        )
