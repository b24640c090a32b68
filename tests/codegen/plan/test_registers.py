"""Random programs on tiles do the same when every tile is the register that the plan gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
import pytest
from tile_kernels import Product, nested, read
from tile_machines import poisoned_outputs
from tile_numbers import random

from hbc.codegen.plan.tile_plan import TilePlan, plan_tiles
from hbc.codegen.plan.tile_regions import Region
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import (
    Allocate,
    Broadcast,
    Const,
    Expr,
    Load,
    Ramp,
    Stmt,
    Store,
    const_index,
)  # fmt: skip
from hbc.ir.lang.types import DTYPES, Memory
from hbc.ir.lang.walk import block, map_children, map_stmt
from hbc.ir.meaning.interp import run as interpret
from hbc.ir.meaning.verify import verify

SHAPES = tuple(Product("tdpbusd", m, n, k) for m, n, k in [(2, 3, 4), (1, 2, 4)])
PROGRAMS = 40  # for each seed
MOST = 14  # tiles in scope at once
LARGEST = 24  # elements of a tile


@dataclass(slots=True)
class Writer:
    """Writes a program that reads no tile before it is written. `ready`: tiles that are written."""

    random: Random
    count: int = 0
    scope: list[tuple[str, int, Product]] = field(default_factory=list)

    def body(self, depth: int, ready: set[str]) -> str:
        lines = [self.statement(depth, ready) for _ in range(self.random.randint(1, 4))]
        return "\n".join(filter(None, lines))

    def statement(self, depth: int, ready: set[str]) -> str:
        kinds = ["allocate", "for", "if"] if depth < 4 else []
        if not self.scope and kinds:  # over the edge of a parallel loop no tile lives
            kinds = ["allocate", "allocate", "for", "parallel"]
        steps = ["write", "product", "product"] if self.scope else []
        if not kinds + steps:
            return ""
        match self.random.choice(kinds + steps):
            case "allocate":
                return self.allocate(depth, ready)
            case "for" | "parallel" as kind:
                times, self.count = self.random.choice((0, 2, 2, 3)), self.count + 1
                variable, inner = f"i{self.count}", set(ready)
                body = self.body(depth + 1, inner)
                ready |= inner if times else set()
                return f"{kind} {variable} from 0 count {times} {{\n{body}\n}}"
            case "if":
                then, otherwise = set(ready), set(ready)
                texts = [self.body(depth + 1, side) for side in (then, otherwise)]
                condition = self.random.choice(["0 < 1", "1 < 0", "0 < X_stride0"])
                ready |= then & otherwise
                return f"if {condition} {{\n{texts[0]}\n}} else {{\n{texts[1]}\n}}"
            case "write":
                return self.write(ready)
            case _:
                return self.product(ready)

    def allocate(self, depth: int, ready: set[str]) -> str:
        """Tiles for a product, which they take part in at the start or the end."""
        p = self.random.choice(SHAPES)
        if len(self.scope) > MOST:
            return ""
        new = [(f"t{self.count + n}", n, p) for n in range(3)]
        self.count += 3
        self.scope += new
        names, lines = [name for name, _, _ in new], []
        late = self.random.random() < 0.3
        if late:
            lines.append(self.body(depth + 1, ready))
        lines += [self.fill(tile, ready) for tile in new if tile[0] not in ready]
        lines += [p.multiply(*names), self.stored(names[0], p)]
        if not late:
            lines.append(self.body(depth + 1, ready))
        self.scope = self.scope[:-3]
        ready.difference_update(names)
        return nested([p.allocate(operand, name) for name, operand, _ in new], lines)

    def write(self, ready: set[str]) -> str:
        return self.fill(self.random.choice(self.scope), ready)

    def fill(self, tile: tuple[str, int, Product], ready: set[str]) -> str:
        name, operand, p = tile
        ready.add(name)
        if operand == 0 and self.random.random() < 0.5:
            return p.zero(name)
        place = self.random.randint(0, 9)
        return p.load(operand, name, "ZXY"[operand], f"{place} * {'ZXY'[operand]}_stride0", "0")

    def product(self, ready: set[str]) -> str:
        p = self.random.choice(SHAPES)
        own = [[n for n, o, q in self.scope if q == p and o == i and n in ready] for i in range(3)]
        if not all(own):
            return ""
        names = [self.random.choice(one) for one in own]
        return "\n".join([p.multiply(*names), self.stored(names[0], p)])

    def stored(self, name: str, p: Product) -> str:
        self.count += 1
        return p.store(name, "C", f"{self.count % 40} * C_stride0", "8")


def program(seed: int) -> str:
    return f"""kernel any
