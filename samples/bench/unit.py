"""The convolutions of the UNIT paper (arXiv 2101.08458, table I and section VI) by hbc and by oneDNN.

A layer's figure is that of the quicker quarter of many short windows, contenders in turns; its ratio is the
median over the windows of oneDNN's time by hbc's in the same turn.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from dataclasses import dataclass
from datetime import date
from json import dumps
from math import exp, log
from pathlib import Path
from statistics import median

from unit_pair import Contender, Layer, build_peer, difference, take_turns

from hbc.cli.machine import cpu_name
from hbc.cli.roof.roofs import machine_roofs, raised_roofs
from hbc.cli.show.report import progress

HERE = Path(__file__).resolve().parent
TABLES = {"16": "conv2d", "148": "conv2d", "3d": "conv3d"}
TURNS = 25  # windows of each contender in a round
SLOW = 0.6  # of the roof, below which a layer is named


@dataclass
class Result:
    """What one layer took: contenders by name, and what differs."""

    number: int
    layer: Layer
    contenders: dict[str, Contender]
    wrong: str = ""

    def as_json(self) -> str:
        """A line of the record."""
        return dumps({
            "number": self.number, "layer": shape(dict(self.layer.row)), "wrong": self.wrong,
            "rates": {n: self.rate(n) for n in self.contenders},
            "ratios": {n: self.ratio(n) for n in self.contenders if n != "oneDNN"},
        })  # fmt: skip

    def rate(self, name: str) -> float:
        """Operations in a nanosecond."""
        return self.layer.operations / self.contenders[name].quick / 1e9

    def ratio(self, name: str) -> float | None:
        """How many times oneDNN's speed; None without oneDNN."""
        peer = self.contenders.get("oneDNN")
        if peer is None:
            return None
        turns = zip(peer.windows, self.contenders[name].windows, strict=True)
        return median(theirs / ours for theirs, ours in turns)


def rows_of(layers: str, only: set[int]) -> list[tuple[int, dict[str, int]]]:
    """The numbered rows of a table, those that are wanted."""
    known = {"C", "D", "H", "W", "K", "Q", "R", "S", "stride"}
    with (HERE / f"unit_{layers}.csv").open(encoding="utf-8") as file:
        rows = [{n: int(v) for n, v in row.items() if n in known} for row in csv.DictReader(file)]
    return [(n, row) for n, row in enumerate(rows, 1) if not only or n in only]


def measure(number: int, layer: Layer, schedules: list[str], rounds: int, peer: object) -> Result:
    """All contenders of a layer in turns."""
    import ctypes

    assert isinstance(peer, ctypes.CDLL)
    with tempfile.TemporaryDirectory(prefix="hbc-unit-") as folder:
        ours = []
        for name in schedules:
            asked = f"tuned_{layer.target}_{number}" if name == "tuned" else name
            found = layer.by_hbc(asked, Path(folder))
            found.name = name
            ours.append(found)
        theirs = layer.by_onednn(peer)
        threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
        contenders = [*ours, *([theirs] if theirs else [])]
        take_turns(peer, contenders, 1, threads)
        for c in contenders:
            c.windows.clear()
        take_turns(peer, contenders, rounds * TURNS, threads)
        wrong = ""
        if theirs is not None:
            bound = 0.0 if layer.kind == "u8s8" else 1e-2
            off = [c.name for c in ours if difference(theirs.output, c.output) > bound]
            wrong = f"differs: {', '.join(off)}" if off else ""
        return Result(number, layer, {c.name: c for c in contenders}, wrong)


def shape(row: dict[str, int]) -> str:
    """A layer in a few words."""
    space = "x".join(str(row[n]) for n in "DHW" if n in row)
    taps = "x".join(str(row[n]) for n in "QRS" if n in row)
    stride = f", stride {row['stride']}" if row["stride"] > 1 else ""
    return f"{row['C']} x {space} to {row['K']}, {taps}{stride}"


