"""Writes every text that hbc makes of the samples, so that two commits can be compared with diff.

`make outputs` leaves them in build/outputs, a folder for each sample: the C or CUDA, the loop nest and the
IR of each schedule and target, what `hbc explain` says, and what `hbc synth` answers to each sketch.
Messages and exit codes are kept too. Nothing in them depends on the machine, the time or the folder.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import get_context
from pathlib import Path

from hbc.ir.lang.target import TARGETS

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
SCHEDULE = re.compile(r"^schedule\s+(\w+)\s+for\s+([\w, ]+?)\s*\{", re.MULTILINE)
DEFAULT = "default"
"""The folder of what is made without `--schedule`."""


def cases(text: str) -> Iterator[tuple[str, str]]:
    """Schedules and targets: none on every target, each on those that it is for."""
    yield from ((DEFAULT, target) for target in TARGETS)
    yield "none", "c"
    for name, targets in SCHEDULE.findall(text):
        yield from ((name, target.strip()) for target in targets.split(","))


def commands_of_kernel(sample: Path, out: Path) -> Iterator[tuple[Path, list[str]]]:
    """For each case where its output goes, and the command lines; `-o` names the folder."""
    for schedule, target in dict.fromkeys(cases(sample.read_text(encoding="utf-8"))):
        place = out / f"{schedule}.{target}"
        chosen = [_name(sample), "--target", target]
        chosen += [] if schedule == DEFAULT else ["--schedule", schedule]
        kind = "cu" if target == "cuda" else "c"
        emitted = ["--emit", kind, "--emit", "loops", "--emit", "ir", "-o", str(place)]
        yield place / "compile.txt", ["compile", *chosen, *emitted]
        yield place / "explain.txt", ["explain", *chosen]


def commands_of_sketch(sample: Path, out: Path) -> Iterator[tuple[Path, list[str]]]:
    for name, options in (
        ("solution", []), ("cost", ["--explain-cost"]), ("code", ["-o", "-"]),
        ("picture", ["--picture", str(out / "picture.svg")]),
    ):  # fmt: skip
        yield out / f"{name}.txt", ["synth", _name(sample), *options]


def _name(sample: Path) -> str:
    return sample.relative_to(ROOT).as_posix()


def write_outputs(sample: Path, out: Path) -> int:
    """Runs the commands of one sample in this process; their number."""
    os.chdir(ROOT)  # messages name the sample as it is given
    commands = commands_of_kernel if sample.suffix == ".hb" else commands_of_sketch
    count = 0
    for file, arguments in commands(sample, out):
        file.parent.mkdir(parents=True, exist_ok=True)
        said = answer(arguments).replace(str(out), "OUT")
        file.write_text(said, encoding="utf-8")
        count += 1
    return count


def answer(arguments: list[str]) -> str:
    """What one command prints, and its exit code."""
    from hbc.cli.main import exit_code_of

    printed, said = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(said):
        code = exit_code_of(arguments)
    return f"{printed.getvalue()}--- stderr\n{said.getvalue()}--- exit code {code}\n"


def samples() -> list[Path]:
    return sorted([*SAMPLES.rglob("*.hb"), *SAMPLES.rglob("*.sf")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path, help="the folder to write, emptied first")
    parser.add_argument("--only", default="", help="samples whose path contains this")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    out = options.out.resolve()
    if out.exists():
        shutil.rmtree(out)
    # A process for each sample: nothing that one leaves in memory can show in the text of another.
    context = get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as cache,  # nor what another version of hbc kept
        ProcessPoolExecutor(options.workers, mp_context=context, max_tasks_per_child=1) as pool,
    ):
        os.environ["HBC_CACHE"] = cache
        jobs = {
            pool.submit(
                write_outputs, sample, out / sample.relative_to(SAMPLES).with_suffix("")
            ): sample
            for sample in samples()
            if options.only in _name(sample)
        }
        total = 0
        for job in as_completed(jobs):
            total += job.result()
            print(f"{_name(jobs[job])}: {job.result()} commands", file=sys.stderr)
    print(f"{total} commands of {len(jobs)} samples, texts in {options.out}")


if __name__ == "__main__":
    main()
