"""Draws the record of `unit.sh --record` as figures 8 and 9 of the UNIT paper: each layer beside oneDNN."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Row = dict[str, Any]
THEIRS = "oneDNN"


def read(record: Path) -> list[Row]:
    """A row for each layer, the last that was measured of it."""
    lines = record.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line]
    return sorted({row["number"]: row for row in rows}.values(), key=lambda row: row["number"])


def draw(record: Path, file: Path) -> None:
    """Writes the picture: rates above, ratios below."""
    try:
        import matplotlib
    except ImportError:
        sys.exit("unit_plot.py: no matplotlib: pip install 'hbc[plots]'")
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "hbc"  # the same file for the same record
    from matplotlib import pyplot

    rows = read(record)
    numbers = [row["number"] for row in rows]
    figure, (rates, ratios) = pyplot.subplots(
        2, 1, figsize=(max(7, len(rows) / 14), 6), sharex=True
    )
    names = list(dict.fromkeys(n for row in rows for n in row["rates"]))
    for name in sorted(names, key=lambda n: n == THEIRS):
        reached = [row["rates"].get(name, float("nan")) for row in rows]
        mark, said = ("|", THEIRS) if name == THEIRS else ("o", f"hbc {name}")
        rates.plot(numbers, reached, mark, ms=4 if mark == "o" else 9, label=said)
    rates.set(ylabel="Gop/s", ylim=(0, None))
    for name in (n for n in names if n != THEIRS):
        found = [row["ratios"].get(name) or float("nan") for row in rows]
        ratios.bar(numbers, [x - 1 for x in found], bottom=1, width=0.8, label=f"hbc {name}")
    ratios.axhline(1, color="black", lw=0.8)
    ratios.set(ylabel="times oneDNN's speed", xlabel="layer")
    for axes in (rates, ratios):
        axes.grid(axis="y", alpha=0.3)
        axes.margins(x=0.01)
    rates.legend(fontsize=8, loc="lower right", ncols=2)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: unit_plot.py RECORD FILE.svg")
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
