"""`hbc diff`: what another schedule, or another file, changes of the loops, the code and the time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from hbc.cli.show import completion
from hbc.cli.show.options import (
    LONGEST,
    Seconds,
    example_option,
    files_argument,
    json_option,
    settings_option,
    thread_count,
)
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.host.scratch import scratch_folder

if TYPE_CHECKING:
    from hbc.cli.compiled import Compiled
    from hbc.cli.runs.in_turns import Turns
    from hbc.frontend.program.funcs import Pipeline

Given = TypeVar("Given")
SIDES = 2
CONTEXT = 3  # lines around a change


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: what it is called in the output, its C and its loops."""

    title: str
    compiled: Compiled
    loops: str


@click.command("diff")
@files_argument("kernels")
@settings_option
@click.option(
    "--schedule", "schedules", multiple=True, metavar="NAME", shell_complete=completion.schedules,
    help="The schedule of the first, then of the second; once: of both. `auto`, `none` as ever.",
)  # fmt: skip
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", shell_complete=completion.targets,
    help="What to compile the first for, then the second; once: both.",
)  # fmt: skip
@click.option(
    "--kernel", "only", multiple=True, metavar="NAME", shell_complete=completion.kernels,
    help="Which kernel of the first file, then of the second; once: of both.",
)  # fmt: skip
@click.option("--code", is_flag=True, help="Show also what is different in the C.")
@click.option(
    "--seconds", type=Seconds(min=0, max=LONGEST), metavar="SECONDS", default=1.0, show_default=True,
    help="Call them in turns for at least this long; 0: compile only.",
)  # fmt: skip
@click.option("--threads", type=click.IntRange(1, 4096), metavar="N", help="Threads of parallel loops "
              "[default: 1].")  # fmt: skip
@click.option("--timeout", type=Seconds(min=0, min_open=True, max=LONGEST), default=600.0,
              show_default=True, metavar="SECONDS", help="Give up on one call after this long.")  # fmt: skip
