"""The integers that a kernel computes indices in: int where the launch finds that they fit, else int64_t.

Where that depends on the arguments, the kernel's text is a template, and two kernels call it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from hbc.codegen.cuda.bulk import MAP
from hbc.codegen.plan.index_width import Bound, Term, index_bounds
from hbc.codegen.text.unit import Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir

NARROW, WIDE = "int", "int64_t"
EITHER = "index_t"
WIDE_SUFFIX, BODY_SUFFIX = "_64", "_block"


@record
class IndexType:
    """`text`: the type of indices in the kernel's text. `fits`: the host's condition for the narrow one
    of two kernels; empty where there is one."""

    text: str
    fits: str = ""


def index_type(loops: Sequence[ir.For], body: ir.Stmt, unit: Unit) -> IndexType:
    """What a kernel with these loops over blocks needs; `unit` knows the host's names."""
    bounds = index_bounds(loops, body)
    if bounds is None:
        return IndexType(WIDE)
    if not bounds:
        return IndexType(NARROW)
    tests = [f"is_int({_sum(bound, unit)})" for bound in bounds]
    return IndexType(EITHER, " && ".join(tests))


def _sum(bound: Bound, unit: Unit) -> str:
    """In floating point, which does not overflow."""
    order = sorted(bound, key=lambda term: (-len(term), term))
    return " + ".join(
        _product(t, bound[t], unit) for t in order if t or bound[t] or len(bound) == 1
    )


def _product(term: Term, factor: float, unit: Unit) -> str:
    if not term:
        return str(ceil(factor))
    bindings = [unit.scope.find(name) for name in term]
    texts = [b.text if b.nonnegative else f"fabs((double){b.text})" for b in bindings]
    first = repr(factor) if factor != 1 else f"(double){texts.pop(0)}"
    return " * ".join([first, *texts])


def kernel_text(
    name: str, indices: IndexType, names: Sequence[str], arrays: Sequence[tuple[str, str]],
    bounds: str, lines: Sequence[str], note: str,
) -> Writer:  # fmt: skip
    """The `__global__` function, or two of them and what both do. `names`: those of indices that it is
    given; `arrays`: declarations and names of pointers; `bounds`: the launch's, as CUDA has them."""
    out = Writer()
    if note:
        out.comment(note)
    parameters = [f"{indices.text} {n}" for n in names] + [text for text, _ in arrays]
    if not indices.fits:
        _global(name, parameters, bounds, out)
        with out.braces():
            out.lines += lines
        return out
    body = f"{name}{BODY_SUFFIX}"
    out.raw(f"template <class {EITHER}>")
    inside = [p.replace(MAP, "const CUtensorMap &") for p in parameters]
    out.function(f"static __device__ __forceinline__ void {body}", inside, "")
    with out.braces():
        out.lines += lines
    arguments = ", ".join([*names, *(array for _, array in arrays)])
    for suffix, own in (("", NARROW), (WIDE_SUFFIX, WIDE)):
        out.blank()
        parameters = [f"{own} {n}" for n in names] + [text for text, _ in arrays]
        _global(f"{name}{suffix}", parameters, bounds, out)
        with out.braces():
            out.line(f"{body}<{own}>({arguments});")
    return out


def _global(name: str, parameters: list[str], bounds: str, out: Writer) -> None:
    out.function(f'extern "C" __global__ void __launch_bounds__({bounds}) {name}', parameters, "")
