"""Code of a solution: `hbc synth --target NAME -o FILE`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.files.read_sketch import SHIPPED, importer
from hbc.cli.files.read_source import read_source, source_name
from hbc.cli.show.report import Json, print_json
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean

if TYPE_CHECKING:
    from hbc.codegen.moves.targets import GatherPrinter
    from hbc.ir.lang.types import DType
    from hbc.ir.moves.instruction_table import InstructionTable
    from hbc.ir.moves.movement import Movement
    from hbc.synth.results.solve import Outcome, Solution

FLAG = "vbmi"  # the setting: whether the processor permutes bytes as it does larger elements
FEATURES = {"vbmi": "AVX-512 VBMI", "gfni": "GFNI"}
BITS_TYPES = {8: "u8", 16: "u16", 32: "f32", 64: "f64"}


def printer_of(target: str) -> GatherPrinter:
    """Of a target with a table of costs; all GPUs have one. UsageError where no code is printed for it."""
    from hbc.codegen.moves.targets import PRINTERS
    from hbc.synth.results.cost_table import DEFAULT, WARP, cost_table, targets

    if target in targets() and cost_table(target).model == WARP:
        target = DEFAULT
    if target not in PRINTERS:
        hint = did_you_mean(target, PRINTERS) or f"there are {', '.join(PRINTERS)}"
        raise UsageError(Diagnostic(f"no code is printed for the target `{target}`", hint=hint))
    return PRINTERS[target]


def element_type(named: str | None, bits: object) -> DType:
    """The type of the elements: named, or one of the sketch's width."""
    from hbc.ir.lang.types import DTYPES

    name = named or BITS_TYPES.get(bits if isinstance(bits, int) else 32, "f32")
    if name not in DTYPES or name == "bool":
        hint = did_you_mean(name, DTYPES) or "for example f32, f64, u8, i32"
        raise UsageError(Diagnostic(f"`--type {name}` is no type of elements", hint=hint))
    if isinstance(bits, int) and named is not None and DTYPES[name].bits != bits:
        raise UsageError(
            Diagnostic(
                f"`--type {name}` has {DTYPES[name].bits} bits, and the sketch's elements have {bits}",
                hint=f"--set bits={DTYPES[name].bits}",
            )
        )
    return DTYPES[name]


def moves_table(target: str, bits: int, vbmi: bool) -> InstructionTable | None:
    """The instructions that the target moves elements of so many bits with. UsageError for other widths."""
    from hbc.synth.results.cost_table import cost_table

    printer = printer_of(target)
    if not printer.moves:
        return None
    widths = [instruction.bits for instruction in cost_table(target).instructions]
    if not any(bits in some or not some for some in widths):
        able = " and ".join(str(width) for width in sorted({b for some in widths for b in some}))
        raise UsageError(
            Diagnostic(f"`{target}` moves elements of {able} bits, and these have {bits}")
        )
    from hbc.frontend.sketch.elaborate import load_sets
    from hbc.ir.ground.source import Source
    from hbc.synth.sets.instructions import instruction_table

    file = SHIPPED / printer.moves
    settings = {"bits": str(bits)} | ({"vbmi": "1"} if vbmi else {})
    source = Source(source_name(file), read_source(file))
    definitions, constants = load_sets(source, settings, importer(SHIPPED))
    lanes = printer.register_bits // bits
    return instruction_table(target, definitions, constants, lanes, bits)


def solution_code(
    outcome: Outcome, solution: Solution, target: str, named: str | None, notes: Sequence[str]
) -> str:
    """The text of the solution's code."""
    from hbc.synth.results.code import movement

    constants = outcome.problem.sketch.constants
    dtype = element_type(named, constants.get("bits"))
    return movement_code(
        movement(outcome, solution), target, dtype, bool(constants.get("vbmi", 0)), notes
    )


def movement_code(
    moved: Movement, target: str, dtype: DType, vbmi: bool, notes: Sequence[str]
) -> str:
    printer = printer_of(target)
    bits = dtype.bits if printer.lanes is None else printer.register_bits // printer.lanes(moved)
    table = moves_table(target, bits, vbmi)
    return printer.emit(moved, dtype, table, notes)


def write_code(text: str, out: Path | None) -> None:
    """To the file, or to stdout. UsageError where it cannot be written."""
    if out is None or str(out) == "-":
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as failure:
        raise UsageError(Diagnostic(f"cannot write `{out}`: {failure.strerror}")) from failure


def tell(
    code: str, facts: Sequence[str], data: Mapping[str, Json] | None, out: Path | None
) -> None:  # fmt: skip
    """The code, with `data` as JSON, which is then all that is said; or what is known of it, where it goes
    to a file."""
    if data is not None:
        print_json({**data, "code": code})
    elif out is None:
        click.echo(code, nl=False)
    else:
        for fact in facts:
            click.echo(fact)
    if out is not None:
        write_code(code, out)


def wants_vbmi(settings: Mapping[str, str]) -> bool:
    return FLAG in wanted_features(settings, (FLAG,))


def wanted_features(settings: Mapping[str, str], known: Sequence[str]) -> frozenset[str]:
    """Those that are set to 1. UsageError for a setting that is none."""
    for key, value in settings.items():
        if key not in known or value not in ("0", "1"):
            hint = "; ".join(
                f"`--set {name}=1`: the processor has {FEATURES[name]}" for name in known
            )
            raise UsageError(Diagnostic(f"`--set {key}={value}` has no meaning here", hint=hint))
    return frozenset(key for key, value in settings.items() if value == "1")
