"""The `filters` section of a source: the portal robot's filters at work, in any source."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import DottedPath, Seconds, Size

FunctionName = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]*$")]
ModuleName = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]


class FiltersSection(Section):
    """Two filters, made of robot application functions, decide what is enumerated and what is described."""

    file: Path | None = Field(default=None, examples=["config/filter.conf"])
    """A `filter.conf`; without one there are no filters."""
    enumeration: str = Field(default="enumeration-default", examples=["enumeration-default"])
    """The filter of that file that finds URLs."""
    generation: str = Field(default="generation-default", examples=["generation-default"])
    """The filter of that file that makes descriptions."""
    classification: Path | None = Field(default=None, examples=["config/classification.conf"])
    """A `classification.conf`, whose rules give categories."""
    max_classifications: int = Field(default=10, ge=1, examples=[10])
    """Most categories of one description."""
    instance: Path = Field(default=Path(), examples=["."])
    """The folder that paths inside these files are taken from."""
    functions: Mapping[FunctionName, DottedPath] = Field(
        default={}, examples=[{"by-department": "mypackage.filters.by_department"}]
    )
    """Functions of your own that directives may name, as dotted paths."""
    modules: tuple[ModuleName, ...] = Field(default=(), examples=[["mypackage.filters"]])
    """Python modules whose functions marked with `filter_function` directives may name."""
    addresses: bool = Field(default=False, examples=[True])
    """Look up the address of each host: the source and field `IP`."""
    fold_www: bool = Field(default=False, examples=[True])
    """Take `www1`, `www23` and so on for `www`, in links and in the hosts of sites."""
    programs: Path | None = Field(default=None, examples=["bin"])
    """A folder that goes ahead of `PATH` for programs that filters run."""
    function_timeout: Seconds = Field(default=10.0, gt=0, examples=[2])
    """Seconds that a function of your own may take for one resource, which is denied after them."""
    function_memory: Size = Field(default=512 << 20, examples=["256 MB"])
    """Memory that such a function may take on top of what the process has; the same for more."""
    starts: tuple[str, ...] = Field(default=(), examples=[["http://www.example.com/"]])
    """Starting points whose hosts get a site of their own in the rules, if no site names them."""
    depth: int | None = Field(default=None, ge=0, examples=[10])
    """Link steps from starting points of the rules that say nothing of it; none is no limit."""
    restarts: int = Field(default=3, ge=0, le=1000, examples=[1])
    """How often in a row a function of your own may begin the cycle anew (REQ_RESTART)."""
    csid: str = Field(default="", examples=["x-catalog://h/docs"])
    """The source `csid` of the filters."""

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
