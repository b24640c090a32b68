"""A buffer of registers in which a chain of instructions is done: its sources, then what each step makes."""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType
from hbc.ir.movement.chain import Chain, fine
from hbc.ir.movement.items import Registers
from hbc.ir.movement.library import filled
from hbc.ir.vectors.take import constants


def registers(name: str, t: DType, lanes: int, sources: int, chain: Chain) -> Registers:
    """The buffer, of registers of so many lanes."""
    return Registers(name, t, (sources + len(chain.steps)) * lanes)


def register(number: int, lanes: int) -> ir.Expr:
    """Where one of them lies."""
    return ir.Ramp(ir.const_index(number * lanes), ir.const_index(1), lanes)


def put(name: str, number: int, value: ir.Expr) -> ir.Store:
    """One of them becomes the value."""
    return ir.Store(name, register(number, value.type.lanes), value)


def steps(name: str, t: DType, lanes: int, sources: int, chain: Chain) -> list[ir.Stmt]:
    """The instructions of a chain, each the lanes of the registers that it reads. Those of which nothing is
    wanted are the first."""
    made: list[ir.Stmt] = []
    for number, step in enumerate(chain.steps):
        row = fine(filled(step.row), lanes // len(step.row))
        picks = tuple(step.operands[u // lanes] * lanes + u % lanes for u in row)
        made.append(put(name, sources + number, ir.Load(name, constants(picks), t(lanes))))
    return made
