"""A roofline picture of timed calls (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009): the
rate over operations per byte, under this machine's peaks and bandwidths."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from math import atan2, degrees
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from hbc.cli.files.replace_file import replace_file
from hbc.cli.roof.speed import Speed
from hbc.cli.runs.work import Work
from hbc.ir.ground.diag import Diagnostic, HbcError, ToolError, UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

FORMATS = (".svg", ".png", ".pdf")
OWN, OTHERS, ROOF, FAINT = "#d1495b", "#30638e", "#222222", "#9a9a9a"
MARKERS = "osD^vP*X"
CLOSE = 1.3  # slopes nearer than this share a label
LETTERS = 84  # of a line of the title, which is as wide as the picture at most
Point = tuple[float, float]
Slopes = list[tuple["Annotation", Point, Point]]
"""Labels, each with two points that it lies along."""


def check_plot(path: Path) -> None:
    """UsageError for a format that no picture has, ToolError without matplotlib: before anything is timed."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(
            Diagnostic(f"--plot: `{path.name}` has none of the endings {', '.join(FORMATS)}")
        )
    if find_spec("matplotlib") is None:
        raise ToolError(
            Diagnostic(
                "--plot draws with matplotlib, which is not there", hint="pip install 'hbc[plots]'"
            )
        )


def check_work(work: Work) -> None:
    """HbcError for work that has no rate, or no operations per byte."""
    if not work.total or not work.bytes:
        lacks = "arithmetic" if work.bytes else "bytes to move"
        raise HbcError(
            [Diagnostic(f"--plot: a roofline has no place for a kernel without {lacks}")]
        )


def draw_roofline(path: Path, title: str, speed: Speed, beside: Mapping[str, float]) -> None:
    """Writes the picture. `beside`: seconds that others took for the same work, by their names."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    work = speed.work
    figure = Figure(figsize=(7.5, 5), layout="constrained")
    axes = figure.add_subplot()
    intensity = work.total / work.bytes
    unit = "GFLOP/s" if work.floating else "Gop/s"
    slopes = _roofs(axes, speed, intensity, unit)
    points = {"hbc": speed.median, **beside}
    for n, (name, seconds) in enumerate(points.items()):
        rate = work.total / seconds / 1e9
        ratio = "" if name == "hbc" else f", hbc is {seconds / speed.median:.3g} x as fast"
        axes.plot(
            intensity, rate, MARKERS[n % len(MARKERS)], color=OWN if name == "hbc" else OTHERS,
            markersize=8, alpha=0.85, linestyle="none", label=f"{name}: {rate:.3g} {unit}{ratio}",
        )  # fmt: skip
    axes.set(xlabel="operations per byte of the arrays", ylabel=unit, xscale="log", yscale="log")
    whole = fill(f"{title}: {speed.roof_share:.0%} of the roof", LETTERS)
    axes.set_title(whole, fontsize=10)
    axes.legend(loc="lower right", fontsize=9)
    axes.grid(which="major", alpha=0.25)
    _turn(slopes, figure, axes)
    with replace_file(path) as part, rc_context({"svg.fonttype": "none", "svg.hashsalt": "hbc"}):
        figure.savefig(part, format=path.suffix[1:].lower(), metadata=_dateless(path))


def _roofs(axes: Axes, speed: Speed, intensity: float, unit: str) -> Slopes:
    """The bandwidth of each level as a slope, the peaks as level lines; dark where they bound this work."""
    work, roofs = speed.work, speed.roofs
    peak = work.total / roofs.compute_seconds(work) / 1e9
    kinds = "+".join(sorted(kind for kind, count in work.operations.items() if count))
    bound = roofs.level(work.bytes)
    lowest = min(intensity / 8, peak * 1e9 / max(roofs.bandwidths.values()) / 4)
    highest = max(intensity * 8, peak * 1e9 / min(roofs.bandwidths.values()) * 4)
    labels: Slopes = []
    for levels in _close(roofs.bandwidths):
        color = ROOF if bound in levels else FAINT
        for level, bandwidth in levels.items():
            ridge, slope = peak * 1e9 / bandwidth, bandwidth / 1e9
            width = 1 + (level == bound)
            axes.plot([lowest, ridge], [lowest * slope, peak], color=color, linewidth=width)
        slope = max(levels.values()) / 1e9
        text = ", ".join(f"{level} {rate / 1e9:.3g}" for level, rate in levels.items())
        label = axes.annotate(
            f"{text} GB/s", (lowest, lowest * slope), (2, 3), textcoords="offset points",
            fontsize=8, color=color, va="bottom", rotation_mode="anchor",
        )  # fmt: skip
        labels.append((label, (lowest, lowest * slope), (peak / slope, peak)))
    start = min(peak * 1e9 / bandwidth for bandwidth in roofs.bandwidths.values())
    axes.plot([start, highest], [peak, peak], color=ROOF, linewidth=2)
    axes.annotate(
        f"{kinds} {peak:.3g} {unit}", (highest, peak), (0, 4), textcoords="offset points",
        fontsize=8, color=ROOF, ha="right",
    )  # fmt: skip
    axes.axvline(intensity, color=FAINT, linewidth=0.8, linestyle=":")
    return labels


def _close(bandwidths: Mapping[str, float]) -> list[dict[str, float]]:
    """Levels side by side whose slopes have no room for a label between them, together."""
    groups: list[dict[str, float]] = []
    for level, rate in bandwidths.items():
        before = [*groups[-1].values()][-1] if groups else 0.0
        if before and 1 / CLOSE < rate / before < CLOSE:
            groups[-1][level] = rate
        else:
            groups.append({level: rate})
    return groups


def _turn(labels: Slopes, figure: Figure, axes: Axes) -> None:
    """Lays each label along its slope, once the axes have their size."""
    figure.draw_without_rendering()
    for label, low, high in labels:
        (x0, y0), (x1, y1) = axes.transData.transform([low, high])
        label.set_rotation(degrees(atan2(y1 - y0, x1 - x0)))


def _dateless(path: Path) -> dict[str, None]:
    """No date in the file: the same figures give the same bytes."""
    dates = {".svg": "Date", ".pdf": "CreationDate"}
    return {dates[path.suffix.lower()]: None} if path.suffix.lower() in dates else {}
