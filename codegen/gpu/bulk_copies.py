"""Boxes of arrays that one instruction copies: two launches, of which the host chooses one.

    blocks io { for k stages 4 { bulk copy s[0] = A.f16 at .. by [A_stride0, 1] box [128, 64] else { .. } } }
->  if A_stride0 % 8 == 0 & .. { blocks io { for k stages 4 { bulk copy s[0] = .. box [128, 64] } } }
    else { blocks io version 2 { for k stages 4 { loops } } }

The instruction fills a box with zeros where it reaches beyond the array, and with the array's elements
elsewhere: what the loops leave out must be beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from math import prod

from hbc.codegen.gpu.aligned_launches import strides_of, without_tests
from hbc.ir.algebra.bounds import prove
from hbc.ir.algebra.facts import NOTHING, Facts, Interval
from hbc.ir.algebra.linear import linear, to_expr
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import HbcError, error
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, const_value, eq, ge, gt, le, mod, sub
from hbc.ir.lang.instruction import SharedRows
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import map_stmt, statements, substitute

MOST_EXTENT = 1 << 30
"""Elements along a dimension: where a box begins is an int."""
MOST_STRIDE = 1 << 40  # bytes, less one (CUDA Driver API, cuTensorMapEncodeTiled)
BY_THREADS = 2
"""The version of the launch without such copies."""


def bulk_copies(kernel: Kernel) -> Kernel:
    """The kernel whose pipelined loops copy in bulk where the schedule says so and the strides allow.
    HbcError where no strides would."""
    if not any(isinstance(x, ir.BulkCopy) for x in statements(kernel.body)):
        return kernel
    rows = {
        x.buffer: i.place.shared
        for i in kernel.instructions
        for s in statements(kernel.body)
        if isinstance(s, ir.Store) and isinstance(s.value, ir.Instruct) and s.value.name == i.name
        for n in i.shared
        if isinstance(x := s.value.args[n], ir.Load) and i.place.shared is not None
    }
    return kernel.map_body(lambda s: _outside(s, rows, strides_of(kernel)))


def _outside(s: ir.Stmt, rows: Mapping[str, SharedRows], strides: frozenset[str]) -> ir.Stmt:
    if not isinstance(s, ir.For) or s.kind is not ir.LoopKind.BLOCK:
        return map_stmt(s, lambda e: e, lambda c: _outside(c, rows, strides))
    asked = [x for x in statements(s) if isinstance(x, ir.BulkCopy)]
    if not asked:
        return s
    work = _Bulk(rows)
    copied = work.stmt(s, NOTHING, {})
    if not work.tests:
        raise error(
            f"`{asked[0].buffer}` is copied in bulk, and no loop around it is pipelined", asked[0].span,
            "`pipeline(k, 4)` on the loop that it is computed at: nothing else waits for such copies",
        )  # fmt: skip
    known = {name: n for name, n in work.multiples.items() if name in strides}
    by_threads = _by_threads(s)
    assert isinstance(by_threads, ir.For)
    return ir.If(
        simplify(and_(*dict.fromkeys(work.tests))),
        without_tests(copied, known, True),
        replace(by_threads, marks=replace(by_threads.marks, version=BY_THREADS)),
    )


def _by_threads(s: ir.Stmt) -> ir.Stmt:
    """Without copies in bulk."""
    if isinstance(s, ir.BulkCopy) and s.otherwise is not None:
        return _by_threads(s.otherwise)
    return map_stmt(s, lambda e: e, _by_threads)


@mutable
class _Bulk:
    """A launch with such copies. `tests`: of its arrays; `multiples`: what their strides are known to be
    multiples of."""

    rows: Mapping[str, SharedRows]
    tests: list[ir.Expr] = field(default_factory=list)
    multiples: dict[str, int] = field(default_factory=dict)
    staged: bool = False

    def stmt(self, s: ir.Stmt, facts: Facts, values: Mapping[str, ir.Expr]) -> ir.Stmt:
        match s:
            case ir.BulkCopy() if not self.staged:
                return _by_threads(s)
            case ir.BulkCopy():
                self.check(s, facts, values)
                box = tuple(map(ir.const_index, s.box))  # which zeros are part of
                return replace(s, otherwise=None, needed=box)
            case ir.LetStmt(name=name, value=value):
                values = {**values, name: substitute(value, values)}
                return map_stmt(s, lambda e: e, lambda c: self.stmt(c, facts, values))
            case ir.For():
                last = simplify(sub(add(s.start, s.extent), 1))
                inside = facts.with_range(s.var, Interval(s.start, last))
                around, self.staged = self.staged, self.staged or s.marks.stages > 1
                made = map_stmt(s, lambda e: e, lambda c: self.stmt(c, inside, values))
                self.staged = around
                return made
            case _:
                return map_stmt(s, lambda e: e, lambda c: self.stmt(c, facts, values))

    def check(self, s: ir.BulkCopy, facts: Facts, values: Mapping[str, ir.Expr]) -> None:
        """HbcError where no array could be copied so."""
        rows = self.rows.get(s.buffer)
        if rows is None or rows.bulk is None:
            raise _refused(
                s, "no instruction reads it that says how boxes come to shared memory",
                "`copy_in_bulk` is for factors of products in `wgmma_accumulator`",
            )  # fmt: skip
        bulk, size = rows.bulk, s.element.bytes
        per, lines = rows.row_bytes // size, prod(s.box[:-1])
        if len(s.box) > bulk.dims:
            raise _refused(
                s, f"`{s.source}` has {len(s.box)} dimensions, and {bulk.dims} are the most",
                "give the kernel an input of fewer",
            )  # fmt: skip
        if max((*s.box[:-1], min(per, s.box[-1]))) > bulk.box:
            raise _refused(
                s, f"a box of {' x '.join(map(str, s.box))} elements has more than {bulk.box} along one "
                "dimension", "compute smaller pieces",
            )  # fmt: skip
        if s.box[-1] % per:
            raise _refused(
                s,
                f"its rows of {counted(s.box[-1], 'element')} are no whole pieces of {rows.row_bytes} bytes",
                f"compute pieces with rows of {counted(per, 'element')}, or a multiple",
            )  # fmt: skip
        if lines % rows.rows or (s.box[-1] > per and lines & (lines - 1)):
            raise _refused(
                s, f"{lines} rows are no power of two, or fewer than {rows.rows}",
                f"compute pieces of {rows.rows} rows or more, a power of two",
            )  # fmt: skip
        for at, needed, extent, count in zip(s.at, s.needed, s.extents, s.box, strict=True):
            if not _is_rest(at, needed, extent, count, facts, values):
                raise _refused(
                    s, f"what is needed of it ends before `{s.source}` does, and is filled up with zeros",
                    "compute all of the array, or leave out `copy_in_bulk`",
                )  # fmt: skip
        self.ask(s, bulk.align // size)

    def ask(self, s: ir.BulkCopy, unit: int) -> None:
        """Notes what the host must find of the array."""
        for stride in s.strides[:-1]:
            fixed = const_value(stride)
            if fixed is not None and int(fixed) % unit:
                raise _refused(
                    s, f"rows of `{s.source}` lie {counted(int(fixed), 'element')} apart, no multiple of "
                    f"{unit}",
                    "give the array rows of such a length",
                )  # fmt: skip
            if isinstance(stride, ir.Var):
                self.multiples[stride.name] = unit
            if fixed is None:
                self.tests.append(eq(mod(stride, unit), 0))
                self.tests.append(le(stride, (MOST_STRIDE - 1) // s.element.bytes))
        for extent in s.extents:
            self.tests += [gt(extent, 0), le(extent, MOST_EXTENT)]


def _is_rest(
    at: ir.Expr, needed: ir.Expr, extent: ir.Expr, count: int, facts: Facts,
    values: Mapping[str, ir.Expr],
) -> bool:  # fmt: skip
    """Whether so many elements from there are all that the array has, or all of the box."""
    at, needed = substitute(at, values), substitute(needed, values)
    rest = simplify(sub(extent, at))
    wholes = (ir.const_index(count), rest)
    return const_value(needed) == count or _covers(simplify(needed), wholes, facts)


def _covers(e: ir.Expr, wholes: tuple[ir.Expr, ...], facts: Facts) -> bool:
    """Whether the value is never less than one of these: of the greater of two either suffices, and of the
    lesser both must do."""
    form = linear(e)
    for atom, c in form.terms:
        if c == 1 and isinstance(atom, ir.Binary) and atom.op in (ir.Op.MIN, ir.Op.MAX):
            rest = sub(e, atom)
            parts = (simplify(to_expr(linear(add(rest, one)))) for one in (atom.a, atom.b))
            found = (_covers(part, wholes, facts) for part in parts)
            return all(found) if atom.op is ir.Op.MIN else any(found)
    return any(prove(ge(e, whole), facts) is True for whole in wholes)


def _refused(s: ir.BulkCopy, why: str, cure: str) -> HbcError:
    return error(f"`{s.buffer}` is not copied in bulk: {why}", s.span, cure)
