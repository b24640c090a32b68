"""`hbc synth --spec`: the instructions for a layout change by name, or for any gather of one array."""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from hbc.cli.show.report import Json, notice, progress
from hbc.cli.sketches.gather_spec import Files, open_question, run_gather, shuffle_facts
from hbc.cli.sketches.synth_code import movement_code, printer_of, tell, wants_vbmi
from hbc.ir.ground.diag import Diagnostic, UsageError

if TYPE_CHECKING:
    from hbc.cli.sketches.layout_moves import Moves
    from hbc.cli.sketches.shuffles import Shuffle
    from hbc.synth.prunings.watch import Watch

DEFAULT = "avx512"


def run_spec(
    text: str, settings: Mapping[str, str], target: str | None, element: str | None,
    files: Files, timeout: float | None, room: int, as_json: bool,
) -> None:  # fmt: skip
    """Prints the code, or writes it; UsageError where the change cannot be read."""
    began = time.monotonic()
    from hbc.cli.sketches.layout_moves import cheapest_moves
    from hbc.cli.sketches.shuffles import FILES, change_shuffle, shuffle_machine
    from hbc.codegen.moves.targets import PRINTERS
    from hbc.frontend.sketch.layout_spec import parse_spec
    from hbc.synth.prunings.watch import Watch

    name = target or DEFAULT
    if "[" in text:
        watch = Watch(deadline(began, timeout), room)
        run_gather(text, settings, name, element, files, watch, as_json)
        return
    if files.proof is not None:
        hint = "write the change as a gather: `[i in 8, j in 8] x[j, i]`"
        raise UsageError(Diagnostic("`--proof` belongs to a gather or a sketch", hint=hint))
    if element is not None:
        hint = "a layout change has its type in its text: `transpose(..., u8)`"
        raise UsageError(Diagnostic("`--type` belongs to a gather or a sketch", hint=hint))
    printer = printer_of(name)
    if not printer.finds_changes:
        able = ", ".join(target for target, other in PRINTERS.items() if other.finds_changes)
        raise UsageError(
            Diagnostic(f"layout changes are not looked for on `{name}`", hint=f"but on {able}")
        )
    vbmi = wants_vbmi(settings)
    spec = parse_spec(text, printer.register_bits)
    with progress() as bar:

        def make_watch() -> Watch:
            return Watch(deadline(began, timeout), room, bar.step)

        moves = cheapest_moves(spec, name, vbmi, make_watch)
        shuffle = None
        if name in FILES and moves.instructions > moves.least:
            watch, machine = make_watch(), shuffle_machine(name, vbmi)
            shuffle = change_shuffle(
                spec.change, spec.dtype.bytes, machine, watch.check, watch.deadline
            )
    bound = max(moves.least, shuffle.bound if shuffle else 0)
    facts = moves.facts
    if shuffle is not None and shuffle.program.cost < moves.instructions:
        count = shuffle.program.cost
        facts = shuffle_facts(spec.title, shuffle)
        code = shuffle_code(moves, shuffle, name, facts)
    else:
        count = moves.instructions
        if count > bound:
            facts = [*facts, open_question(bound, count)]
        code = movement_code(moves.movement, name, spec.dtype, vbmi, facts)
    tell(code, facts, as_object(moves, name, count, bound) if as_json else None, files.code)
    if not as_json and any(not tried.complete for tried in moves.tried):
        notice("stopped by the timeout: fewer instructions may do")


def deadline(began: float, timeout: float | None) -> float | None:
    return None if timeout is None else began + timeout


def shuffle_code(moves: Moves, shuffle: Shuffle, target: str, facts: list[str]) -> str:
    """The C file of a change whose registers are not all made in the same stages."""
    from hbc.codegen.shuffles.c_file import Buffer, emit_registers
    from hbc.frontend.sketch.layout_spec import input_names, output_names

    change = moves.spec.change
    names = input_names(change), output_names(change)
    read = [Buffer(n, prod(s)) for n, s in zip(names[0], change.inputs, strict=True)]
    made = [Buffer(n, prod(s)) for n, s in zip(names[1], change.outputs, strict=True)]
    function = moves.movement.name
    return emit_registers(function, shuffle.program, read, made, moves.spec.dtype, target, facts)


def as_object(moves: Moves, target: str, count: int, bound: int) -> dict[str, Json]:
    """Stable keys. `minimal`: no program has fewer instructions for all registers together; `in_stages`:
    nor has a sequence of stages that make every register once."""
    tried: list[Json] = [
        {"stages": t.stages, "solutions": t.solutions, "complete": t.complete} for t in moves.tried
    ]
    return {
        "spec": moves.spec.title,
        "target": target,
        "function": moves.movement.name,
        "instructions": count,
        "least": moves.least,
        "bound": bound,
        "gap": count - bound,
        "minimal": count == bound,
        "in_stages": count == moves.instructions and moves.minimal,
        "tried": tried,
    }
