"""What a schedule has to know of a machine: registers, lanes, caches, and how fast they are."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from hbc.frontend.costs.machine_costs import Level, MachineCosts
from hbc.ir.ground.record import record
from hbc.ir.lang.instruction import Instruction, Kind
from hbc.ir.lang.target import ARM, Target
from hbc.ir.lang.types import F32, Memory

PLAIN_BITS = (
    512  # on `c` loops are as long as the longest vectors that a C compiler may make of them
)

# Cycles to read or write an element in a lane of 16 that a working set has in a cache: of which cache, in
# which part of its bytes. What processors share is taken as slow as it is when others use it too. Fitted to
# schedules on a Zen 4, of whose caches one thread by itself reads and writes so many bytes in a cycle.
AT_HOME = (("L1", 0.75, 0.06), ("L2", 0.375, 0.1), ("L2", 1.0, 0.18), ("L3", 0.25, 0.45))
MEMORY = 0.9
SIZES = {"L1": 32 << 10, "L2": 1 << 20, "L3": 32 << 20}
CACHES = tuple((SIZES[name] * part, cycles) for name, part, cycles in AT_HOME)
FITTED = {
    "L1": Level("L1", SIZES["L1"], 60, 32), "L2": Level("L2", SIZES["L2"], 31, 31),
    "L3": Level("L3", SIZES["L3"], 20, 17), "DRAM": Level("DRAM", 0, 7.9, 7.7),
}  # fmt: skip

MULTIPLY_ADDS = 2.0  # of vectors, in a cycle, and other operations
LATENCY = 4.0  # cycles that sums wait for themselves


@record
class Machine:
    """`vectors`: whether the schedule says which loops are lanes (on `c` the C compiler does).
    `hoards`: the C compiler loads the operands of all rows first, so that they need registers too.
    `multiply_adds` of vectors of floats begin in a cycle; sums wait `latency` cycles for themselves.
    `caches`: bytes of a working set, and cycles for an element. `measured`: on such a machine, with these
    `levels`."""

    name: str
    bits: int
    registers: int
    vectors: bool
    hoards: bool
    multiply_adds: float = MULTIPLY_ADDS
    latency: float = LATENCY
    caches: tuple[tuple[float, float], ...] = CACHES
    memory: float = MEMORY
    levels: tuple[Level, ...] = ()
    measured: bool = False

    def lanes(self, bits: int) -> int:
        """How many elements of so many bits a vector has."""
        return max(self.bits // bits, 1)

    def access_cycles(self, size: float) -> float:
        """Cycles for an element that is read or written in a working set of so many bytes."""
        return next((cycles for limit, cycles in self.caches if size <= limit), self.memory)

    def level(self, name: str) -> Level | None:
        """What was measured of a cache."""
        return next((level for level in self.levels if level.name == name), None)


def machine_of(
    target: Target, costs: MachineCosts | None = None, instructions: Sequence[Instruction] = ()
) -> Machine:
    """The machine that a target stands for, with costs that were measured. `instructions`: all that are
    described, with those costs."""
    vectors = target.vector_bits > 0
    bits = target.vector_bits if vectors else PLAIN_BITS
    registers = target.vector_registers if vectors else 32
    usual = Machine(target.name, bits, registers, vectors, vectors and target.machine == ARM)
    if costs is None:
        return usual
    adds = _multiply_add(instructions, target.machine, bits)
    levels = {level.name: level for level in costs.levels}
    caches = tuple(
        (levels[name].bytes * part, cycles * _slower(levels[name])) if name in levels else fitted
        for fitted, (name, part, cycles) in zip(CACHES, AT_HOME, strict=True)
    )
    memory = MEMORY * (_slower(levels["DRAM"]) if "DRAM" in levels else 1.0)
    return Machine(
        usual.name, bits, registers, vectors, usual.hoards,
        MULTIPLY_ADDS if adds is None else adds.cost.per_cycle,
        LATENCY if adds is None else adds.cost.latency,
        caches, memory, costs.levels, True,
    )  # fmt: skip


def _multiply_add(
    instructions: Sequence[Instruction], machine: str, bits: int
) -> Instruction | None:
    """The instruction that multiplies and adds vectors of f32."""
    for i in instructions:
        in_lanes = i.place.memory is Memory.REGISTER and all(r.kind is Kind.BATCH for r in i.rows)
        floats = len(i.factors) == 2 and all(o.element == F32 for o in i.operands)
        if in_lanes and floats and (i.place.machine, i.place.row_bytes * 8) == (machine, bits):
            return i
    return None


def _slower(level: Level) -> float:
    """How many times as long it takes as on the processor that the cycles are of: a power of the root of two,
    since less is within what two measurements differ by."""
    fitted = FITTED[level.name]
    times = (1 / level.loads + 1 / level.stores) / (1 / fitted.loads + 1 / fitted.stores)
    return float(2 ** (round(2 * log2(times)) / 2))
