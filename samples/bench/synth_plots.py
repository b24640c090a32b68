"""Draws the record of `synth.sh --plots` as the paper's figures 10 to 12: seconds by size, states beside
those of an oracle, seconds by phase."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SIZES = ("s", "k")
PHASES = ("read", "sets", "analysis", "plan", "search")
NAMES = {
    "crc": "transpose, CRC", "rcr": "transpose, RCR", "sum": "transpose, sum",
    "conv1d": "1D convolution", "conv1d_wswizzled": "1D convolution, weights swizzled",
    "stencil1d": "1D stencil", "stencil2d": "2D stencil",
}  # fmt: skip
Row = dict[str, Any]


def read(record: Path) -> list[Row]:
    lines = record.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def size(row: Row) -> int | None:
    """The parameter that scales the problem."""
    found = [int(row["settings"][name]) for name in SIZES if name in row["settings"]]
    return found[0] if found else None


def label(row: Row) -> str:
    number = size(row)
    wrap = "" if number is None or row["settings"].get("wrap") == "outer" else " inner"
    return f"{row['sketch']}{'' if number is None else f' {number}'}{wrap}"


def series(rows: list[Row]) -> dict[str, list[tuple[int, Row]]]:
    """The rows of sketches of several sizes, by the name shown, in order of size."""
    found: dict[str, list[tuple[int, Row]]] = {}
    for row in rows:
        number = size(row)
        if number is not None and row["settings"].get("wrap") == "outer":
            name = NAMES.get(row["sketch"], row["sketch"])
            found.setdefault(name, []).append((number, row))
    return {name: sorted(points, key=lambda p: p[0]) for name, points in found.items()}


def draw(record: Path, folder: Path) -> None:
    """Writes seconds.svg, states.svg and phases.svg."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("synth_plots.py: no matplotlib: pip install 'hbc[plots]'")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "hbc"  # the same file for the same record
    rows = read(record)
    draw_seconds(rows, folder / "seconds.svg")
    draw_states(rows, folder / "states.svg")
    draw_phases(rows, folder / "phases.svg")


def draw_seconds(rows: list[Row], file: Path) -> None:
    """Figure 10: all solutions, a cold process, processor seconds by size."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 4.5))
    for name, points in series(rows).items():
        sizes = [number for number, _ in points]
        axes.plot(sizes, [row["processor"] for _, row in points], marker="o", label=name)
    axes.set(xlabel="size", ylabel="processor seconds, cold", ylim=(0, None))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1))
    keep(figure, file)


def draw_states(rows: list[Row], file: Path) -> None:
    """Figure 11: how many states are built for one that an oracle would visit."""
    from matplotlib import pyplot

    known = [row for row in rows if row["ineffectiveness"] != "-"]
    known.sort(key=lambda row: float(row["ineffectiveness"].replace(",", "")))
    figure, axes = pyplot.subplots(figsize=(7, 0.22 * len(known) + 1))
    factors = [float(row["ineffectiveness"].replace(",", "")) for row in known]
    axes.barh([label(row) for row in known], factors)
    axes.margins(y=0.01)
    axes.set(xscale="log", xlabel="states built over states of an oracle")
    axes.tick_params(axis="y", labelsize=7)
    axes.grid(axis="x", alpha=0.3)
    keep(figure, file)


def draw_phases(rows: list[Row], file: Path) -> None:
    """Figure 12: where the time goes."""
    from matplotlib import pyplot

    names = [label(row) for row in rows]
    figure, axes = pyplot.subplots(figsize=(7, 0.22 * len(rows) + 1))
    left = [0.0] * len(rows)
    for phase in PHASES:
        took = [float(row["phases"].get(phase, 0.0)) for row in rows]
        axes.barh(names, took, left=left, label=phase)
        left = [a + b for a, b in zip(left, took, strict=True)]
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set(xlabel="wall seconds")
    axes.tick_params(axis="y", labelsize=7)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8)
    keep(figure, file)


def keep(figure: Any, file: Path) -> None:
    from matplotlib import pyplot

    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: synth_plots.py RECORD FOLDER")
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
