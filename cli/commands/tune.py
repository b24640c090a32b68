"""`hbc tune`: tries schedules, measures them, and keeps the best."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show import completion
from hbc.cli.show.arch_option import arch_option
from hbc.cli.show.machine_option import machine_option
from hbc.cli.show.options import (
    LONGEST,
    Seconds,
    example_option,
    json_option,
    kernel_argument,
    kernel_option,
    settings_option,
)

if TYPE_CHECKING:
    pass

STRATEGIES = ("model", "random", "unit")


@click.command("tune")
@settings_option
@machine_option("`here`, where that was measured")
@click.option(
    "--isa", multiple=True, metavar="FILE", type=click.Path(path_type=Path),
    help="Use the instructions that this file describes too; may be repeated.",
)  # fmt: skip
@click.option("--target", metavar="NAME", shell_complete=completion.targets,
              help="What to tune for [default: as `auto` chooses].")  # fmt: skip
@arch_option(passed=False)
@click.option(
    "--trials", type=click.IntRange(1, 1_000_000), default=1000, show_default=True, metavar="N",
    help="Try at most so many schedules.",
)  # fmt: skip
@click.option(
    "--time", "seconds", type=Seconds(min=0, max=LONGEST), default=60.0, show_default=True,
    metavar="SECONDS", help="Stop looking after so long; of a table, for each row.",
)  # fmt: skip
@click.option(
    "--journal", type=click.Path(path_type=Path), metavar="FILE",
    help="Append every result to FILE, and take what it knows already.",
)  # fmt: skip
@click.option("--write", is_flag=True, help="Write the best schedule into KERNEL.")
@click.option(
    "--strategy", type=click.Choice(STRATEGIES), default="model", show_default=True,
    help="How to look: led by the model; at random; or the two breaking points of UNIT.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of what is drawn.")
@click.option(
    "--layers", type=click.Path(path_type=Path), metavar="CSV",
    help="Tune for each row of a table whose columns are sizes and params.",
)  # fmt: skip
@click.option(
    "--plot", type=click.Path(path_type=Path), metavar="FILE",
    help="Draw what was tried as FILE (.svg, .png, .pdf).",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(1, 4096), default=1, show_default=True, metavar="N",
    help="Threads of parallel loops.",
)  # fmt: skip
@click.option(
    "--workers", metavar="SCHEDULER",
    help="Measure on the workers of the Dask scheduler at this address (`tcp://host:8786`).",
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Measure everything again, also what is kept.")
@example_option
@json_option
@kernel_option
@kernel_argument
def command(
    kernel: Path, only: str | None, settings: Mapping[str, str],
    isa: tuple[Path, ...], target: str | None, trials: int, seconds: float, journal: Path | None,
    write: bool, strategy: str, seed: int, layers: Path | None, plot: Path | None, threads: int,
    workers: str | None, fresh: bool, example: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Find the fastest schedule of KERNEL on this machine, by measuring.

    Schedules are made as `auto` makes its one, with other choices, and from those of the file. Each is
    compiled, run on the example (or the sizes given), compared with the oracle and measured in turns with
    the best so far. Ctrl-C ends it with the best. With --workers schedules are made here, and compiled and
    measured there, one at a time on each; only workers of the most common processor are used.
    """
    from hbc.cli.tuning.session import Session, run_session
    from hbc.cli.tuning.tune import Options, usual_processes

    options = Options(strategy, trials, seconds, seed, usual_processes(), fresh)
    session = Session(
        kernel, only, settings, isa, target, journal, write, layers, threads, example,
        as_json, options, plot, workers,
    )  # fmt: skip
    run_session(session)
