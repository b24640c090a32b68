"""Runs the fuzzer for a while and prints statistics: python tests/fuzz/fuzz.py --seconds N --seed S.

Failing programs are made small and printed as `.hb` text; `--save DIR` writes them to files.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

try:
    import resource
except ImportError:  # not on Windows
    resource = None

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "frontend" / "expand"))

from agreement import examine
from case import generate
from choices import Recorded, shrink
from tally import Tally

from hbc.cli.show.frames import CALL_DEPTH, with_room

MOST_MEMORY = 4 << 30  # bytes of address space


def run_one(
    seed: int, tally: Tally, native: bool, shrinking: float, save: Path | None, auto: bool,
    targets: Sequence[str],
) -> None:  # fmt: skip
    """The case of a seed; a new kind of failure is made small for `shrinking` seconds at most. One that
    does not happen again, as when the system stops or kills a compiler, is no failure."""
    recorded = Recorded(random=Random(seed))
    case = generate(recorded, targets)
    outcome = examine(case, native, auto=auto)
    if outcome.kind == "failed" and outcome.where not in tally.smallest:
        first, outcome = outcome, examine(case, native, auto=auto)
        if first.where != outcome.where:
            print(f"\nseed {seed}, once: {first.where}\n{first.detail}", flush=True)
    tally.add(case, outcome)
    if outcome.kind != "failed" or outcome.where in tally.smallest:
        return
    end = time.monotonic() + shrinking

    def fails(values: list[int]) -> bool:
        if time.monotonic() > end:
            return False
        return (
            examine(generate(Recorded(values), targets), native, auto=auto).where == outcome.where
        )

    case = generate(Recorded(shrink(recorded.taken, fails)), targets)
    small = examine(case, native, auto=auto)
    tally.smallest[outcome.where] = (case, small)
    print(f"\n=== seed {seed}: {outcome.where}\n{case.text}\n{small.detail}", flush=True)
    if save is not None:
        save.mkdir(parents=True, exist_ok=True)
        (save / f"failure_{seed}.hb").write_text(case.text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0, help="the first; later cases count up")
    parser.add_argument("--auto", action="store_true", help="by schedules of hbc's own")
    parser.add_argument("--target", action="append", help="only for this one; may be repeated")
    parser.add_argument("--count", type=int, default=1 << 40, help="how many cases at most")
    parser.add_argument("--no-native", action="store_true", help="only the interpreter")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds for each new failure")
    parser.add_argument("--coverage", action="store_true", help="how often each feature was used")
    parser.add_argument("--save", type=Path, help="folder for the failing programs")
    arguments = parser.parse_args()
    tally = Tally()
    if resource is not None:  # a case that asks for more is a failure, not the end of the machine
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    sys.setrecursionlimit(CALL_DEPTH)  # as the command has it
    start = time.monotonic()
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        if time.monotonic() - start > arguments.seconds:
            break
        native, save = not arguments.no_native, arguments.save
        one = seed, tally, native, arguments.shrink, save, arguments.auto, arguments.target or ()
        with_room(partial(run_one, *one))
    print(tally.summary(time.monotonic() - start))
    print(f"  next seed {seed}")
    if arguments.coverage:
        print(tally.coverage())
    return 1 if tally.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
