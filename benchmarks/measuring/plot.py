"""The plot of a comparison: pages per second and CPU a page, by crawler, on each corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from measuring.aims import number
from measuring.results import COMMANDS, Results, Row

_PANELS = {
    "pages_a_second": "pages per second, logarithmic (more is better)",
    "cpu_ms_a_page": "CPU ms a page, logarithmic (less is better)",
}
_OURS, _INDEXING, _REST = "#0b6e4f", "#c46210", "#8a8f98"
_KINDS = {"ultracrawl": _OURS, "others that index": _INDEXING, "others that do not": _REST}


def draw(results: Results, path: Path) -> None:
    """Draw bars on a logarithmic scale, a row of panels for each corpus."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "peers"
    mpl.rcParams["font.size"] = 9
    from matplotlib import pyplot as plt
    from matplotlib.patches import Patch

    rows = [row for row in results.rows() if row.key not in COMMANDS]
    corpora = list(results.runs)
    size = (12, 1.1 + len(corpora) * (0.55 + 0.27 * len(rows)))
    figure, panels = plt.subplots(
        len(corpora), 2, figsize=size, sharey="row", squeeze=False, layout="constrained"
    )
    for line, corpus in zip(panels, corpora, strict=True):
        shown = [row for row in rows if results.has(corpus, row.key)]
        for axes, (name, title) in zip(line, _PANELS.items(), strict=True):
            _bars(axes, results, corpus, shown, name)
            axes.set_title(f"{corpus}: {title}", fontsize=10, loc="left")
    legend = [Patch(color=color, label=label) for label, color in _KINDS.items()]
    figure.legend(handles=legend, loc="outside lower center", ncols=len(legend), frameon=False)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=110)
    plt.close(figure)


def _bars(axes: Any, results: Results, corpus: str, rows: list[Row], name: str) -> None:
    values = [results.figure(corpus, row.key, name) or 0.0 for row in rows]
    places = range(len(rows), 0, -1)
    bars = axes.barh(places, values, color=[_color(row) for row in rows], height=0.75)
    axes.bar_label(bars, [number(value) for value in values], padding=3, fontsize=8)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_xlim(min(values) / 2, max(values) * 2)
    axes.set_yticks(places, [row.label for row in rows])
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def _color(row: Row) -> str:
    return _OURS if row.ours else _INDEXING if row.searchable else _REST
