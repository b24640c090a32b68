"""Arrays whose rows the computation takes to follow each other: where they lie apart, it has copies.

`flatten` makes such kernels. The entry point for strides calls this function, which calls the computing one.
"""

from __future__ import annotations

import re

from hbc.codegen.c.abi import Abi, ordered
from hbc.codegen.c.entry import Call, dense_strides
from hbc.codegen.text.functions import ALLOCATE, RELEASE_MEMORY
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, const, eq, lt, mul, not_, or_
from hbc.ir.lang.kernel import Argument, Kernel

COPY = """\
/* Copies an array of `rank` dimensions, the last of which has no gaps. Strides are in elements. */
static void copy_array(char *to, const int64_t *to_strides, const char *from,
                       const int64_t *from_strides, int rank, const int64_t *extents,
                       size_t element)
{
    if (rank == 1) {
        memcpy(to, from, (size_t)extents[0] * element);
        return;
    }
    for (int64_t i = 0; i < extents[0]; ++i)
        copy_array(to + i * to_strides[0] * (int64_t)element, to_strides + 1,
                   from + i * from_strides[0] * (int64_t)element, from_strides + 1, rank - 1,
                   extents + 1, element);
}
"""


@record
class _Copied:
    """An argument that is copied where the condition `gaps` holds. Names in C: whether it is; the copy; the
    strides and, of an output, the array that the caller gave."""

    argument: Argument
    gaps: ir.Expr
    test: str
    copy: str
    strides: str
    given: str


def has_gaps(k: Kernel, a: Argument) -> ir.Expr | None:
    """When an argument is copied: a condition over sizes and strides; None if never."""
    found: list[ir.Expr] = []
    for g in k.gapless:
        if g.name != a.name:
            continue
        last = g.dim + 2 == len(a.extents)
        inner = const(1) if last else ir.Var(a.stride_name(g.dim + 1))
        follows = eq(ir.Var(a.stride_name(g.dim)), mul(a.extents[g.dim + 1], inner))
        found.append(and_(g.where, not_(or_(eq(a.extents[g.dim], const(1)), follows))))
    return simplify(and_(lt(const(0), _count(a)), or_(*found))) if found else None


def _count(a: Argument) -> ir.Expr:
    """Its elements."""
    count: ir.Expr = const(1)
    for extent in a.extents:
        count = mul(count, extent)
    return simplify(count)


def without_gaps(abi: Abi, call: Call, unit: Unit) -> Call:
    """Prints the function that copies what has gaps and makes the call; `call` itself where nothing may have
    any."""
    unit.scope.push()
    copied = [
        _Copied(a, test, *(unit.scope.fresh(f"{a.name}_{n}") for n in ("gaps", "copy", "strides", "given")))
        for a in ordered(abi.kernel)
        if (test := has_gaps(abi.kernel, a)) is not None
    ]  # fmt: skip
    if not copied:
        unit.scope.pop()
        return call
    for name, text in (("allocate", ALLOCATE), ("release", RELEASE_MEMORY), ("copy_array", COPY)):
        unit.prelude.add(name, text)
    out, body = unit.out, Writer(depth=1)
    unit.out = body
    _body(abi, copied, call, unit)
    unit.out = out
    unit.scope.pop()
    said = body.names()
    parameters = {p: re.split(r"[ *]", p)[-1] for p in abi.strided()}
    used = [p for p, name in parameters.items() if name in said]
    out.blank()
    out.raw(
        "/* The computation; on copies of arrays with gaps between rows, where it takes none. */"
    )
    out.function(f"static int {abi.kernel.name}_without_gaps", used, "")
    with out.braces():
        out.lines += body.lines
    given = ", ".join(parameters[p] for p in used)
    return Call(f"{abi.kernel.name}_without_gaps({given})", True)


def _body(abi: Abi, copied: list[_Copied], call: Call, unit: Unit) -> None:
    out = unit.out
    out.line(f"int status = {abi.code('MEMORY')};")
    for c in copied:
        out.line(f"const bool {c.test} = {scalar(c.gaps, unit)};")
    for c in copied:
        kind = c_type(c.argument.element)
        made = f"allocate({scalar(_count(c.argument), unit)}, sizeof({kind}))"
        out.line(f"{kind} *const {c.copy} = {c.test} ? {made} : NULL;")
    there = [f"({c.copy} != NULL || !{c.test})" for c in copied]
    with out.braces(f"if ({' && '.join(there)})"):
        for c in copied:
            _take_copy(abi, c, call, unit)
        if call.fails:
            out.line(f"status = {call.text};")
        else:
            out.line(f"{call.text};")
            out.line("status = 0;")
        for c in copied:
            if c.argument.output:
                out.line(f"if ({c.test} && status == 0)")
                out.depth += 1
                _copy(c, (c.given, c.strides), (c.copy, _dense(c.argument, unit)), unit)
                out.depth -= 1
    for c in reversed(copied):
        out.line(f"release({c.copy});")
    out.line("return status;")


def _take_copy(abi: Abi, c: _Copied, call: Call, unit: Unit) -> None:
    """From here on the names of the argument and its strides, as far as the call has them, mean the copy."""
    a, out, name = c.argument, unit.out, abi.names[c.argument.name]
    given = ", ".join([*abi.strides(a), "1"])
    out.line(f"const int64_t {c.strides}[] = {{{given}}};")
    if a.output:
        out.line(f"{c_type(a.element)} *const {c.given} = {name};")
    with out.braces(f"if ({c.test})"):
        if not a.output:
            _copy(c, (c.copy, _dense(a, unit)), (name, c.strides), unit)
        words = set(re.findall(r"\w+", call.text))
        pairs = zip(abi.strides(a), dense_strides(a), strict=True)
        taken = [(name, c.copy), *((s, str(scalar(dense, unit))) for s, dense in pairs)]
        for word, value in taken:
            if word in words:
                out.line(f"{word} = {value};")


def _dense(a: Argument, unit: Unit) -> str:
    strides = ", ".join([*(str(scalar(s, unit)) for s in dense_strides(a)), "1"])
    return f"(const int64_t[]){{{strides}}}"


def _copy(c: _Copied, to: tuple[str, str], there: tuple[str, str], unit: Unit) -> None:
    a = c.argument
    extents = ", ".join(str(scalar(e, unit)) for e in a.extents)
    unit.out.line(
        f"copy_array((char *){to[0]}, {to[1]}, (const char *){there[0]}, {there[1]}, {len(a.extents)}, "
        f"(const int64_t[]){{{extents}}}, sizeof({c_type(a.element)}));"
    )
