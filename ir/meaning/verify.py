"""Checks that a kernel is well-formed, and that what a pass promised to remove is gone.

Run between passes: `verify(kernel, "unroll")` after the pass of that name. What it finds is a bug of
the pass, so it raises InternalError with the pass and the offending node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Final, NoReturn, assert_never

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.types import CONDITION, I64, INDEX, DType, Type
from hbc.ir.lang.walk import contains, nodes
from hbc.ir.meaning.contraction import refused_sizes, shape
from hbc.ir.meaning.verify_expr import Names, mistakes

PASSES: Final = (
    "lower", "simplify", "partition", "whole-pieces", "once", "vectorize", "unroll",
    "simplify-vectors", "select", "expand-math", "legalize", "promote", "share", "rotate",
)  # fmt: skip
"""Passes in order; a stage that is not among them is checked like the last."""

REMOVED: Final[dict[str, tuple[ir.LoopKind, ...]]] = {
    "vectorize": (ir.LoopKind.VECTOR,),
    "unroll": (ir.LoopKind.UNROLL,),
}
"""Loops that no longer exist after a pass."""

_MAX_SHOWN: Final = 400


def verify(kernel: Kernel, stage: str) -> None:
    """Raises InternalError for the first thing that is wrong after the pass `stage`."""
    names = {s.name: INDEX for s in kernel.sizes}
    buffers: dict[str, DType] = {t.name: t.element for t in kernel.tables}
    for a in kernel.arguments:
        if a.is_scalar:
            names[a.name] = a.element(1)
            continue
        buffers[a.name] = a.element
        names |= {a.stride_name(d): INDEX for d in range(len(a.extents) - 1)}
        for e in a.extents:
            _check_expr(e, {s.name: INDEX for s in kernel.sizes}, buffers, stage)
    if contains(kernel.body, ir.Instruct):
        for n in nodes(kernel.body):
            if isinstance(n, ir.Instruct):
                _check_instruct(n, kernel, stage)
    for check in kernel.checks:
        _check_expr(check.condition, names, buffers, stage)
        _check_type(check.condition, CONDITION, "a check", stage)
    _check_stmt(kernel.body, names, buffers, stage, top=True)


def _check_instruct(e: ir.Instruct, kernel: Kernel, stage: str) -> None:
    """Known, of legal sizes, with operands of its types and lanes. Sums of integers wrap alike with and
    without a sign, and tiles hold either."""
    named = [i for i in kernel.instructions if i.name == e.name]
    if not named:
        _fail(e, f"the kernel has no instruction `{e.name}`", stage)
    i, sizes = named[0], dict(e.sizes)
    refused = refused_sizes(i, sizes)
    if refused is not None:
        _fail(e, refused, stage)
    wanted = [o.element(prod(shape(i, n, sizes))) for n, o in enumerate(i.operands)]
    own = wanted[i.accumulator]
    if own.element.is_int and e.type.element.is_int and e.type.element.bits == own.element.bits:
        wanted[i.accumulator] = own = e.type.element(own.lanes)
    if [a.type for a in e.args] != wanted or e.type != own:
        _fail(e, f"`{e.name}` takes {', '.join(map(str, wanted))}", stage)


def removed_by(stage: str) -> Iterator[ir.LoopKind]:
    """The loop kinds that are gone after a pass."""
    last = PASSES.index(stage) if stage in PASSES else len(PASSES) - 1
    for name, kinds in REMOVED.items():
        if PASSES.index(name) <= last:
            yield from kinds


def _check_stmt(
    s: ir.Stmt, names: Names, buffers: Mapping[str, DType], stage: str, top: bool = False
) -> None:
    while isinstance(s, ir.LetStmt):  # there may be thousands, one inside the other
        _check_expr(s.value, names, buffers, stage)
        _check_new(s, s.name, names, stage)
        names = {**names, s.name: s.value.type}
        s = s.body
    match s:
        case ir.Store():
            _check_store(s, names, buffers, stage)
        case ir.Prefetch(buffer=buffer, index=index, element=element):
            _check_buffer(s, buffer, element, buffers, stage)
            _check_index(s, index, names, buffers, stage)
        case ir.For():
            _check_for(s, names, buffers, stage)
        case ir.Block(body=body):
            for c in body:
                if isinstance(c, ir.Block):
                    _fail(s, "a Block directly inside a Block", stage)
                _check_stmt(c, names, buffers, stage, top)
        case ir.Allocate(buffer=buffer, element=element, extent=extent, body=body):
            _check_index(s, extent, names, buffers, stage)
            if buffer in buffers:
                _fail(s, f"`{buffer}` is allocated where a buffer of that name lives", stage)
            _check_stmt(body, names, {**buffers, buffer: element}, stage, top)
        case ir.If(condition=c, then=then, otherwise=other):
            _check_expr(c, names, buffers, stage)
            _check_type(c, CONDITION, "the condition of an if", stage)
            for branch in (then, other):
                if branch is not None:
                    _check_stmt(branch, names, buffers, stage, top)
        case ir.Assert(condition=c):
            _check_expr(c, names, buffers, stage)
            _check_type(c, CONDITION, "an assertion", stage)
            if not top:
                _fail(s, "an assertion inside a loop", stage)
        case ir.Leave(condition=c):
            _check_expr(c, names, buffers, stage)
            _check_type(c, CONDITION, "what a loop ends by", stage)
        case ir.BulkCopy():
            _check_bulk(s, names, buffers, stage, top)
        case ir.BulkGroup(signal=signal, slot=slot, body=body):
            _check_buffer(s, signal, I64, buffers, stage)
            _check_index(s, slot, names, buffers, stage)
            _check_stmt(body, names, buffers, stage)
        case ir.BulkWait(signal=signal, slot=slot, turn=turn):
            _check_buffer(s, signal, I64, buffers, stage)
            _check_index(s, slot, names, buffers, stage)
            _check_index(s, turn, names, buffers, stage)
        case ir.CopyWait(most=most):
            if most < 0:
                _fail(s, "a wait for all groups of copies but fewer than none", stage)
        case ir.Barrier() | ir.CopyCommit() | ir.Fence() | ir.Comment():
            pass
        case _:
            assert_never(s)


def _check_bulk(
    s: ir.BulkCopy, names: Names, buffers: Mapping[str, DType], stage: str, top: bool
) -> None:
    lists = (s.at, s.needed, s.extents, s.strides)
    if any(len(es) != len(s.box) for es in lists):
        _fail(s, "a copy of a box whose parts have other numbers of dimensions", stage)
    for e in (s.start, *(e for es in lists for e in es)):
        _check_index(s, e, names, buffers, stage)
    for buffer in (s.buffer, s.source):
        _check_buffer(s, buffer, s.element, buffers, stage)
    if s.otherwise is not None:
        _check_stmt(s.otherwise, names, buffers, stage, top)


def _check_store(s: ir.Store, names: Names, buffers: Mapping[str, DType], stage: str) -> None:
    for e in (s.index, s.value, *(() if s.mask is None else (s.mask,))):
        _check_expr(e, names, buffers, stage)
    _check_buffer(s, s.buffer, s.value.type.element, buffers, stage)
    lanes = s.value.type.lanes
    if s.asynchronous and not isinstance(s.value, ir.Load | ir.Instruct):
        _fail(s, "an asynchronous copy of something computed", stage)
    if s.warp and s.atomic is None:
        _fail(s, "lanes of a warp that store together", stage)
    if s.atomic is not None and (s.asynchronous or s.atomic not in ir.ASSOCIATIVE):
        _fail(s, f"an atomic update by `{s.atomic}`", stage)
    _check_type(s.index, INDEX.with_lanes(lanes), "the index of a store", stage)
    if s.mask is not None:
        _check_type(s.mask, CONDITION.with_lanes(lanes), "the mask of a store", stage)


def _check_for(s: ir.For, names: Names, buffers: Mapping[str, DType], stage: str) -> None:
    _check_index(s, s.start, names, buffers, stage)
    _check_index(s, s.extent, names, buffers, stage)
    _check_new(s, s.var, names, stage)
    if s.kind in removed_by(stage):
        _fail(s, f"a {s.kind} loop is left", stage)
    if s.marks.stages < 1:
        _fail(s, f"{s.marks.stages} stages", stage)
    if s.marks.resident is not None and (s.kind is not ir.LoopKind.BLOCK or s.marks.resident < 0):
        _fail(s, f"a loop of kind `{s.kind}` with {s.marks.resident} resident blocks", stage)
    if s.marks.at_once is not None and (s.kind is not ir.LoopKind.BLOCK or s.marks.at_once < 1):
        _fail(s, f"a loop of kind `{s.kind}` with {s.marks.at_once} blocks at once", stage)
    if s.marks.version and s.kind is not ir.LoopKind.BLOCK:
        _fail(s, f"a loop of kind `{s.kind}` of version {s.marks.version}", stage)
    divided = s.kind in (ir.LoopKind.SERIAL, ir.LoopKind.PARALLEL)
    if s.marks.parted is not None and (not divided or s.marks.parted not in (0, 1)):
        _fail(s, f"a loop of kind `{s.kind}` parted {s.marks.parted}", stage)
    _check_stmt(s.body, {**names, s.var: INDEX}, buffers, stage)


def _check_index(
    s: ir.Stmt, e: ir.Expr, names: Names, buffers: Mapping[str, DType], stage: str
) -> None:
    _check_expr(e, names, buffers, stage)
    _check_type(e, INDEX, f"an index of a {type(s).__name__}", stage)


def _check_expr(e: ir.Expr, names: Names, buffers: Mapping[str, DType], stage: str) -> None:
    for node, mistake in mistakes(e, names, buffers):
        _fail(node, mistake, stage)


def _check_type(e: ir.Expr, wanted: Type, what: str, stage: str) -> None:
    if e.type != wanted:
        _fail(e, f"{what} is {e.type}, not {wanted}", stage)


def _check_buffer(
    s: ir.Stmt, name: str, element: DType, buffers: Mapping[str, DType], stage: str
) -> None:
    if name not in buffers:
        _fail(s, f"there is no buffer `{name}`", stage)
    if buffers[name] != element:
        _fail(s, f"`{name}` holds {buffers[name]}, not {element}", stage)


def _check_new(s: ir.Stmt, name: str, names: Names, stage: str) -> None:
    if name in names:
        _fail(s, f"`{name}` is bound where it has a meaning already", stage)


def _fail(node: ir.Node, mistake: str, stage: str) -> NoReturn:
    text = show(node)
    text = text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + " ..."
    raise InternalError(f"after `{stage}`: {mistake}: {text}")
