"""Runs `hbc synth` on the sketches of a folder and prints the table of RESULTS.synth.md."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

HBC = os.environ.get("HBC", "hbc").split()
ROUNDS = int(os.environ.get("ROUNDS", "3"))
TIMEOUT = os.environ.get("TIMEOUT", "60")

OUTER = ("wrap=outer",)
QUICK = [
    ("crc", ("s=3", *OUTER)), ("rcr", ("s=3", *OUTER)), ("sum", ("s=3", *OUTER)),
    ("conv1d", ("k=3", *OUTER)), ("conv1d_wswizzled", ("k=3", *OUTER)),
    ("stencil1d", ("k=3", *OUTER)), ("stencil2d", ("k=3", *OUTER)), ("ffm4", OUTER),
    ("ffm8", OUTER), ("ffm8_shared", ("level=1", *OUTER)), ("hvx_gaussian", ()),
]  # fmt: skip
LARGER = [
    *(("crc", (f"s={s}", *OUTER)) for s in (5, 7, 9, 11, 13)),
    *(("crc", (f"s={s}",)) for s in (2, 4, 8)),
    *(("rcr", (f"s={s}", *OUTER)) for s in (4, 5, 7, 8, 9, 11, 13)),
    ("rcr", ("s=8",)),
    *(("sum", (f"s={s}", *OUTER)) for s in (5, 7, 9, 11, 13)),
    *(("sum", (f"s={s}",)) for s in (2, 4, 8)),
    *(("conv1d", (f"k={k}", *OUTER)) for k in (5, 7, 9, 11, 13, 15, 17)),
    *(("conv1d_wswizzled", (f"k={k}", *OUTER)) for k in (5, 7)),
    *(("stencil1d", (f"k={k}", *OUTER)) for k in (9, 17)),
    *(("stencil2d", (f"k={k}", *OUTER)) for k in (5, 7, 9, 11, 13)),
]
ABLATIONS = (
    (), ("--prune", "none"), ("--prune", "classes"), ("--prune", "copies"), ("--prune", "pairs"),
    ("--prune", "pairs,copies"), ("--no-crowds",), ("--no-compose",), ("--no-join",), ("--no-merge",),
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """Medians over the rounds; `solutions` is a dash where no run ended in time."""

    solutions: str
    states: str
    ineffectiveness: str
    sets: float
    analysis: float
    search: float
    processor: float
    wall: float
    megabytes: float
    phases: dict[str, float]


def run(
    sketch: Path, settings: tuple[str, ...], options: tuple[str, ...]
) -> tuple[dict[str, object], float, float]:
    """The JSON of one cold run, its wall time and its processor time in seconds."""
    named = [word for setting in settings for word in ("--set", setting)]
    command = [*HBC, "synth", str(sketch), "--all", "--count", "--json", "--stats"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--timeout", TIMEOUT, *named, *options], capture_output=True, text=True
    )
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode not in (0, 5):
        sys.exit(done.stderr)
    return json.loads(done.stdout), wall, used


def measured(sketch: Path, settings: tuple[str, ...], options: tuple[str, ...] = ()) -> Row:
    runs = [run(sketch, settings, options) for _ in range(ROUNDS)]
    value = runs[0][0]

    def phase(name: str) -> float:
        found = [float(dict(r[0]["seconds"]).get(name, 0.0)) for r in runs]
        return statistics.median(found)

    complete = bool(value["complete"])
    ratio = value["ineffectiveness"]
    return Row(
        str(value["solutions"]) if complete else "-",
        f"{value['states']:,}", "-" if ratio is None else f"{ratio:,.1f}",
        phase("sets"), phase("analysis"), phase("search"),
        statistics.median(r[2] for r in runs), statistics.median(r[1] for r in runs),
        max(float(str(r[0]["peak_mb"])) for r in runs),
        {name: phase(name) for name in dict(value["seconds"])},
    )  # fmt: skip


def line(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


def table(folder: Path, cases: list[tuple[str, tuple[str, ...]]], record: Path | None) -> None:
    """Prints the rows; `record` gets them as lines of JSON."""
    if record is not None:
        record.write_text("", encoding="utf-8")
    line(["sketch", "parameters", "solutions", "states", "over an oracle", "sets s", "analysis s",
          "search s", "processor s", "wall s", "peak MB"])  # fmt: skip
    line(["---", "---", *["---:"] * 9])
    for name, settings in cases:
        row = measured(folder / f"{name}.sf", settings)
        if record is not None:
            kept = {"sketch": name, "settings": dict(s.split("=") for s in settings), **asdict(row)}
            with record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(kept) + "\n")
        seconds = (row.sets, row.analysis, row.search, row.processor, row.wall)
        line([name, " ".join(settings), row.solutions, row.states, row.ineffectiveness,
              *(f"{value:.2f}" for value in seconds), f"{row.megabytes:.0f}"])  # fmt: skip


def ablations(folder: Path) -> None:
    names = [" ".join(options) or "everything on" for options in ABLATIONS]
    line(["sketch: states (processor s)", *names])
    line(["---", *["---:"] * len(names)])
    for name, settings in QUICK:
        cells = []
        for options in ABLATIONS:
            row = measured(folder / f"{name}.sf", settings, options)
            cells.append("-" if row.solutions == "-" else f"{row.states} ({row.processor:.1f})")
        line([f"{name} {' '.join(settings)}", *cells])


def main() -> None:
    folder = Path(sys.argv[1])
    options = sys.argv[2:]
    plots: Path | None = None
    if "--plots" in options:
        at = options.index("--plots")
        if at + 1 == len(options):
            sys.exit("--plots needs a folder; see synth.sh --help")
        plots = Path(options[at + 1])
        del options[at : at + 2]
    unknown = set(options) - {"--quick", "--ablate"}
    if unknown:
        sys.exit(f"unknown option {min(unknown)}; see synth.sh --help")
    if "--ablate" in options:
        ablations(folder)
        return
    record = None
    if plots is not None:
        plots.mkdir(parents=True, exist_ok=True)
        record = plots / "synth.jsonl"
    table(folder, QUICK if "--quick" in options else [*QUICK, *LARGER], record)
    if plots is not None and record is not None:
        from synth_plots import draw

        draw(record, plots)


if __name__ == "__main__":
    main()
