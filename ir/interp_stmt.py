"""Statements as lines of Python: loops of every kind are serial, hints do nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from hbc.ir.interp_buffers import Buffer, InterpError, allocated
from hbc.ir.interp_code import Code
from hbc.ir.interp_expr import buffer_name, emit
from hbc.ir.nodes import (
    Allocate,
    Assert,
    Barrier,
    Block,
    Comment,
    For,
    If,
    LetStmt,
    Prefetch,
    Stmt,
    Store,
)  # fmt: skip
from hbc.ir.numpy_types import poison
from hbc.ir.types import DType


def allocator(strict: bool) -> Callable[[str, DType, int], Buffer]:
    """What `Allocate` calls: a poisoned buffer of so many elements."""

    def allocate(name: str, element: DType, extent: int) -> Buffer:
        if extent < 0:
            raise InterpError(f"allocation of `{name}` with {extent} elements")
        return allocated(name, poison(element, extent), strict)

    return allocate


def emit_statement(code: Code, s: Stmt) -> None:
    """Adds the lines that execute `s`."""
    match s:
        case Block(body=body):
            for one in body:
                emit_statement(code, one)
        case Store():
            _store(code, s)
        case For(var=var, start=start, extent=extent, body=body):
            python = code.fresh("i")
            code.loops[python] = var
            first, count = emit(code, start), emit(code, extent)
            head = f"for {python} in range({first}, {first} + {count}):"
            with code.loop(head), code.bound(code.variables, var, python):
                emit_statement(code, body)
        case LetStmt(name=name, value=value, body=body):
            with code.bound(code.variables, name, emit(code, value)):
                emit_statement(code, body)
        case Allocate(buffer=buffer, element=element, extent=extent, body=body):
            args = f"{buffer!r}, {code.refer(element)}, {emit(code, extent)}"
            with code.bound(code.buffers, buffer, code.assign(f"allocate({args})")):
                emit_statement(code, body)
        case If(condition=condition, then=then, otherwise=otherwise):
            with code.indented(f"if {emit(code, condition)}:"):
                emit_statement(code, then)
            if otherwise is not None:
                with code.indented("else:"):
                    emit_statement(code, otherwise)
        case Assert(condition=condition, message=message):
            code.line(f"if not {emit(code, condition)}: raise InterpError({message!r})")
        case Prefetch() | Barrier() | Comment():
            pass
        case _:
            assert_never(s)


def _store(code: Code, s: Store) -> None:
    index, value = emit(code, s.index), emit(code, s.value)
    mask = None if s.mask is None else emit(code, s.mask)
    buffer = buffer_name(code, s.buffer)
    if s.value.type.lanes > 1:
        lanes = f"{index}, {value}" if mask is None else f"{index}, {value}, {mask}"
        code.line(f"{buffer}.store_lanes({lanes})")
        return
    guard = "" if mask is None else f"if {mask}: "
    code.line(f"{guard}{buffer}.store({index}, {value})")
