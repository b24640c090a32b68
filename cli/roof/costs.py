"""What this processor's instructions and memory cost, measured: a machine file of its own making.

Each described instruction that the processor has runs as the C that kernels print, many times in turns with
additions of integers, which take a cycle each: so neither the clock's frequency nor its changes matter. Other
programs can only make it take longer: the least of many short calls counts, by the thread's own clock, once
it was seen twice. What is never seen twice stays as it is described.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hbc.cli.asked_machine import keep_costs
from hbc.cli.instruction_set import instruction_set
from hbc.cli.machine import cache_bytes, cpu_name
from hbc.cli.roof.cost_programs import APART, CHAIN, CYCLES, KINDS, per_round, program
from hbc.cli.roof.team import TIMEOUT, Team, bandwidths, compiled, widest
from hbc.cli.runs.native import Native, Repeat
from hbc.cli.show.report import Progress
from hbc.codegen.build.cross import is_foreign
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.build.toolchain import build, find_compiler
from hbc.codegen.c.source import CSource
from hbc.codegen.text.instruction_text import compile_flags
from hbc.frontend.costs.machine_costs import Level, MachineCosts
from hbc.ir.ground.diag import HbcError
from hbc.ir.host.scratch import scratch_folder
from hbc.ir.lang.instruction import Cost, Instruction
from hbc.ir.lang.target import GPU, TARGETS

CALL_CYCLES = 400_000  # of one call: so short that mostly nothing interrupts it
CALLS = Repeat(warmups=1, least=4, most=4, own=True)  # of each function in a round
LEAST_ROUNDS, MOST_ROUNDS = 4, 40
ALIKE = 1.01  # the least two of several times are one
WHOLE = 0.05  # so near to a whole number of cycles it is one: processors count whole ones


class Busy(Exception):
    """No time was seen twice."""


def measured_costs(shown: Progress) -> MachineCosts:
    """What this processor costs; kept for `--machine here`. Takes some seconds. ToolError without a C
    compiler."""
    shown.step("measuring what instructions cost")
    with scratch_folder() as folder:
        instructions = measure_instructions(here(), folder)
        shown.step("measuring what memory costs")
        levels = _measure_levels(folder)
    costs = MachineCosts(cpu_name(), _features(), instructions, levels)
    keep_costs(costs)
    return costs


def _features() -> tuple[str, ...]:
    """Those of this processor that targets or instructions need."""
    known = {need for target in TARGETS.values() for need in target.needs}
    known |= {feature.cpuinfo for feature in instruction_set().features}
    return tuple(sorted(known & cpu_features()))


def here() -> list[Instruction]:
    """The described instructions that this processor has."""
    return [
        i
        for i in instruction_set().instructions
        if i.place.machine != GPU
        and not is_foreign(i.place.machine)
        and {f.cpuinfo for f in i.needs} <= cpu_features()
    ]


def measure_instructions(
    instructions: Sequence[Instruction], folder: Path
) -> tuple[tuple[str, Cost], ...]:
    """The costs of those that can be measured, by name."""
    if not instructions:
        return ()
    compiler = find_compiler()
    text = program(instructions, "gcc" if compiler.kind == "gcc" else "clang")
    source = CSource("costs", text, "", flags=tuple(compile_flags(instructions)))
    library = build(source, TARGETS["c"], folder / "costs.so")
    found: list[tuple[str, Cost]] = []
    with Native(library, 1, TIMEOUT) as native:
        for i in instructions:
            try:
                found.append((i.name, _cost(native, i)))
            except (Busy, HbcError):  # refused, as tiles are where the system does not permit them
                continue
    return tuple(found)


def _cost(native: Native, i: Instruction) -> Cost:
    least = _least(native, i, {kind: _rounds(i, kind) for kind in KINDS})
    cycle = least[CYCLES] / per_round(i, CYCLES)
    each, chained = (least[kind] / cycle / per_round(i, kind) for kind in (APART, CHAIN))
    latency = whole(chained)
    return Cost(latency, per_cycle(each))


def per_cycle(cycles: float) -> float:
    """How many begin in a cycle, of which each takes so many."""
    return round(1 / whole(cycles), 4) if cycles >= 1 - WHOLE else whole(1 / cycles)


def whole(cycles: float) -> float:
    """Cycles, as a whole number where it is nearly one."""
    near = max(round(cycles), 1)
    return float(near) if abs(cycles - near) <= WHOLE * near else round(cycles, 2)


def _rounds(i: Instruction, kind: str) -> int:
    """Of a call, if the description is about right."""
    each = {APART: 1 / i.cost.per_cycle, CHAIN: i.cost.latency, CYCLES: 1.0}[kind]
    return max(1, int(CALL_CYCLES / each / per_round(i, kind)))


def _least(native: Native, i: Instruction, rounds: Mapping[str, int]) -> dict[str, float]:
    """Seconds of a round of each function, in turns until each was seen twice."""
    seen: dict[str, list[float]] = {kind: [] for kind in rounds}
    for turn in range(1, MOST_ROUNDS + 1):
        for kind, count in rounds.items():
            times = native.time(f"{kind}_{i.name}", [count], [], CALLS)
            seen[kind].append(min(times) / count)
        if turn >= LEAST_ROUNDS and all(map(_twice, seen.values())):
            return {kind: min(times) for kind, times in seen.items()}
    raise Busy


def _twice(times: Iterable[float]) -> bool:
    least, second, *_ = sorted(times)
    return second <= least * ALIKE


def _measure_levels(folder: Path) -> tuple[Level, ...]:
    """Bytes in a cycle for each cache and memory."""
    levels = {f"L{level}": room for level, room in sorted(cache_bytes().items())}
    with Team(compiled("bandwidth", folder), 1, own=True) as team:
        loads = dict(bandwidths(team, widest("read"), 1, 1, levels))
        stores = dict(bandwidths(team, widest("write"), 1, 1, levels))
        cycle = team.seconds("additions", [1 << 20], []) / (1 << 20)
    return tuple(
        Level(name, levels.get(name, 0), _figures(rate * cycle), _figures(stores[name] * cycle))
        for name, rate in loads.items()
    )


def _figures(number: float) -> float:
    """Two figures: more are noise."""
    return float(f"{number:.2g}")
