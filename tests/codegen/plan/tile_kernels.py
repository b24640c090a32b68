"""Kernels with tile registers as IR text: products of matrices in blocks of tiles, written by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.frontend.isa.load import load_instructions
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.types import DType, Memory
from hbc.ir.meaning.contraction import shape


@cache
def known() -> tuple[Instruction, ...]:
    return load_instructions(builtin_descriptions()).instructions


PRODUCTS = tuple(i.name for i in known() if i.place.memory is Memory.AMX_TILE)


def instruction(name: str) -> Instruction:
    return next(i for i in known() if i.name == name)


def read(text: str) -> Kernel:
    return read_kernel(text, known())


@dataclass(frozen=True, slots=True)
class Product:
    """One instruction at given sizes, and the text of its statements on tiles of given names."""

    name: str
    m: int
    n: int
    k: int

    @property
    def of(self) -> Instruction:
        return instruction(self.name)

    def _shape(self, operand: int) -> tuple[int, int]:
        rows, *row = shape(self.of, operand, {"M": self.m, "N": self.n, "K": self.k})
        return rows, prod(row)

    def type(self, operand: int) -> DType:
        return self.of.operands[operand].element

    @property
    def group(self) -> int:
        """Rows of B that lie interleaved."""
        return 4 // self.type(1).bytes

    def allocate(self, operand: int, tile: str) -> str:
        count = prod(self._shape(operand))
        return f"allocate {tile}: {self.type(operand)}[{count}] in amx_tile"

    def whole(self, operand: int, tile: str) -> str:
        return f"{tile}.{self._vector(operand)}[{self._all(operand)}]"

    def _vector(self, operand: int) -> str:
        count = prod(self._shape(operand))
        return f"{self.type(operand)}x{count}" if count > 1 else f"{self.type(operand)}"

    def _all(self, operand: int) -> str:
        count = prod(self._shape(operand))
        return f"ramp(0, 1, {count})" if count > 1 else "0"

    def _stored(self, operand: int, tile: str) -> str:
        return f"{tile}[{self._all(operand)}]"

    def zero(self, tile: str) -> str:
        t, count = self.type(0), prod(self._shape(0))
        zero = "0.0" if t.is_float else "0"
        value = f"x{count}({zero}:{t})" if count > 1 else f"{zero}:{t}"
        return f"{self._stored(0, tile)} = {value}"

    def _rows(self, operand: int, base: str, stride: str) -> str:
        rows, columns = self._shape(operand)
        row = f"ramp({base}, 1, {columns})" if columns > 1 else base
        steps = f"x{columns}({stride})" if columns > 1 else stride
        return row if rows == 1 else f"ramp({row}, {steps}, {rows})"

    def load(self, operand: int, tile: str, buffer: str, base: str, stride: str) -> str:
        where = self._rows(operand, base, stride)
        return f"{self._stored(operand, tile)} = {buffer}.{self._vector(operand)}[{where}]"

    def store(self, tile: str, buffer: str, base: str, stride: str) -> str:
        return f"{buffer}[{self._rows(0, base, stride)}] = {self.whole(0, tile)}"

    def multiply(self, c: str, a: str, b: str) -> str:
        head = f"{self.name}:{self._vector(0)},M={self.m},N={self.n},K={self.k}"
        operands = ", ".join(self.whole(n, tile) for n, tile in enumerate((c, a, b)))
        return f"{self._stored(0, c)} = instruct<{head}>({operands})"

    def header(self, name: str, rows: str, columns: str, depth: str) -> str:
        """A kernel of three matrices, B in groups of rows; `depth` counts groups."""
        g = self.group
        return f"""kernel {name}
size P
size Q
size S
input A: {self.type(1)}[{rows}, {depth} * {g}]
input B: {self.type(2)}[{depth}, {columns}, {g}]
output C: {self.type(0)}[{rows}, {columns}]
instruction {self.name}
"""


def nested(allocations: list[str], body: list[str]) -> str:
    """The statements inside of the allocations."""
    inner = "\n".join(body)
    for a in reversed(allocations):
        inner = f"{a} {{\n{inner}\n}}"
    return inner


def gemm(
    p: Product, down: int = 1, across: int = 1, *, outer: str = "for", name: str = "gemm"
) -> Kernel:
    """C = A B in blocks of `down` by `across` tiles; the sizes P, Q and S count blocks and steps.
    `outer` is the kind of the loop over rows."""
    rows, columns, depth = f"P * {down * p.m}", f"Q * {across * p.n}", f"S * {p.k // p.group}"
    return read(
        p.header(name, rows, columns, depth)
        + "{\n" + block(p, down, across, outer) + "\n}\n"
    )  # fmt: skip


def block(p: Product, down: int, across: int, outer: str = "for", end: str = "") -> str:
    """The loops of `gemm`: a step loads tiles of A, then of B one after the other. `end` makes names
    different."""
    sums = {(i, j): f"acc{end}_{i * across + j}" for i in range(down) for j in range(across)}
    left, right = [f"a{end}_{i}" for i in range(down)], [f"b{end}_{j}" for j in range(across)]
    row = {i: f"(io * {down * p.m} + {i * p.m})" for i in range(down)}
    column = {j: f"(jo * {across * p.n} + {j * p.n})" for j in range(across)}
    g = p.group
    step = [
        p.load(1, left[i], "A", f"{row[i]} * A_stride0 + ko * {p.k}", "A_stride0")
        for i in range(down)
    ]
    for j in range(across):
        base = f"ko * {p.k // g} * B_stride0 + {column[j]} * B_stride1"
        step.append(p.load(2, right[j], "B", base, "B_stride0"))
        step += [p.multiply(sums[i, j], left[i], right[j]) for i in range(down)]
    operands = [p.allocate(1, t) for t in left] + [p.allocate(2, t) for t in right]
    body = [p.zero(t) for t in sums.values()]
    body.append(f"for ko from 0 count S {{\n{nested(operands, step)}\n}}")
    body += [
        p.store(t, "C", f"{row[i]} * C_stride0 + {column[j]}", "C_stride0")
        for (i, j), t in sums.items()
    ]
    inner = nested([p.allocate(0, t) for t in sums.values()], body)
    return f"{outer} io from 0 count P {{\nfor jo from 0 count Q {{\n{inner}\n}}\n}}"
