"""The picture of a tuning: what schedules reached when, the best so far, the roof; of a table its rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from hbc.cli.files.replace_file import check_replaceable, replace_file
from hbc.cli.measuring.trial import State, Trial
from hbc.cli.tuning.results import Result
from hbc.ir.ground.diag import Diagnostic, ToolError, UsageError

SUFFIXES = (".svg", ".png", ".pdf")
ROW = 0.2  # inches of a row of a table
GOOD, BEST, ROOF, BAD = "#4878a8", "#c44e52", "#888888", "#b8860b"  # told apart in grey too


def check_plot(path: Path) -> None:
    """HbcError where the picture could not be drawn or written: said before hours are spent."""
    if path.suffix.lower() not in SUFFIXES:
        hint = f"name a file that ends with {', '.join(SUFFIXES)}"
        raise UsageError(Diagnostic(f"--plot cannot draw `{path}`", hint=hint))
    check_replaceable(path)
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        hint = "pip install 'hbc[plots]'"
        raise ToolError(Diagnostic("--plot needs matplotlib", hint=hint)) from missing


def draw(results: Sequence[Result], path: Path) -> bool:
    """Writes the picture; whether there was anything to draw."""
    import matplotlib

    shown = [r for r in results if any(t.seconds for t in r.tuned.trials)]
    if not shown:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "hbc"}):  # the same file for the same trials
        figure = _search_of(shown[0]) if shown[0].row is None else _table_of(shown)
        figure.tight_layout()
        with replace_file(path) as beside:
            dated = {} if path.suffix.lower() == ".png" else {_DATE[path.suffix.lower()]: None}
            figure.savefig(beside, metadata=dated, dpi=144)
        pyplot.close(figure)
    return True


_DATE = {".svg": "Date", ".pdf": "CreationDate"}


def _search_of(r: Result) -> Any:
    """Trials in the order of their results, of which many come at a time."""
    from matplotlib import pyplot, ticker

    work, tuned = r.job.work, r.tuned
    unit = _unit(r)
    figure, axes = pyplot.subplots(figsize=(8, 4.5))
    there = sorted((t for t in tuned.trials if t.at is not None), key=lambda t: t.at or 0.0)
    numbered = list(enumerate(there, 1))
    good = [(n, work.total / t.seconds / 1e9) for n, t in numbered if t.seconds]
    bad = [n for n, t in numbered if t.state is not State.MEASURED]
    axes.plot(*zip(*good, strict=True), "o", ms=5, alpha=0.6, color=GOOD, label="a schedule")
    axes.step(*zip(*so_far(good, len(there)), strict=True), where="post", color=BEST, lw=2,
              label="the best so far")  # fmt: skip
    if tuned.start is not None and tuned.start.seconds:
        rate = work.total / tuned.start.seconds / 1e9
        axes.axhline(rate, color=BEST, ls=":", lw=1.2, label="auto")
    if r.roof is not None:
        roof = work.total / r.roof / 1e9
        busy = max(rate for _, rate in good) > roof
        said = "the roof, measured on a busy machine" if busy else "the roof"
        axes.axhline(roof, color=ROOF, ls="--", lw=1.2, label=said)
        if not busy:
            share = axes.secondary_yaxis("right", functions=_shares(roof))
            share.set_ylabel("% of the roof")
    if bad:
        axes.plot(bad, [0.0] * len(bad), "x", color=BAD, clip_on=False,
                  label=f"refused or failed: {len(bad)}")  # fmt: skip
    tried = f"schedules tried, in {tuned.searched:.3g} seconds"
    axes.set(xlabel=tried, ylabel=unit, xlim=(0, len(there) + 1), ylim=(0, None))
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    sizes = f" at {r.job.sizes}" if r.job.sizes else ""
    axes.set_title(fill(f"{r.job.pipeline.name} for {r.job.target.name}{sizes}", 90), fontsize=10)
    axes.grid(alpha=0.3)
    # Below: wherever it stood inside, it could hide schedules.
    axes.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=5, frameon=False)
    return figure


def _shares(roof: float) -> tuple[Any, Any]:
    return (lambda rate: 100 * rate / roof), (lambda share: share * roof / 100)


def so_far(points: Sequence[tuple[int, float]], until: int) -> list[tuple[int, float]]:
    """The best rate at each place where it grew, and at the end."""
    steps: list[tuple[int, float]] = []
    for at, rate in sorted(points):
        if not steps or rate > steps[-1][1]:
            steps.append((at, rate))
    return [*steps, (max(until, steps[-1][0]), steps[-1][1])] if steps else []


def _table_of(results: Sequence[Result]) -> Any:
    """A row each: what `auto` reached, and the best."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, ROW * len(results) + 1.4))
    rows = range(len(results))
    best = [_rate(r, r.tuned.best) for r in results]
    start = [_rate(r, r.tuned.start) for r in results]
    axes.hlines(rows, start, best, color=ROOF, lw=1, alpha=0.6)
    axes.plot(start, rows, "o", ms=4, color=GOOD, label="auto")
    axes.plot(best, rows, "D", ms=4, color=BEST, label="the best")
    roofs = [(r.job.work.total / r.roof / 1e9, n) for n, r in enumerate(results) if r.roof]
    if roofs:
        axes.plot(*zip(*roofs, strict=True), "|", ms=10, color="black", label="the roof")
    axes.set_yticks(rows, [str(r.row) for r in results], fontsize=6)
    axes.invert_yaxis()
    axes.set(xlabel=_unit(results[0]), xlim=(0, None))
    job = results[0].job
    axes.set_title(f"{job.pipeline.name} for {job.target.name}", fontsize=10)
    axes.grid(axis="x", alpha=0.3)
    axes.margins(y=0.02)
    figure.legend(*axes.get_legend_handles_labels(), fontsize=8, loc="upper right", ncols=3)
    return figure


def _rate(r: Result, t: Trial | None) -> float:
    """Operations in a nanosecond; nothing where none was measured."""
    return float("nan") if t is None or not t.seconds else r.job.work.total / t.seconds / 1e9


def _unit(r: Result) -> str:
    return "GFLOP/s" if r.job.work.floating else "Gop/s"