def table(results: list[Result], schedules: list[str], roof: float, peer: str) -> list[str]:
    """Markdown."""
    names = [n for s in schedules for n in (f"hbc {s}", f"by oneDNN {s}", "of the roof")]
    lines = [
        f"| # | layer | {peer} | " + " | ".join(names) + " | schedule |",
        "|---" * (4 + len(names)) + "|",
    ]
    for r in results:
        cells = [str(r.number), shape(dict(r.layer.row))]
        cells.append(f"{r.rate('oneDNN'):.0f}" if "oneDNN" in r.contenders else "none")
        for s in schedules:
            ratio = r.ratio(s)
            cells += [
                f"{r.rate(s):.0f}",
                "" if ratio is None else f"{ratio:.2f}",
                f"{r.rate(s) / roof:.0%}",
            ]
        about = r.contenders[schedules[-1]].about.split(", ")[0]
        lines.append("| " + " | ".join([*cells, f"{about} {r.wrong}".strip()]) + " |")
    return lines


def summary(results: list[Result], schedules: list[str], roof: float) -> list[str]:
    """Means and sums, and how many fall short."""
    lines = []
    both = [r for r in results if "oneDNN" in r.contenders]
    for s in schedules:
        ratios = [r.ratio(s) or 0.0 for r in both]
        ours = sum(r.contenders[s].quick for r in both) * 1e3
        theirs = sum(r.contenders["oneDNN"].quick for r in both) * 1e3
        if ratios:
            mean = exp(sum(log(x) for x in ratios) / len(ratios))
            lines.append(
                f"* `{s}`: {mean:.3f} of oneDNN in the geometric mean, {min(ratios):.2f} to "
                f"{max(ratios):.2f}, {below(ratios, 0.9)} below 0.9, {below(ratios, 0.6)} below 0.6; "
                f"{ours:.2f} ms in all, oneDNN {theirs:.2f}; {short(results, s, roof)}"
            )
    return lines


def below(numbers: list[float], limit: float) -> int:
    return sum(x < limit for x in numbers)


def short(results: list[Result], schedule: str, roof: float) -> str:
    """How much of the roof is reached: half of the layers reach more than the median."""
    shares = [r.rate(schedule) / roof for r in results]
    slow = ", ".join(
        str(r.number) for r, share in zip(results, shares, strict=True) if share < SLOW
    )
    said = f": {slow}" if slow else ""
    least = (
        f"{median(shares):.0%} of the roof in the median, {below(shares, SLOW)} below {SLOW:.0%}"
    )
    return f"{least}{said}"


def main() -> int:
    """Exit code 3 where results differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", choices=sorted(TABLES), default="16")
    parser.add_argument("--only", default="", help="numbers of layers, by commas")
    parser.add_argument("--target", default="avx512vnni")
    parser.add_argument("--kind", choices=("u8s8", "bf16"), default="u8s8")
    parser.add_argument("--kernel", type=Path, help="instead of the sample")
    parser.add_argument(
        "--schedules", default="auto", help="auto, none, tuned, or names, by commas"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="the table's file [standard output]")
    parser.add_argument(
        "--record", type=Path, help="a line of JSON for each layer, for unit_plot.py"
    )
    given = parser.parse_args()
    schedules = given.schedules.split(",")
    kernel = given.kernel or HERE.parent / f"{TABLES[given.layers]}_{given.kind}.hb"
    only = {int(n) for n in given.only.split(",") if n}
    results = []
    with tempfile.TemporaryDirectory(prefix="hbc-unit-") as folder:
        peer = build_peer(Path(folder))
        version = peer.conv_version().decode()
        for number, row in rows_of(given.layers, only):
            layer = Layer(kernel, row, given.target, given.kind)
            found = measure(number, layer, schedules, given.rounds, peer)
            results.append(found)
            if given.record is not None:
                with given.record.open("a", encoding="utf-8") as file:
                    file.write(found.as_json() + "\n")
            said = ", ".join(f"{n} {found.rate(n):.0f}" for n in found.contenders)
            print(f"{number}: {shape(row)}: {said} {found.wrong}", file=sys.stderr, flush=True)
    with progress() as shown:
        roofs = machine_roofs(1, shown)
        best = max(r.rate(n) * 1e9 for r in results for n in r.contenders)
        if best > roofs.peak(given.kind):
            roofs = raised_roofs(roofs, shown)
        roof = max(roofs.peak(given.kind), best) / 1e9
    lines = [
        f"{cpu_name()}, {date.today().isoformat()}, one thread, target `{given.target}`; Gop/s, "
        f"roof {roof:.0f}.", "",
        *table(results, schedules, roof, f"oneDNN {version}"), "", *summary(results, schedules, roof),
    ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    if given.output is None:
        print(text, end="")
    else:
        given.output.write_text(text, encoding="utf-8")
    return 3 if any(r.wrong for r in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