input X: u8[10, 16]
input Y: i8[10, 16]
input Z: i32[10, 16]
output C: i32[40, 16]
instruction tdpbusd
{{
{Writer(Random(seed)).body(0, set())}
}}"""


def on_registers(plan: TilePlan, kernel: Kernel) -> Kernel:
    """The kernel with a buffer for each register and element type, made where the registers are
    configured. What is written as one type can be read as no other."""
    elements = sorted({a.element.name for a in plan.tiles.values()})

    def renamed(e: Expr, names: Mapping[str, str]) -> Expr:
        if isinstance(e, Load) and e.buffer in names:
            return replace(e, buffer=names[e.buffer])
        return map_children(e, lambda c: renamed(c, names))

    def below(s: Stmt, names: Mapping[str, str]) -> Stmt:
        region = plan.regions.get(id(s))
        if region is not None:
            assert not names, "a configuration inside of another"
            return around(s, region)
        return inside(s, names)

    def inside(s: Stmt, names: Mapping[str, str]) -> Stmt:
        match s:
            case Allocate(memory=Memory.AMX_TILE, body=body):
                return below(body, names)
            case Store(buffer=buffer, value=value) if names:
                written = names.get(buffer, buffer)
                new = replace(s, buffer=written, value=renamed(value, names))
                if buffer not in names:
                    return new
                register, _, element = written.partition("_")
                others = (f"{register}_{e}" for e in elements if e != element)
                return block(new, *(zeros(other) for other in others))
            case _:
                return map_stmt(s, lambda e: renamed(e, names), lambda c: below(c, names))

    def around(s: Stmt, region: Region) -> Stmt:
        for tile, register in region.registers.items():
            assert plan.shapes[tile] == region.shapes[register]
        types = {a.element for a in plan.tiles.values()}
        names = {t: f"tmm{r}_{plan.tiles[t].element}" for t, r in region.registers.items()}
        whole = inside(s, names)
        for register in range(len(region.shapes)):
            for t in types:
                name, count = f"tmm{register}_{t}", const_index(LARGEST)
                whole = Allocate(name, t, count, Memory.STACK, block(zeros(name), whole))
        return whole

    def zeros(name: str) -> Stmt:
        t = DTYPES[name.partition("_")[2]]
        every = Ramp(const_index(0), const_index(1), LARGEST)
        return Store(name, every, Broadcast(Const(0, t(1)), LARGEST))

    return replace(kernel, body=below(plan.body, {}))


def planned(kernel: Kernel) -> TilePlan | None:
    """For a machine with as few tile registers as will do; None when eight are too few."""
    (i,) = kernel.instructions
    for count in range(3, 9):
        small = replace(i, place=replace(i.place, count=count))
        try:
            return plan_tiles(kernel.body, (small,))
        except HbcError:
            continue
    return None


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed: int) -> None:
    count = 0
    given = {
        "X": random((10, 16), SHAPES[0].type(1), 1),
        "Y": random((10, 16), SHAPES[0].type(2), 2),
        "Z": random((10, 16), SHAPES[0].type(0), 3),
    }
    for number in range(PROGRAMS):
        kernel = read(program(seed * PROGRAMS + number))
        verify(kernel, "written at random")
        plan = planned(kernel)
        if plan is None:
            continue
        want, got = poisoned_outputs(kernel, {}), poisoned_outputs(kernel, {})
        interpret(kernel, {}, {**given, **want})
        interpret(on_registers(plan, kernel), {}, {**given, **got})
        assert np.array_equal(want["C"], got["C"]), program(seed * PROGRAMS + number)
        count += 1
    assert count > PROGRAMS / 4