@example_option
@json_option
def command(
    kernels: tuple[Path, ...], settings: Mapping[str, str], schedules: tuple[str, ...],
    targets: tuple[str, ...], only: tuple[str, ...], code: bool, seconds: float, threads: int | None,
    timeout: float, example: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Compare two KERNELS, or two schedules of one: loops, C, results and times.

    hbc diff k.hb --schedule fast --schedule auto, or hbc diff old.hb new.hb. The two are called in turns on
    the example's inputs of the first; the time of each is the median of all its calls.
    """
    from hbc.cli.show.report import print_json, progress

    if max(map(len, (kernels, schedules, targets, only))) < SIDES:
        raise UsageError(
            Diagnostic(
                "there is nothing to compare with",
                hint="name a second file, or `--schedule`, `--target` or `--kernel` twice",
            )
        )
    files = _both("KERNEL", kernels)
    asked = zip(
        files, _both("--kernel", only or (None,)), _both("--target", targets or (None,)),
        _both("--schedule", schedules or (None,)), strict=True,
    )  # fmt: skip
    with progress() as shown:
        shown.step("compiling")
        sides = [
            _side(file, name, settings, target, schedule) for file, name, target, schedule in asked
        ]
        shown.step("calling both in turns")
        turns = _timed(sides, settings, example, threads, timeout, seconds) if seconds else None
    if as_json:
        print_json(
            {
                "kernels": [s.title for s in sides],
                "loops": list(_diff(sides, [s.loops for s in sides])),
                "code_lines": [len(_code(s).splitlines()) for s in sides],
                "seconds_median": None if turns is None else list(turns.seconds),
                "turns": None if turns is None else turns.turns,
                "results_differ": None if turns is None else turns.differ,
            }
        )
        return
    _show(sides, code, turns)


def _both(what: str, given: Sequence[Given]) -> tuple[Given, Given]:
    """What the two sides get of an option that is given once or twice."""
    if len(given) > SIDES:
        raise UsageError(Diagnostic(f"two are compared, and {what} is given {len(given)} times"))
    return given[0], given[-1]


def _side(
    file: Path, name: str | None, settings: Mapping[str, str], target: str | None,
    schedule: str | None,
) -> Side:  # fmt: skip
    from hbc.cli.files.one_kernel import one_kernel
    from hbc.cli.prepare import choose, compile_chosen
    from hbc.frontend.directives.loop_tree import loop_tree

    chosen = choose(one_kernel(file, name), settings, target, schedule)
    compiled = compile_chosen(chosen)
    of = f"{file.name}, " if name is None else f"{file.name}, {name}, "
    title = f"{of}{chosen.title.partition(' ')[2]}"
    return Side(title, compiled, loop_tree(chosen.pipeline, chosen.schedule, chosen.on_gpu))


def _timed(
    sides: Sequence[Side], settings: Mapping[str, str], example: str | None, threads: int | None,
    timeout: float, seconds: float,
) -> Turns:  # fmt: skip
    from hbc.cli.files.inputs import choose_example, gather_inputs
    from hbc.cli.runs.emulation import for_instructions, runner_for
    from hbc.cli.runs.in_turns import in_turns

    first, second = (s.compiled.chosen.pipeline for s in sides)
    if _interface(first) != _interface(second):
        raise UsageError(
            Diagnostic(
                f"`{first.name}` and `{second.name}` take different arrays: no call serves both",
                hint="`--seconds 0` compares the code alone",
            )
        )
    run = gather_inputs(first, settings, choose_example(first, example), {})
    runners = [
        for_instructions(runner_for(s.compiled.chosen, False, False), s.compiled) for s in sides
    ]
    parallel = any(s.compiled.source.parallel for s in sides)
    number = thread_count(threads, 1, parallel)
    with scratch_folder() as folder:
        compiled = [s.compiled for s in sides]
        return in_turns(compiled, runners, run, number, timeout, seconds, folder)


def _interface(p: Pipeline) -> list[object]:
    """What a caller passes: names, types and numbers of dimensions, in order."""
    arrays = [(a.name, a.element, len(a.extents)) for a in (*p.inputs, *p.outputs)]
    return [tuple(s.name for s in p.sizes), *arrays]


def _show(sides: Sequence[Side], code: bool, turns: Turns | None) -> None:
    from hbc.cli.show.report import print_facts

    _show_diff("loops", list(_diff(sides, [s.loops for s in sides])))
    if code:
        _show_diff("code", list(_diff(sides, [_code(s) for s in sides])))
    lines = [len(_code(s).splitlines()) for s in sides]
    facts = [("code", f"{lines[0]:,} lines, {lines[1]:,} lines")]
    if turns is not None:
        facts += _about(turns)
    print_facts(f"{sides[0].title}; {sides[1].title}", facts)


def _about(turns: Turns) -> Iterator[tuple[str, str]]:
    from hbc.cli.show.report import seconds as duration

    if not turns.differ:
        yield "results", "equal"
    for name, (count, size, most) in turns.differences.items():
        if count:
            yield (
                "results",
                f"`{name}` differs in {count:,} of {size:,} elements, by {most:.3g} at most",
            )
    first, second = turns.seconds
    slower, times = ("second", second / first) if second > first else ("first", first / second)
    yield (
        "time",
        f"{duration(first)}, {duration(second)}: the {slower} takes {times:.2f} times as long "
        f"({turns.turns} turns)",
    )


def _code(side: Side) -> str:
    return side.compiled.source.text


def _diff(sides: Sequence[Side], texts: Sequence[str]) -> Iterator[str]:
    """Unified, without the two lines of file names."""
    a, b = (text.splitlines() for text in texts)
    return islice(unified_diff(a, b, sides[0].title, sides[1].title, "", "", CONTEXT, ""), 2, None)


COLOURS = {"-": "red", "+": "green", "@": "cyan"}


def _show_diff(what: str, lines: Sequence[str]) -> None:
    from hbc.ir.ground.printable import printable

    click.echo(f"{what}:" if lines else f"{what}: the same")
    for line in lines:
        click.echo(click.style(printable(line), fg=COLOURS.get(line[:1])))
