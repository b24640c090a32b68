"""`hbc explain`: for each statement the tensor instructions that do it, or why none does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.options import json_option, program_options
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.printable import printable
from hbc.ir.lang.target import GPU

if TYPE_CHECKING:
    from hbc.cli.compiled import Chosen
    from hbc.cli.show.report import Json
    from hbc.eqsat.choosing.miss import Miss
    from hbc.eqsat.choosing.report import Record
    from hbc.ir.lang.kernel import Kernel
    from hbc.ir.vectors.reached import Statement


FEW_CYCLES = 10  # of which tenths are shown


@click.command("explain")
@program_options
@json_option
def command(
    kernel: Path, only: str | None, settings: Mapping[str, str], target: str | None, schedule: str | None,
    isa: tuple[Path, ...], as_json: bool,
) -> None:  # fmt: skip
    """Say which tensor instructions were chosen for the statements of KERNEL.

    Per statement: the instruction and how often one execution of the statement runs it, the
    estimated cycles (of the instructions, of loads and stores, of bringing operands into their
    order), and the rules that led there. Where none was found: the nearest, what keeps it from the
    statement, and what to change. Of a kernel without tensor instructions: what is vectorized, which loads
    and stores are contiguous, strided, the same for all lanes, lane by lane, and what is scalar.
    """
    from hbc.cli.files.one_kernel import one_kernel
    from hbc.cli.movements import as_json as moved_json
    from hbc.cli.movements import movement_lines, movements
    from hbc.cli.prepare import choose
    from hbc.cli.show.plain_code import plain_json, plain_lines
    from hbc.cli.show.report import diagnostic_json, print_json, progress, show_diagnostics
    from hbc.cli.tuning.written import name_machine

    warnings: list[Diagnostic] = []
    plain: list[Statement] = []
    memory: list[str] = []
    with progress() as shown:
        shown.step("reading and checking")
        chosen = choose(one_kernel(kernel, only), settings, target, schedule, isa, fix_sizes=True)
        name_machine(chosen.pipeline, chosen.schedule)
        shown.step("choosing instructions")
        parts, failure = _of_each(chosen, warnings, plain, memory)
        moved = [] if failure is not None else movements(chosen)
    if as_json:
        held = _not_held(chosen, failure)
        by_name = chosen.schedule is not None and bool(chosen.schedule.choices)
        statements: list[Json] = [
            _as_json(r, held.get(r.instruction or ""), part.schedule_name if by_name else None)
            for part, records in parts
            for r in records
        ]
        mistakes = () if failure is None else failure.diagnostics
        refused: list[Json] = [diagnostic_json(mistake) for mistake in mistakes]
        print_json(
            {
                "kernel": chosen.pipeline.name,
                "target": chosen.target.name,
                "schedule": chosen.schedule_name,
                "statements": statements,
                "plain": [plain_json(s) for s in plain],
                "movements": [moved_json(m) for m in moved],
                "memory": memory,
                "refused": refused,
                "warnings": [diagnostic_json(warning) for warning in warnings],
            }
        )
    elif failure is None or any(records for _, records in parts):
        lines = [*_lines_of_each(parts), *plain_lines(plain), *movement_lines(moved)]
        lines += ["", *memory] if memory else []
        click.echo(printable("\n".join(lines)))
        show_diagnostics(warnings)
    if failure is not None:
        raise failure


def explained(chosen: Chosen) -> list[str]:
    """The lines of the text for a program that maps."""
    parts, failure = _of_each(chosen, [], [], [])
    if failure is not None:
        raise failure
    return _lines_of_each(parts)


Explained = list[tuple["Chosen", "list[Record]"]]


def _of_each(
    chosen: Chosen, warnings: list[Diagnostic], plain: list[Statement], memory: list[str]
) -> tuple[Explained, HbcError | None]:
    """Of several schedules by size each by itself, up to the first that is refused."""
    from hbc.frontend.program.by_size import apart

    parts = [chosen]
    if chosen.schedule is not None and chosen.schedule.choices:
        parts = [replace(chosen, schedule=s) for s in apart(chosen.schedule)]
    found: Explained = []
    for part in parts:
        records, failure = _explained(part, warnings, plain, memory)
        found.append((part, records))
        if failure is not None:
            return found, failure
    return found, None


def _lines_of_each(parts: Explained) -> list[str]:
    lines: list[str] = []
    for part, records in parts:
        lines += [*([""] if lines else []), *_lines(part, records)]
    return lines


def _explained(
    chosen: Chosen, warnings: list[Diagnostic], plain: list[Statement], memory: list[str]
) -> tuple[list[Record], HbcError | None]:
    """What selection found, and the error that it, or what comes after, ended in. `warnings` takes what
    is allowed and slow, `plain` the statements of a kernel in which no instruction was chosen, `memory`
    which arrays share theirs."""
    from hbc.cli.advice import Watch, advice
    from hbc.cli.instruction_set import instructions_of
    from hbc.cli.launched_copies import launched_copies
    from hbc.cli.pipeline import lower_to_kernel
    from hbc.cli.prepare import compile_chosen
    from hbc.cli.show.shared_memory import shared_lines
    from hbc.eqsat.choosing.report import merged
    from hbc.eqsat.choosing.select import select
    from hbc.ir.vectors.reached import reached

    kernel = lower_to_kernel(chosen.pipeline, chosen.schedule, chosen.target, before="select")
    records: list[Record] = []
    try:
        select(kernel, instructions_of(chosen.target), records)
        p, schedule, watch = chosen.pipeline, chosen.schedule, Watch()
        if chosen.target.machine == GPU:  # whether registers suffice only nvcc knows
            done = lower_to_kernel(p, schedule, chosen.target, watch)
            warnings += launched_copies(watch.unselected, done)
        else:
            done = compile_chosen(chosen, watch).kernel
            warnings += advice(p, schedule, chosen.target, watch, done)
            memory += [line for line in shared_lines(done) if line not in memory]
            if watch.loops is not None and all(r.instruction is None for r in records):
                plain += reached(watch.loops)
    except HbcError as failure:
        return merged(records), failure
    return merged(records) or _one_by_one(chosen, kernel), None


def _one_by_one(chosen: Chosen, kernel: Kernel) -> list[Record]:
    """The sums of a kernel that adds up one term at a time, where instructions could do otherwise."""
    from hbc.eqsat.choosing.miss import Miss
    from hbc.eqsat.choosing.report import Record
    from hbc.eqsat.operands.statement import is_product
    from hbc.ir.lang import nodes as ir
    from hbc.ir.lang.walk import free_variables, statements

    if not _has_instructions(chosen):
        return []
    if any(isinstance(n, ir.Store) and is_product(n.value) for n in statements(kernel.body)):
        return []
    records = []
    for f in chosen.pipeline.funcs:
        for number, u in enumerate(f.updates):
            written = {v for index in u.indices for v in free_variables(index)}
            summed = [f"`{r.name}`" for r in u.reduce if r.name not in written]
            if u.op is ir.Op.ADD and summed:
                stage = f"{f.name}.update{f'({number})' if number else ''}"
                miss = Miss(
                    "", f"its sum over {' and '.join(summed)} takes one term at a time",
                    f"vectorize a reduction loop: `{stage}.atomic().vectorize(..)`",
                )  # fmt: skip
                records.append(Record(u.span, f.name, None, miss=miss))
    return records


def _has_instructions(chosen: Chosen) -> bool:
    return bool(chosen.target.instruction_sets or chosen.target.isa)


def _not_held(chosen: Chosen, failure: HbcError | None) -> dict[str, Miss]:
    """What keeps instructions on tiles, by name, from statements that they were chosen for: that there
    are not enough registers, or not configured so."""
    from hbc.cli.instruction_set import instructions_of
    from hbc.codegen.plan.tile_regions import TileError
    from hbc.eqsat.choosing.miss import Miss
    from hbc.ir.lang.types import TILES

    if not isinstance(failure, TileError):
        return {}
    d = failure.diagnostics[0]
    on_tiles = [i.name for i in instructions_of(chosen.target) if i.place.memory in TILES]
    return {name: Miss(name, d.message, d.hint or "") for name in on_tiles}


def _lines(chosen: Chosen, records: Sequence[Record]) -> list[str]:
    from hbc.frontend.program.by_size import where_text

    title = f"{chosen.pipeline.name} for {chosen.target.name}, schedule {chosen.schedule_name}"
    where = "" if chosen.schedule is None else where_text(chosen.schedule)
    title += f" where {where}" if where else ""
    if chosen.written_for:
        title += f", which is written for {chosen.written_for} (`--schedule auto` makes another)"
    if not _has_instructions(chosen):
        return [
            title,
            f"  {chosen.target.name} has no tensor instructions: `hbc targets` lists others",
        ]
    if not records:
        return [
            title,
            "  there is nothing for instructions to do: they add up over vectorized reduction loops",
        ]
    lines = [title]
    for r in records:
        lines += _statement(r)
    return lines


def _statement(r: Record) -> list[str]:
    from hbc.eqsat.choosing.report import rewriting

    where = f"line {_line(r)}: " if r.span else ""
    written = " ".join(r.span.text.split()) if r.span else r.stage
    lines = ["", f"{where}{written}"]
    copies = ", for what is left of a loop" if r.part == "tail" else ""
    copies += f", in each of {r.copies} copies of the statement" if r.copies > 1 else ""
    if r.miss is not None:
        near = f"; the nearest is {r.miss.nearest}" if r.miss.nearest else ""
        return [
            *lines,
            f"  no instruction{copies}: {r.miss.condition}{near}",
            f"  to change that: {r.miss.edit}",
        ]
    sizes = ", ".join(f"{name}={n}" for name, n in r.sizes)
    cost = r.cost
    places = 0 if cost.total >= FEW_CYCLES else 1

    def cycles(n: float) -> str:
        return f"{n:.{places}f}".removesuffix(".0")

    rules = ", ".join(f"{name} ({n})" for name, n in rewriting(r)) or "none"
    bound = [] if r.complete else ["  the search ended at its bound: there may be better"]
    return [
        *lines,
        f"  {r.count} x {r.instruction}{f' with {sizes}' if sizes else ''}{copies}",
        f"  about {cycles(cost.total)} cycles: {cycles(cost.compute)} of the instructions, "
        f"{cycles(cost.memory)} of loads and stores, {cycles(cost.conversion)} of packing",
        *_columns(r),
        f"  rules: {rules}",
        *bound,
    ]


def _columns(r: Record) -> list[str]:
    """What keeps sums in their lanes, where the next product wants them in others."""
    if not r.columns:
        return []
    order = " ".join(map(str, r.columns))
    return [f"  columns {order}: lanes have what the next product takes of them, and nothing moves"]


def _line(r: Record) -> int | None:
    return None if r.span is None else r.span.line


def _as_json(r: Record, not_held: Miss | None, schedule: str | None) -> Json:
    """Stable keys. `not_held`: why registers do not hold what was chosen. `schedule`: which,
    of several."""
    from hbc.eqsat.choosing.report import rewriting

    cost: Json = {
        "total": r.cost.total,
        "compute": r.cost.compute,
        "memory": r.cost.memory,
        "conversion": r.cost.conversion,
    }
    missed = r.miss or not_held
    miss: Json = None
    if missed is not None:
        miss = {
            "nearest": missed.nearest or None,
            "condition": missed.condition,
            "edit": missed.edit,
        }
    return {
        "line": _line(r),
        "stage": r.stage,
        "part": r.part,
        "chosen": r.instruction,
        "sizes": dict(r.sizes),
        "count": r.count,
        "copies": r.copies,
        "cost": None if r.instruction is None else cost,
        "rules": [{"name": name, "matches": n} for name, n in rewriting(r)],
        "complete": r.complete,
        "near_miss": miss,
        "columns": list(r.columns),
        **({} if schedule is None else {"schedule": schedule}),
    }
