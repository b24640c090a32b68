"""How fast automatic schedules are beside those of the samples: both in turns, the least of many."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.prepare import Compiled, Runner, build_for_calls, choose, compile_chosen
from hbc.cli.runs.native import Native, Repeat, output_shapes

SHORT = Repeat(warmups=1, least=2, seconds=0.05, most=200)


def compiled(
    kernel: Path, settings: dict[str, str], target: str | None, schedule: str | None
) -> Compiled:
    return compile_chosen(choose(kernel, settings, target, schedule))


def measure(
    kernel: Path, settings: dict[str, str], target: str | None, example: str | None,
    schedules: tuple[str | None, ...], rounds: int,
) -> list[float]:  # fmt: skip
    """The least seconds of a call by each schedule."""
    with tempfile.TemporaryDirectory(prefix="hbc-auto-") as folder:
        made = []
        for number, schedule in enumerate(schedules):
            place = Path(folder) / str(number)
            place.mkdir()
            found = compiled(kernel, settings, target, schedule)
            library, _ = build_for_calls(found, place, Runner())
            made.append((found, library))
        p = made[0][0].chosen.pipeline
        run = gather_inputs(p, settings, choose_example(p, example), {})
        shapes = output_shapes(p, run.sizes)
        least = [float("inf")] * len(made)
        for _ in range(rounds):
            for number, (found, library) in enumerate(made):
                with Native(library, 1, 120.0) as native:
                    called = native.call(
                        found.source.name, list(run.sizes.values()), run.inputs, shapes, SHORT,
                        packs=found.source.packs,
                    )  # fmt: skip
                least[number] = min([least[number], *called.seconds])
        return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="+", type=Path)
    parser.add_argument("--target")
    parser.add_argument("--example")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--schedules", default="hand,auto", help="of hand, auto, none, or names")
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    settings = dict(text.split("=", 1) for text in given.set)
    names = given.schedules.split(",")
    chosen = tuple(None if n == "hand" else n for n in names)
    print(f"{'kernel':<28}" + "".join(f"{n + ' ms':>12}" for n in names) + f"{'ratio':>8}")
    ratios = []
    for kernel in given.kernels:
        found = measure(kernel, settings, given.target, given.example, chosen, given.rounds)
        ratios.append(found[0] / found[1])
        times = "".join(f"{t * 1e3:>12.3f}" for t in found)
        print(f"{kernel.stem:<28}{times}{ratios[-1]:>8.2f}", flush=True)
    if len(ratios) > 1:
        print(f"{'median':<28}{'':>{12 * len(names)}}{median(ratios):>8.2f}")


if __name__ == "__main__":
    main()
