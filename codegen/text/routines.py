"""Functions for statements that do the same elsewhere (`codegen/plan/alike.py`), and the calls of them."""

from __future__ import annotations

import re
from collections.abc import Callable

from hbc.codegen.plan.alike import Routine, Use
from hbc.codegen.text.names import Binding, Scope
from hbc.codegen.text.ranges import INDEX_BITS, nonnegative
from hbc.codegen.text.scalar import scalar, value_bits
from hbc.codegen.text.spelling import c_type, value_type
from hbc.codegen.text.unit import Buffer, Called, Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX

_NUMBERED = re.compile(r"[_\d]*(#.*)?$")
_WORD = re.compile(r"\w+")


def call(use: Use, unit: Unit) -> None:
    """Prints the call, and notes what is known of its arguments."""
    routine = use.routine
    called = unit.called.get(id(routine))
    if called is None:
        called = unit.called[id(routine)] = Called(routine, _name(routine, unit.scope))
        called.known = [Binding("", True, None) for _ in routine.parameters]
    extents = [unit.buffers[b].extent for b in use.buffers]
    if called.uses:
        extents = [min(pair) for pair in zip(extents, called.extents, strict=True)]
    called.extents = extents
    called.uses += 1
    if use.note:
        unit.out.blank()
        unit.out.comment(use.note)
    texts = [unit.buffers[b].text for b in use.buffers]
    for n, e in enumerate(use.values):
        texts.append(str(scalar(e, unit)))
        called.known[n] = _both(called.known[n], e, unit, called.uses == 1)
    unit.out.line(f"{called.name}({', '.join(texts)});")


def _both(known: Binding, e: ir.Expr, unit: Unit, first: bool) -> Binding:
    """What holds of the values so far, and of this one."""
    bits = value_bits(e, unit)
    if not first and (bits is None) != (known.bits is None):
        bits = max(bits or INDEX_BITS, known.bits or INDEX_BITS)
    elif bits is not None and known.bits is not None:
        bits = max(bits, known.bits)
    return Binding("", known.nonnegative and nonnegative(e, unit.scope), bits)


def _name(routine: Routine, scope: Scope) -> str:
    stems = [*dict.fromkeys(_NUMBERED.sub("", b) or b for b in routine.fills)]
    stem = stems[0] if len(stems) == 1 else routine.fills[0].partition("#")[0]
    return scope.fresh_in_file(f"fill_{stem}")


def print_functions(unit: Unit, statement: Callable[[ir.Stmt, Unit], None]) -> None:
    """Prints the functions that have been called."""
    for called in unit.called.values():
        _function(called, unit, statement)
        unit.out.blank()
    unit.called.clear()


def _function(called: Called, unit: Unit, statement: Callable[[ir.Stmt, Unit], None]) -> None:
    routine, scope, buffers, out = called.routine, unit.scope, unit.buffers, unit.out
    unit.scope = Scope([scope.frames[0]])
    unit.scope.push()
    unit.buffers = dict(buffers)
    texts, variables = list[str](), list[str]()
    for (name, element), extent in zip(routine.buffers.items(), called.extents, strict=True):
        variables.append(variable := unit.scope.fresh(name.partition("#")[0]))
        unit.buffers[name] = Buffer(variable, element, extent=extent)
        const = "" if name in routine.stored else "const "
        texts.append(f"{const}{c_type(element)} *restrict {variable}")
    for p, known in zip(routine.parameters, called.known, strict=True):
        variables.append(variable := unit.scope.fresh(p.hint.rpartition("#")[2].strip("~")))
        unit.scope.bind(p.name, Binding(variable, known.nonnegative, known.bits))
        texts.append(f"{'int64_t' if p.type == INDEX else value_type(p.type.element)} {variable}")
    unit.scope.push()
    unit.out = Writer(depth=1)
    statement(routine.body, unit)
    body = unit.out
    unit.scope, unit.buffers, unit.out = scope, buffers, out
    unit.out.raw(f"/* Fills {_all(routine.fills)}. */")
    unit.out.function(f"static void {called.name}", texts, "")
    words = set(_WORD.findall("\n".join(body.lines)))
    with unit.out.braces():
        for variable in variables:
            if variable not in words:
                unit.out.line(f"(void){variable};  // of lanes that are never live")
        unit.out.lines += body.lines


def _all(fills: tuple[str, ...]) -> str:
    names = [*dict.fromkeys(name.partition("#")[0] for name in fills)]
    if len(names) == 1:
        return names[0]
    return (
        f"{', '.join(names[:-1])} and {names[-1]}"
        if len(names) < 5
        else f"{names[0]} .. {names[-1]}"
    )
