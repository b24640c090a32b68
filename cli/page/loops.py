"""The loops that the C has, with about what each costs at the sizes of the example.

Counted are vector operations, loads and stores as the printer will write them, at the mean of the variables
of the loops around; index arithmetic is free. A core of today starts two of arithmetic, two loads and a store
in a cycle (Intel's and AMD's optimization guides: Golden Cove, Zen 4); the longest of the three is the least
that a loop takes, out of cache and latencies it takes more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import INDEX, TILES, Memory, Type
from hbc.ir.lang.walk import inner_statements, nodes, statements

HELD = TILES | {Memory.REGISTER}
CALL, DIVISION = 16.0, 8.0  # in additions
PER_CYCLE = {"arithmetic": 2.0, "loads": 2.0, "stores": 1.0}

Values = Mapping[str, float | None]


@record
class Cost:
    """Instructions, and the bytes that those to memory move."""

    arithmetic: float = 0.0
    loads: float = 0.0
    stores: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.arithmetic + other.arithmetic, self.loads + other.loads,
            self.stores + other.stores, self.bytes + other.bytes,
        )  # fmt: skip

    def times(self, n: float) -> Cost:
        return Cost(self.arithmetic * n, self.loads * n, self.stores * n, self.bytes * n)

    @property
    def bound(self) -> str:
        """What takes the most cycles."""
        return max(PER_CYCLE, key=lambda kind: getattr(self, kind) / PER_CYCLE[kind])

    @property
    def cycles(self) -> float:
        return max(float(getattr(self, kind)) / n for kind, n in PER_CYCLE.items())


@mutable
class Loop:
    """A loop of the IR: `runs`, how often its body does in all; None where data or no example decides."""

    depth: int
    text: str
    note: str
    runs: float | None = None
    cost: Cost | None = None


def costs_of(kernel: Kernel, target: Target, sizes: Mapping[str, int]) -> list[Loop]:
    """The loops in order, those inside of others below them."""
    allocated = (s for s in statements(kernel.body) if isinstance(s, ir.Allocate))
    held = frozenset(a.buffer for a in allocated if a.memory in HELD)
    walk = _Walk(kernel, target, held)
    values = {name: float(n) for name, n in sizes.items()}
    walk.statement(kernel.body, values, 1.0 if sizes or not kernel.sizes else None, 0)
    return walk.loops


@mutable
class _Walk:
    """`held`: buffers in registers; touching them is free."""

    kernel: Kernel
    target: Target
    held: frozenset[str]
    loops: list[Loop] = field(default_factory=list)

    def statement(self, s: ir.Stmt, values: Values, runs: float | None, depth: int) -> Cost:
        """Once through, at these values."""
        match s:
            case ir.For():
                return self.loop(s, values, runs, depth)
            case ir.If(condition=condition, then=then, otherwise=other):
                holds = evaluated(condition, values)
                ways = [(then, True), *([] if other is None else [(other, False)])]
                total = self.expression(condition)
                for way, taken in ways:
                    asked = holds is None or bool(holds) == taken
                    cost = self.statement(way, values, runs if asked else 0.0, depth)
                    total += cost if asked else Cost()
                return total
            case ir.LetStmt(name=name, value=value, body=body):
                inside = {**values, name: _number(value, values)}
                return self.expression(value) + self.statement(body, inside, runs, depth)
            case ir.Store(buffer=buffer, value=value, index=index, mask=mask):
                stored = self.moved(buffer, index, value.type, "stores")
                asked_first = Cost() if mask is None else self.expression(mask)
                return stored + asked_first + self.expression(value)
            case _:
                total = Cost()
                for inner in inner_statements(s):
                    total += self.statement(inner, values, runs, depth)
                return total

    def loop(self, s: ir.For, values: Values, runs: float | None, depth: int) -> Cost:
        extent, start = _number(s.extent, values), _number(s.start, values)
        trips = None if extent is None else max(extent, 0.0)
        of_all = None if runs is None or trips is None else runs * trips
        kind = "" if s.kind is ir.LoopKind.SERIAL else f"{s.kind.value} "
        text = f"{kind}{s.var} in {_short(s.extent)}"
        row = Loop(depth, text, s.note, of_all)
        self.loops.append(row)
        mean = None if start is None or trips is None else start + max(trips - 1, 0.0) / 2
        inside = self.statement(s.body, {**values, s.var: mean}, of_all, depth + 1)
        if trips is None:
            return inside
        if of_all is not None and runs is not None:
            row.cost = inside.times(trips * runs)
        return inside.times(trips)

    def expression(self, e: ir.Expr) -> Cost:
        total = Cost()
        for n in nodes(e):
            total += self.node(n)
        return total

    def node(self, n: ir.Node) -> Cost:
        match n:
            case ir.Load(buffer=buffer, index=index, type=t):
                return self.moved(buffer, index, t, "loads")
            case ir.Instruct(name=name):
                # Half of what starts in a cycle is what two ports of one would.
                per_cycle = self.kernel.instruction(name).cost.per_cycle
                return Cost(arithmetic=PER_CYCLE["arithmetic"] / per_cycle)
            case ir.Call(type=t):
                return Cost(arithmetic=CALL * self.vectors(t))
            case ir.Binary(op=ir.Op.DIV | ir.Op.MOD, type=t) if t != INDEX:
                return Cost(arithmetic=DIVISION * self.vectors(t))
            case ir.Binary(op=ir.Op.ADD | ir.Op.SUB, type=t, a=a, b=b) if t.element.is_float:
                fused = any(isinstance(x, ir.Binary) and x.op is ir.Op.MUL for x in (a, b))
                return Cost(arithmetic=0.0 if fused else self.vectors(t))
            case ir.Binary() | ir.Unary() | ir.Select() | ir.Cast() | ir.Gather() if (
                n.type != INDEX
            ):
                return Cost(arithmetic=self.vectors(n.type))
            case ir.VectorReduce(value=value):
                return Cost(arithmetic=self.vectors(value.type))
            case _:
                return Cost()

    def moved(self, buffer: str, index: ir.Expr, t: Type, kind: Literal["loads", "stores"]) -> Cost:
        """By vectors where elements lie side by side, else one by one."""
        if buffer in self.held:
            return Cost()
        together = isinstance(index, ir.Ramp | ir.Broadcast) or t.lanes == 1
        count = self.vectors(t) if together else float(t.lanes)
        moved = float(t.lanes * t.element.bytes)
        return (
            Cost(loads=count, bytes=moved) if kind == "loads" else Cost(stores=count, bytes=moved)
        )

    def vectors(self, t: Type) -> float:
        return max(1.0, t.lanes * t.element.bits / max(self.target.vector_bits, t.element.bits))


def _number(e: ir.Expr, values: Values) -> float | None:
    made = evaluated(e, values) if e.type == INDEX else None
    return None if made is None else float(made)


def _short(e: ir.Expr) -> str:
    text = show(e)
    return text if len(text) <= 40 else f"{text[:37]}..."


def listed(loops: list[Loop]) -> Iterator[Loop]:
    """Those that run at the sizes; where none is known to, all."""
    some = [loop for loop in loops if loop.runs != 0]
    yield from some or loops


def count_text(n: float) -> str:
    """At three digits: `12`, `4.19 M`."""
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= scale:
            return f"{n / scale:.3g} {unit}"
    return f"{n:.3g}"
