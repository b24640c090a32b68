"""The two entry points: every check on the arguments, then the call of the computing function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hbc.codegen.c import codes
from hbc.codegen.c.abi import Abi, ordered
from hbc.codegen.c.probe import FUNCTION as PROBE
from hbc.codegen.text.names import Binding
from hbc.codegen.text.ranges import INDEX_BITS
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import UNARY, Unit
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Argument
from hbc.ir.lang.target import GPU
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import free_variables, substitute

MEASURE = f"""\
/* Bytes from the first element to the end of the last one; or, negated, the thousands of an error
   code, to which the array's number is added. */
static int64_t measure(const void *data, int rank, const int64_t *extents, const int64_t *strides,
                       size_t element)
{{
    bool empty = false;
    for (int d = 0; d < rank; ++d) {{
        if (extents[d] < 0)
            return -{codes.EXTENT};  // EXTENT
        empty = empty || extents[d] == 0;
    }}
    if (empty)
        return 0;
    const int64_t most = INT64_MAX / (int64_t)element - 1;
    int64_t last = 0;
    for (int d = rank - 1; d >= 0; --d) {{
        if (extents[d] == 1)
            continue;
        if (strides[d] <= last)
            return -{codes.STRIDE};  // STRIDE
        if (extents[d] - 1 > (most - last) / strides[d])
            return -{codes.LARGE};  // LARGE
        last += (extents[d] - 1) * strides[d];
    }}
    if (data == NULL)
        return -{codes.NULL};  // NULL
    if ((uintptr_t)data % element != 0)
        return -{codes.ALIGN};  // ALIGN
    return (last + 1) * (int64_t)element;
}}
"""
OVERLAP = """\
/* Whether two stretches of memory share a byte. */
static bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes)
{
    const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return a_bytes > 0 && b_bytes > 0 && x < y + (uintptr_t)b_bytes && y < x + (uintptr_t)a_bytes;
}
"""


@record
class Call:
    """The text of a call of a computing function; whether that returns an error code."""

    text: str
    fails: bool


def strided_entry(
    abi: Abi, call: Call, plain: Call | None, probed: bool, unit: Unit, probed_first: bool = False
) -> None:
    """`int NAME_strided(...)`: checks everything, then calls; where the processor is to be `probed`
    and lacks something, it calls `plain`, or fails (`probed_first`: before it checks anything)."""
    k, out = abi.kernel, unit.out
    out.function(f"int {k.name}_strided", abi.strided(), "")
    with out.braces(), cautious(abi, unit), unread_named(abi, unit):
        probe_processor(probed_first, unit)
        check_arguments(abi, unit)
        if probed and plain is not None:
            with out.braces(f"if ({PROBE}() != 0)"):
                return_call(plain, abi, unit)
        else:
            probe_processor(probed and not probed_first, unit)
        return_call(call, abi, unit)


@contextmanager
def unread_named(abi: Abi, unit: Unit) -> Iterator[None]:
    """Names the scalars on which nothing depends, of which compilers would warn."""
    lines = unit.out.lines
    at = len(lines)
    yield
    words = set(re.findall(r"\w+", "\n".join(lines[at:])))
    names = [abi.names[a.name] for a in abi.kernel.arguments if a.is_scalar]
    pad = " " * 4 * unit.out.depth
    lines[at:at] = [
        f"{pad}(void){name};  // nothing depends on it" for name in names if name not in words
    ]


def probe_processor(probed: bool, unit: Unit) -> None:
    """Returns where the processor is to be asked and lacks something."""
    if probed:
        missing = unit.scope.fresh("missing")
        unit.out.line(f"const int {missing} = {PROBE}();")
        refuse(f"{missing} != 0", missing, unit)


def check_sizes(abi: Abi, unit: Unit, sign: str = "") -> None:
    """Prints what returns from an entry point where a size is not what it can be."""
    for size in abi.kernel.sizes:
        _check_size(abi, size.name, size.fixed, unit, sign)


def check_arguments(abi: Abi, unit: Unit, only: Sequence[Argument] | None = None) -> None:
    """Prints what returns from an entry point with the code of the first thing that is wrong, or with
    success when there is nothing to do. `only`: the arguments that the entry point has, beside which other
    arrays have no gaps; the sizes were checked before."""
    k = abi.kernel
    dense: dict[str, ir.Expr] = {}
    absent: set[str] = set()
    if only is None:
        check_sizes(abi, unit)
    else:
        for a in k.arguments:
            if a not in only:
                dense |= {a.stride_name(d): s for d, s in enumerate(dense_strides(a))}
                absent.add(a.name)
    for check in k.checks:
        if not absent.isdisjoint(free_variables(check.condition)):
            continue
        condition = scalar(substitute(check.condition, dense), unit)
        refuse(f"!{condition.at(UNARY)}", abi.by_message[check.message], unit)
    there = ordered(k) if only is None else only
    for i, a in enumerate(ordered(k), 1):
        if a in there and not a.is_scalar:
            _measure(abi, a, i, unit)
    _check_overlaps(abi, unit, there)
    outputs = [f"{abi.bytes(a)} == 0" for a in there if a.output]
    if outputs:
        refuse(" && ".join(outputs), abi.code("OK"), unit)


def return_call(call: Call, abi: Abi, unit: Unit) -> None:
    if call.fails:
        unit.out.line(f"return {call.text};")
    else:
        unit.out.line(f"{call.text};")
        unit.out.line(f"return {abi.code('OK')};")


def dense_entry(abi: Abi, unit: Unit, suffix: str = "", extra: Sequence[str] = ()) -> None:
    """`int NAME(...)`: the strides follow from the extents. `suffix` belongs to the name; `extra` are
    parameters that are handed on."""
    k, out = abi.kernel, unit.out
    arguments = [abi.names[s.name] for s in k.sizes]
    out.function(f"int {k.name}{suffix}", [*abi.dense(), *extra], "")
    with out.braces(), cautious(abi, unit):
        check_sizes(abi, unit)
        for a in ordered(k):
            arguments += [abi.names[a.name], *(str(scalar(s, unit)) for s in dense_strides(a))]
        arguments += [parameter.split("*")[-1].split(" ")[-1] for parameter in extra]
        out.line(f"return {k.name}{suffix}_strided({', '.join(arguments)});")


@contextmanager
def cautious(abi: Abi, unit: Unit) -> Iterator[None]:
    """Before the checks are through, a product of sizes may overflow: it is formed to wrap, which
    `measure` then notices, because the product of the inner extents comes first."""
    unit.scope.push()
    for s in abi.kernel.sizes:
        unit.scope.bind(s.name, Binding(abi.names[s.name], True, INDEX_BITS))
    yield
    unit.scope.pop()


def dense_strides(a: Argument) -> list[ir.Expr]:
    """Elements between neighbours along every dimension but the last."""
    strides: list[ir.Expr] = []
    inner: ir.Expr | None = None
    for extent in reversed(a.extents[1:]):
        inner = extent if inner is None else ir.Binary(ir.Op.MUL, extent, inner)
        strides.insert(0, inner)
    return strides


def _check_size(abi: Abi, name: str, fixed: int | None, unit: Unit, sign: str) -> None:
    text = abi.names[name]
    if fixed is not None:
        condition = f"{text} != {scalar(ir.Const(fixed, INDEX), unit)}"
    else:
        condition = f"{text} < 0 || {text} > INT64_C(1) << {codes.LARGEST_BITS}"
    refuse(condition, sign + abi.code(f"SIZE_{name}"), unit)


def _measure(abi: Abi, a: Argument, place: int, unit: Unit) -> None:
    name, length = abi.names[a.name], abi.bytes(a)
    extents = ", ".join(str(scalar(e, unit)) for e in a.extents)
    strides = ", ".join([*abi.strides(a), "1"])
    rank, size = len(a.extents), f"sizeof({c_type(a.element)})"
    if unit.target.machine == GPU:  # C++ has no compound literals
        shape = unit.scope.fresh(f"{name}_extents"), unit.scope.fresh(f"{name}_strides")
        unit.out.line(f"const int64_t {shape[0]}[] = {{{extents}}}, {shape[1]}[] = {{{strides}}};")
        sizes = ", ".join(shape)
    else:
        sizes = f"(const int64_t[]){{{extents}}}, (const int64_t[]){{{strides}}}"
    unit.out.line(f"const int64_t {length} = measure({name}, {rank}, {sizes}, {size});")
    refuse(f"{length} < 0", f"{codes.code_value(0, place)} - (int){length}", unit)


def _check_overlaps(abi: Abi, unit: Unit, there: Sequence[Argument]) -> None:
    for code in abi.codes:
        if codes.code_kind(code.value) != codes.OVERLAP:
            continue
        a, b = abi.overlapping(code)
        if a not in there or b not in there:
            continue
        x, y = abi.names[a.name], abi.names[b.name]
        refuse(f"overlap({x}, {abi.bytes(a)}, {y}, {abi.bytes(b)})", code.name, unit)


def refuse(condition: str, code: str, unit: Unit) -> None:
    unit.out.line(f"if ({condition})")
    unit.out.depth += 1
    unit.out.line(f"return {code};")
    unit.out.depth -= 1
