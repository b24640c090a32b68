"""`hbc instructions`: the tensor instructions that hbc knows, by target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hbc.cli.show import completion
from hbc.cli.show.options import json_option
from hbc.cli.show.report import Json, print_json, print_table
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import load_instructions
from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.lang.instruction import Instruction, InstructionSet, InstructionTarget, Operand
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.contraction import extent_range, largest, multiplications

COLUMNS = ("instruction", "c +=", "a *", "b", "sizes", "products>", "cycles>", "per cycle>", "here")


@click.command("instructions")
@click.option("--target", metavar="NAME", shell_complete=completion.targets,
              help="Only what this target may use [default: all].")  # fmt: skip
@click.option(
    "--isa", "files", multiple=True, metavar="FILE", type=click.Path(path_type=Path),
    help="Describe more instructions with this file; may be repeated.",
)  # fmt: skip
@json_option
def command(target: str | None, files: tuple[Path, ...], as_json: bool) -> None:
    """List the described tensor instructions and which of them this machine can run.

    Each adds to its first operand the products of the others; `products` is how many at the largest
    sizes, `cycles` the latency. docs/instructions.md says how to describe more.
    """
    known = load_instructions([*builtin_descriptions(), *files])
    chosen = [t for t in known.targets if target in (None, t.name)]
    if not chosen:
        names = [t.name for t in known.targets]
        hint = did_you_mean(target or "", names) or f"the targets are {', '.join(names)}"
        raise UsageError(Diagnostic(f"no instructions are described for `{target}`", hint=hint))
    if as_json:
        listed = known.instructions if target is None else known.of_target(target)
        targets: list[Json] = [_target_json(t) for t in chosen]
        print_json({"targets": targets, "instructions": [_as_json(i, known) for i in listed]})
        return
    for number, t in enumerate(chosen):
        if number:
            click.echo()
        later = _reached(t.name)
        rows = [_row(i) for i in known.of_target(t.name)]
        print_table(f"{t.name}: {t.about}{later}", COLUMNS, rows)
    homeless = [i for i in known.instructions if not _targets(i, known)]
    if homeless and target is None:
        click.echo()
        print_table("for no target", COLUMNS, [_row(i) for i in homeless])


def _reached(target: str) -> str:
    """How `hbc compile` is asked for instructions of that name, where it is not by the name."""
    served = [t.name for t in TARGETS.values() if target in (t.name, *t.instruction_sets)]
    if target in served:
        return ""
    return f" (`--target {served[0]}`)" if served else " (`hbc compile` has no such target)"


def _row(i: Instruction) -> list[str]:
    c, *factors = (i.operands[n] for n in (i.accumulator, *i.factors))
    shown = [_operand(c), *(_operand(f) for f in factors)]
    sizes = [f"{s.name} <= {s.most}" + (f" step {s.step}" if s.step > 1 else "") for s in i.sizes]
    products = multiplications(i, largest(i))
    lacking = _missing(i)
    return [
        i.name, *shown, *([""] * (3 - len(shown))), ", ".join(sizes), f"{products:,}",
        f"{i.cost.latency:g}", f"{i.cost.per_cycle:g}",
        f"no {', '.join(lacking)}" if lacking else "yes",
    ]  # fmt: skip


def _operand(o: Operand) -> str:
    return f"{o.element}[{', '.join(show(e) for e in o.extents)}]"


def _missing(i: Instruction) -> list[str]:
    """The features that this processor lacks."""
    return [f.name for f in i.needs if f.cpuinfo not in cpu_features()]


def _targets(i: Instruction, known: InstructionSet) -> list[str]:
    return [t.name for t in known.targets if i in known.of_target(t.name)]


def _target_json(t: InstructionTarget) -> Json:
    uses = [f.name for f in t.uses]
    return {"target": t.name, "about": t.about, "uses": uses, "compiles": t.name in TARGETS}


def _as_json(i: Instruction, known: InstructionSet) -> Json:
    """Stable keys. Operands stand in the order of the description."""
    roles = {n: "accumulator" if n == i.accumulator else "factor" for n in range(len(i.operands))}
    operands: Sequence[Json] = [
        {
            "name": o.name,
            "type": o.element.name,
            "extents": [show(e) for e in o.extents],
            "role": roles[n],
        }
        for n, o in enumerate(i.operands)
    ]
    loops: list[Json] = []
    for row in i.rows:
        least, most, step = extent_range(i, row)
        strides = {o.name: show(s) for o, s in zip(i.operands, row.strides, strict=True)}
        extent: Json = {"least": least, "most": most, "step": step}
        loops.append(
            {"name": row.name, "kind": row.kind.value, "extent": extent, "strides": strides}
        )
    rounding: dict[str, Json]
    if i.operands[i.accumulator].element.is_float:
        r = i.rounding
        rounding = {
            "product": r.product.value, "mode": r.mode.value, "subnormals": r.subnormals.value,
            "order": r.order.value, "chains": r.chains, "group": r.group,
        }  # fmt: skip
    else:
        rounding = {"overflow": i.rounding.overflow.value}
    return {
        "name": i.name,
        "targets": _targets(i, known),
        "place": i.place.name,
        "operands": operands,
        "sizes": [{"name": s.name, "most": s.most, "step": s.step} for s in i.sizes],
        "loops": loops,
        "products": multiplications(i, largest(i)),
        "rounding": rounding,
        "cost": {"latency": i.cost.latency, "per_cycle": i.cost.per_cycle},
        "needs": [f.name for f in i.needs],
        "missing": _missing(i),
        "runs_here": not _missing(i),
    }
