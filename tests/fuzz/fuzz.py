"""Runs the fuzzer for a while and prints statistics: python tests/fuzz/fuzz.py --seconds N --seed S.

Failing programs are made small and printed as `.hb` text; `--save DIR` writes them to files.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

try:
    import resource
except ImportError:  # not on Windows
    resource = None

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agreement import Outcome, examine
from case import Case, generate
from choices import Recorded, shrink

MOST_MEMORY = 4 << 30  # bytes of address space


@dataclass(slots=True)
class Statistics:
    """Counts of outcomes, of why schedules were refused, and one small case for each failure."""

    outcomes: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    smallest: dict[str, tuple[Case, Outcome]] = field(default_factory=dict)

    def report(self, seconds: float) -> str:
        o = self.outcomes
        ran = o["passed"] + o["failed"] + o["rejected"]
        share = 100 * o["rejected"] / max(ran, 1)
        lines = [
            f"{o['passed']} programs passed, {o['rejected']} were rejected ({share:.0f} %), "
            f"{o['invalid']} were invalid, {o['failed']} failed, in {seconds:.0f} s"
        ]
        lines += [f"  refused {n:4} x {why}" for why, n in self.refusals.most_common(20)]
        lines += [f"  FAILED  {n:4} x {why}" for why, n in self.failures.most_common()]
        return "\n".join(lines)


def run_one(seed: int, statistics: Statistics, native: bool, shrinking: float) -> None:
    """The case of a seed; a new kind of failure is made small for `shrinking` seconds at most."""
    recorded = Recorded(random=Random(seed))
    outcome = examine(generate(recorded), native)
    statistics.outcomes[outcome.kind] += 1
    if outcome.kind in ("rejected", "invalid"):
        statistics.refusals[f"{outcome.kind}: {outcome.where}"] += 1
    if outcome.kind != "failed":
        return
    statistics.failures[outcome.where] += 1
    if outcome.where in statistics.smallest:
        return
    end = time.monotonic() + shrinking

    def fails(values: list[int]) -> bool:
        if time.monotonic() > end:
            return False
        return examine(generate(Recorded(values)), native).where == outcome.where

    case = generate(Recorded(shrink(recorded.taken, fails)))
    small = examine(case, native)
    statistics.smallest[outcome.where] = (case, small)
    print(f"\n=== seed {seed}: {outcome.where}\n{case.text}\n{small.detail}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first; later cases count up")
    parser.add_argument("--count", type=int, default=1 << 40, help="how many cases at most")
    parser.add_argument("--no-native", action="store_true", help="only the interpreter")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds for each new failure")
    parser.add_argument("--save", type=Path, help="folder for the failing programs")
    arguments = parser.parse_args()
    statistics = Statistics()
    if resource is not None:  # a case that asks for more is a failure, not the end of the machine
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    start = time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        if time.monotonic() - start > arguments.seconds:
            break
        run_one(seed, statistics, not arguments.no_native, arguments.shrink)
    print(statistics.report(time.monotonic() - start))
    if arguments.save:
        arguments.save.mkdir(parents=True, exist_ok=True)
        for number, (case, _) in enumerate(statistics.smallest.values()):
            path = arguments.save / f"failure_{arguments.seed}_{number}.hb"
            path.write_text(case.text, encoding="utf-8")
    return 1 if statistics.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
