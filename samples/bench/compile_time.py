"""Times `hbc compile` up to the C text, for every sample and target: compile_time.py [SAMPLE...]

Milliseconds by pass, as `--time` tells them, and for the whole command from its start to its end;
`rest` is what the passes leave of it: starting Python, parsing, checking, verifying, writing. Of
ROUNDS runs the fastest counts.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

SAMPLES = Path(__file__).resolve().parents[1]
TARGETS = ("c", "avx2", "avx512")
# Sizes that are fixed in the code: neither loops nor tables may be written out because of them.
GROWING = {
    "conv1d": ("T", (4, 64, 1024)),
    "conv2d": ("T", (4, 16, 64)),
    "resize": ("W", (64, 4096)),
}
PASS = re.compile(r"(\S+) +(\d+\.\d) ms")


@dataclass(frozen=True, slots=True)
class Compilation:
    """One row of the table; `passes` and `whole` in milliseconds."""

    label: str
    target: str
    passes: dict[str, float]
    whole: float


def main() -> int:
    """Exit code 1 where a sample does not compile, 2 for a sample that there is not."""
    paths = sorted([*SAMPLES.glob("*.hb"), *SAMPLES.glob("tutorial/*.hb")])
    unknown = set(sys.argv[1:]) - {p.stem for p in paths}
    if unknown:
        print(f"compile_time.py: there is no `{min(unknown)}`", file=sys.stderr)
        return 2
    wanted = [p for p in paths if p.stem in sys.argv[1:] or not sys.argv[1:]]
    command = os.environ.get("HBC", "hbc").split()
    rounds = int(os.environ.get("ROUNDS", "3"))
    try:
        rows = [timed(command, rounds, p, target) for p in wanted for target in TARGETS]
        grown = [row for p in wanted for row in growing(command, rounds, p)]
    except subprocess.CalledProcessError as failure:
        print(failure.stderr, file=sys.stderr, end="")
        return 1
    print("\n".join([*table([*rows, *grown]), "", *summary(rows)]))
    print(f"{' '.join([*command, '--help'])}: {help_time(command):.0f} ms.")
    return 0


def growing(command: Sequence[str], rounds: int, path: Path) -> list[Compilation]:
    """The sample at sizes that differ by much."""
    if path.stem not in GROWING:
        return []
    name, values = GROWING[path.stem]
    settings = [f"{name}={value}" for value in values]
    return [timed(command, rounds, path, "avx512", setting) for setting in settings]


def timed(
    command: Sequence[str], rounds: int, path: Path, target: str, setting: str = ""
) -> Compilation:
    """The fastest of some runs. CalledProcessError where hbc fails."""
    label = f"{path.stem} {setting}".strip()
    print(f"{label}, {target}", file=sys.stderr)
    runs = [compiled(command, path, target, setting) for _ in range(rounds)]
    passes, whole = min(runs, key=lambda run: run[1])
    return Compilation(label, target, passes, whole)


def compiled(
    command: Sequence[str], path: Path, target: str, setting: str
) -> tuple[dict[str, float], float]:
    """Milliseconds by pass and for the whole command."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*command, "compile", str(path), "--target", target, "--time", "-o", folder]
        words += ["--set", setting] if setting else []
        begin = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        whole = (time.perf_counter() - begin) * 1e3
    passes = {name: float(spent) for name, spent in PASS.findall(done.stderr)}
    passes.pop("total", None)
    return passes, whole


def table(rows: Sequence[Compilation]) -> list[str]:
    """A line for each row, a column for each pass."""
    names = list(dict.fromkeys(name for row in rows for name in row.passes))
    lines = [["milliseconds", "target", *names, "rest", "whole"]]
    for row in rows:
        spent = [row.passes.get(name, 0.0) for name in names]
        figures = [*spent, row.whole - sum(spent), row.whole]
        lines.append([row.label, row.target, *(f"{figure:.0f}" for figure in figures)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [_aligned(line, widths) for line in lines]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    """Words to the left, figures to the right."""
    words = [cell.ljust(width) for cell, width in zip(line[:2], widths, strict=False)]
    figures = [cell.rjust(width) for cell, width in zip(line[2:], widths[2:], strict=True)]
    return "  ".join([*words, *figures])


def summary(rows: Sequence[Compilation]) -> list[str]:
    """What RESULTS.md quotes."""
    spans = {
        "The whole command": [row.whole for row in rows],
        "The passes alone": [sum(row.passes.values()) for row in rows],
    }
    return [f"{what}, {len(rows)} compilations: {_span(spent)}." for what, spent in spans.items()]


def _span(spent: Sequence[float]) -> str:
    p95 = quantiles(spent, n=20, method="inclusive")[-1] if len(spent) > 1 else spent[0]
    return f"median {median(spent):.0f} ms, 95th percentile {p95:.0f} ms, most {max(spent):.0f} ms"


def help_time(command: Sequence[str]) -> float:
    """Milliseconds of `hbc --help`, the fastest of ten."""
    found = []
    for _ in range(10):
        begin = time.perf_counter()
        subprocess.run([*command, "--help"], capture_output=True, check=True)
        found.append((time.perf_counter() - begin) * 1e3)
    return min(found)


if __name__ == "__main__":
    sys.exit(main())
