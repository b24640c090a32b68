"""Which target is meant when none is named: the best that runs here and that the file has a schedule for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from hbc.cli.show.report import notice
from hbc.codegen.build.cross import has_emulator, is_foreign
from hbc.codegen.build.processor import (
    TILES,
    can_run,
    in_halves,
    missing_features,
    softened_features,
)
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import GPU, TARGETS, Target, schedule_order
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import nodes

TUNED = "tuned_"  # how `hbc tune` begins the names of what it writes


def best_target(
    p: Pipeline, default: Target, schedule: str | None, isa: tuple[Path, ...] = (),
    runs: Callable[[Target], bool] = can_run,
) -> Target:  # fmt: skip
    """Of the targets that the machine `runs`, the best for which the file (or the schedule of that name) has
    a schedule. That is one with tensor instructions for the types in the file, tiles before dot products;
    else the `default`, for which the schedules of the targets it falls back on serve too. Where no
    schedule is for such a target, the first target of theirs whose code is executed here at all; else the
    `default`, for which hbc makes one."""
    named = [s for s in p.schedules if schedule in (None, s.name)]
    targets = [TARGETS[t] for s in named for t in s.targets if t in TARGETS]
    able = [t for t in targets if t.instruction_sets and runs(t)]
    held = frozenset(_types(p))
    if tensor := [t for t in able if _multiplies(replace(t, isa=isa), held, default)]:
        return max(tensor, key=_rank)
    served = schedule_order(default.name)
    if not targets or any(t.name in served for t in targets):
        return default
    if able:
        return max(able, key=_rank)
    first = targets[0] if schedule is not None else next(filter(_executed, targets), default)
    if first != default:
        notice(f"note: for `{first.name}`, because there is no schedule for `{default.name}`")
    return first


def _executed(t: Target) -> bool:
    """Whether its code is executed here by anything: the processor, C functions, an emulator."""
    if t.machine == GPU:
        return True
    if is_foreign(t.machine):
        return has_emulator(t.machine)
    return TILES.union(softened_features(t)).issuperset(missing_features(t))


def outdone(
    p: Pipeline, own: Schedule, target: Target, runs: Callable[[Target], bool] = can_run
) -> bool:
    """Whether a target that the machine `runs` has tensor instructions for the types in the file, and the
    schedule of the file that would serve was made for a lesser target without any."""
    made_for = next((t for t in schedule_order(target.name) if t in own.targets), target.name)
    lesser = TARGETS[made_for].vector_bits < target.vector_bits
    if not lesser or TARGETS[made_for].instruction_sets:
        return False
    held = frozenset(_types(p))
    here = (t for t in TARGETS.values() if t.machine == target.machine and t.instruction_sets)
    return any(runs(t) and _multiplies(t, held, target) for t in here)


def fitting(p: Pipeline, own: Schedule) -> Schedule:
    """Of the schedules of the file for the targets of `own`, which would be taken, the one whose vectors are
    as long as this processor does them at once: where several differ in that, they are for different
    machines. One that was tuned stays, and one without a length."""
    if own.choices or own.name.startswith(TUNED) or in_halves() or not _longest_vector(own):
        return own
    others = [s for s in p.schedules if s.targets == own.targets and s.condition is None]
    widest = max(others, key=_longest_vector, default=own)  # the first of those that are as long
    return widest if _longest_vector(widest) > _longest_vector(own) else own


def _longest_vector(s: Schedule) -> int:
    """Lanes of the longest vectors that it asks for by a number."""
    given = (d.args[-1] for line in s.lines for d in line.directives if d.name == "vectorize")
    return max((n for n in given if isinstance(n, int)), default=0)


def _rank(t: Target) -> tuple[bool, int, int]:
    return t.has_tiles, t.vector_bits, list(TARGETS).index(t.name)


def _multiplies(target: Target, held: frozenset[DType], default: Target) -> bool:
    """Whether an instruction that the default lacks multiplies numbers of types that the file holds: a
    schedule for dot products of bytes may be there for when `--set` makes bytes of its floats."""
    from hbc.cli.instruction_set import instructions_of

    there = {need for name in schedule_order(default.name) for need in TARGETS[name].needs}
    return any(
        held.issuperset(i.operands[place].element for place in i.factors)
        for i in instructions_of(target)
        if not {f.cpuinfo for f in i.needs} <= there
    )


def _types(p: Pipeline) -> Iterator[DType]:
    """Those of all values that the file reads or converts to."""
    for func in p.funcs:
        for value in (func.pure, *(update.value for update in func.updates)):
            for node in nodes(value):
                if isinstance(node, ir.Access | ir.Cast):
                    yield node.type.element
