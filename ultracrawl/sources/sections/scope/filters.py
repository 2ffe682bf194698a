"""The `filters` section of a source: filters of the portal robot, which work in any source."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import DottedPath, FilePath, Seconds, Size

FunctionName = Annotated[str, Field(pattern=r"^[A-Za-z][\w-]*$")]
ModuleName = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]


class FiltersSection(Section):
    """The enumeration and generation filters, made of robot application functions."""

    file: FilePath | None = Field(default=None, examples=["config/filter.conf"])
    """A `filter.conf`. None: no filters."""
    enumeration: str = Field(default="enumeration-default", examples=["enumeration-default"])
    """The name of the filter for URLs."""
    generation: str = Field(default="generation-default", examples=["generation-default"])
    """The name of the filter for descriptions."""
    classification: FilePath | None = Field(default=None, examples=["config/classification.conf"])
    """A `classification.conf` with rules for categories."""
    max_classifications: int = Field(default=10, ge=1, examples=[10])
    """Maximum number of categories per description."""
    instance: FilePath = Field(default=Path(), examples=["."])
    """The folder that paths in these files are relative to."""
    functions: Mapping[FunctionName, DottedPath] = Field(
        default={}, examples=[{"by-department": "mypackage.filters.by_department"}]
    )
    """Functions of your own for directives: dotted paths by name."""
    modules: tuple[ModuleName, ...] = Field(default=(), examples=[["mypackage.filters"]])
    """Python modules whose functions marked with `filter_function` can be used in directives."""
    addresses: bool = Field(default=False, examples=[True])
    """Resolve the address of each host, for the source and field `IP`."""
    fold_www: bool = Field(default=False, examples=[True])
    """Treat `www1`, `www23` and so on as `www`, in links and in the hosts of sites."""
    programs: FilePath | None = Field(default=None, examples=["bin"])
    """A folder put in front of `PATH` for programs that filters run."""
    function_timeout: Seconds = Field(default=10.0, gt=0, examples=[2])
    """Maximum seconds of processor time of a function of your own per resource. If it takes longer, the resource is
    denied. A resource whose function does not return in ten times as long is tried again at the end of the run."""
    function_memory: Size = Field(default=512 << 20, examples=["256 MB"])
    """Maximum additional memory of a function of your own. If it uses more, the resource is denied."""
    starts: tuple[str, ...] = Field(default=(), examples=[["http://www.example.com/"]])
    """Starting points. For each of their hosts that no site of the rules names, a site is added to the rules."""
    depth: int | None = Field(default=None, ge=0, examples=[10])
    """Maximum link steps from starting points of the rules that have no depth of their own. None: no limit."""
    restarts: int = Field(default=3, ge=0, le=1000, examples=[1])
    """How often in a row a function of your own may restart the cycle (REQ_RESTART)."""
    csid: str = Field(default="", examples=["x-catalog://h/docs"])
    """The value of the filter source `csid`."""

    def resolve_paths(self, base: Path) -> Self:
        """Return the section with absolute paths; relative ones are relative to `base`."""
        instance = base / self.instance
        return self.model_copy(
            update={
                "file": instance / self.file if self.file else None,
                "classification": instance / self.classification if self.classification else None,
                "programs": instance / self.programs if self.programs else None,
                "instance": instance,
            }
        )
