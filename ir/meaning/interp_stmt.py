"""Statements as lines of Python: loops of every kind are serial, hints do nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import TILES, DType, Memory
from hbc.ir.lang.walk import contains
from hbc.ir.meaning import arith
from hbc.ir.meaning.interp_buffers import Buffer, InterpError, allocated
from hbc.ir.meaning.interp_code import Code
from hbc.ir.meaning.interp_expr import buffer_name, emit, offsets
from hbc.ir.meaning.interp_lanes import offsets_of
from hbc.ir.meaning.numpy_types import poison


def allocator(strict: bool) -> Callable[[str, DType, int], Buffer]:
    """What `Allocate` calls: a poisoned buffer of so many elements."""

    def allocate(name: str, element: DType, extent: int) -> Buffer:
        if extent < 0:
            raise InterpError(f"allocation of `{name}` with {counted(extent, 'element')}")
        return allocated(name, poison(element, extent), strict)

    return allocate


def emit_statement(code: Code, s: ir.Stmt) -> None:
    """Adds the lines that execute `s`."""
    match s:
        case ir.Block(body=body):
            for inner in body:
                emit_statement(code, inner)
        case ir.Store():
            _store(code, s)
        case ir.For():
            _for(code, s)
        case ir.LetStmt(name=name, value=value, body=body):
            with code.bound(code.variables, name, emit(code, value)):
                emit_statement(code, body)
        case ir.Allocate():
            _allocate(code, s)
        case ir.If(condition=condition, then=then, otherwise=otherwise):
            with code.indented(f"if {emit(code, condition)}:") as suite:
                emit_statement(code, then)
            if otherwise is not None:
                with code.indented("else:", after=suite):
                    emit_statement(code, otherwise)
        case ir.Assert(condition=condition, message=message):
            code.line(f"if not {emit(code, condition)}: raise InterpError({message!r})")
        case ir.Leave(loop=loop, condition=condition):
            if loop == code.innermost:
                code.line(f"if {emit(code, condition)}: break")
        case ir.CopyCommit(products=products):
            code.line("products.commit()" if products else "copies.commit()")
        case ir.CopyWait(most=most, products=products):
            code.line(f"{'products' if products else 'copies'}.wait({most})")
        case ir.Fence(kind=ir.FenceKind.REGISTERS):
            code.line("products.fence()")
        case ir.BulkCopy(otherwise=otherwise):
            if otherwise is None:
                _bulk_copy(code, s)
            else:
                emit_statement(code, otherwise)
        case ir.BulkGroup(signal=signal, slot=slot, body=body):
            code.signal = buffer_name(code, signal)
            code.line(f"{code.signal}.begin({emit(code, slot)})")
            emit_statement(code, body)
            code.signal = ""
        case ir.BulkWait(signal=signal, slot=slot, turn=turn):
            given = f"{emit(code, slot)}, {emit(code, turn)}"
            code.line(f"{buffer_name(code, signal)}.wait({given})")
        case ir.Prefetch(index=index):
            if contains(index, ir.Load):  # the hint itself reads these
                code.assign(emit(code, index))
        case ir.Barrier() | ir.Fence() | ir.Comment():
            pass
        case _:
            assert_never(s)


def _for(code: Code, s: ir.For) -> None:
    python = code.fresh("i")
    code.loops[python] = s.var
    first, count = emit(code, s.start), emit(code, s.extent)
    thread, in_block = code.thread, code.in_block
    code.in_block = in_block or s.kind is ir.LoopKind.BLOCK
    if s.kind is ir.LoopKind.THREAD:  # which count warps where there are lanes
        code.thread = f"({thread or 0}) * {count} + {python} - {first}"
    around, code.innermost = code.innermost, s.var
    with (
        code.loop(python, f"range({first}, {first} + {count})"),
        code.bound(code.variables, s.var, python),
    ):
        emit_statement(code, s.body)
    code.innermost = around
    code.thread, code.in_block = thread, in_block


def _allocate(code: Code, s: ir.Allocate) -> None:
    """Tiles outside of the loops over a GPU's threads are of each warp."""
    if s.memory is Memory.SIGNAL:
        python = code.assign(f"Signals({s.buffer!r}, {emit(code, s.extent)})")
        with code.bound(code.buffers, s.buffer, python):
            emit_statement(code, s.body)
        return
    made = f"allocate({s.buffer!r}, {code.refer(s.element)}, {emit(code, s.extent)})"
    if s.memory in TILES and code.in_block and not code.thread:
        python = code.assign(f"defaultdict(lambda: {made})")
        code.shared_out.add(python)
    else:
        python = code.assign(made)
    with code.bound(code.buffers, s.buffer, python):
        emit_statement(code, s.body)


def _store(code: Code, s: ir.Store) -> None:
    if s.asynchronous:
        if isinstance(s.value, ir.Instruct):
            _product(code, s, s.value)
        else:
            _copy(code, s)
        return
    if s.atomic is not None:
        _update(code, s, s.atomic)
        return
    strided = offsets_of(s.index) if s.mask is None else None
    if strided is not None:
        base, value = emit(code, strided[0]), emit(code, s.value)
        buffer = buffer_name(code, s.buffer)
        code.line(f"{buffer}.store_offsets({base}, {offsets(code, strided[1])}, {value})")
        return
    index, value = emit(code, s.index), emit(code, s.value)
    mask = None if s.mask is None else emit(code, s.mask)
    buffer = buffer_name(code, s.buffer)
    if s.value.type.lanes > 1:
        lanes = f"{index}, {value}" if mask is None else f"{index}, {value}, {mask}"
        code.line(f"{buffer}.store_lanes({lanes})")
        return
    guard = "" if mask is None else f"if {mask}: "
    code.line(f"{guard}{buffer}.store({index}, {value})")


def _update(code: Code, s: ir.Store, op: ir.Op) -> None:
    """One thread runs after the other: an atomic update is one like any other."""
    if s.value.type.lanes == 1:
        updated = ir.Binary(op, ir.Load(s.buffer, s.index, s.value.type, s.mask), s.value)
        _store(code, replace(s, value=updated, atomic=None, warp=0))
        return
    index, value = emit(code, s.index), emit(code, s.value)
    mask = "None" if s.mask is None else emit(code, s.mask)
    meaning = code.refer(arith.binary(op, s.value.type.element))
    code.line(f"{buffer_name(code, s.buffer)}.update_lanes({index}, {value}, {mask}, {meaning})")


def _copy(code: Code, s: ir.Store) -> None:
    """A copy that lands at a wait."""
    index, value = emit(code, s.index), emit(code, s.value)
    mask = None if s.mask is None else emit(code, s.mask)
    guard = f"if {mask}: " if mask is not None and s.index.type.lanes == 1 else ""
    lanes = f"{index}, {value}" if mask is None or guard else f"{index}, {value}, {mask}"
    code.line(f"{guard}copies.begin({buffer_name(code, s.buffer)}, {lanes})")


def _bulk_copy(code: Code, s: ir.BulkCopy) -> None:
    """A copy that lands with the others of its group."""
    start, *lists = (
        emit(code, s.start),
        *(f"[{', '.join(emit(code, e) for e in es)}]" for es in (s.at, s.extents, s.strides)),
    )
    to, source = buffer_name(code, s.buffer), buffer_name(code, s.source)
    given = f"{to}, {start}, {source}, {', '.join(lists)}, {s.box}"
    code.line(f"{code.signal}.copy({given})" if code.signal else f"Signals.at_once({given})")


def _product(code: Code, s: ir.Store, e: ir.Instruct) -> None:
    """A product that lands at a wait. What it adds to may be the result of one that is under way."""
    to, index = buffer_name(code, s.buffer), emit(code, s.index)
    read, args, outside = [], list[ir.Expr](), dict(code.variables)
    for n, x in enumerate(e.args):
        if not isinstance(x, ir.Load) or x.mask is not None:
            raise InternalError("the interpreter met an asynchronous product of something computed")
        buffer, at = buffer_name(code, x.buffer), emit(code, x.index)
        if x.buffer == s.buffer:
            value = code.assign(f"products.value({buffer}, {at})")
        else:
            value = code.assign(emit(code, x))
            read.append(f"({buffer}, {at}, {value})")
        code.variables[name := f"operand {n}"] = value
        args.append(ir.Var(name, x.type))
    result = emit(code, replace(e, args=tuple(args)))
    code.variables = outside
    code.line(f"products.begin({to}, {index}, {result}, [{', '.join(read)}])")
