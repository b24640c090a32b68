"""What instructions cost: one table for each target, read from `costs/<target>.toml`.

Every number in them names its source: a published table, or the script that measured it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from hbc.ir.ground.diag import Diagnostic, UsageError, did_you_mean
from hbc.ir.ground.source import Span

FOLDER = Path(__file__).parent / "costs"
DEFAULT = "cuda_sm80"
WARP, VECTOR = "warp", "vector"  # how moves are made: see cost_warp and cost_vector


@dataclass(frozen=True, slots=True)
class Instruction:
    """`pattern` is what it does, `bits` the widths of elements that it moves (none: all); `needs` the
    parameter that says whether the processor has it (empty: any has)."""

    name: str
    pattern: str
    cost: float
    bits: tuple[int, ...]
    source: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class CostTable:
    """`register_bits`: of a vector register; 0 where a register is that of one thread.
    `fills_registers`: the code fills registers of few lanes with the elements of other problems.
    `keeps_stages`: holes after each other stay so in the code where that takes fewer instructions."""

    target: str
    model: str
    unit: str
    register_bits: int
    fills_registers: bool
    instructions: tuple[Instruction, ...]
    keeps_stages: bool = False

    def having(self, constants: Mapping[str, object]) -> CostTable:
        """The table without what the parameters of a sketch say is not there."""
        kept = tuple(i for i in self.instructions if not i.needs or constants.get(i.needs))
        return replace(self, instructions=kept)

    def lane_bits(self, bits: int, lanes: int) -> int:
        """How wide a lane is to instructions where registers have so many of elements of `bits`."""
        return max(bits, self.register_bits // lanes) if self.fills_registers else bits

    def cheapest(self, pattern: str, bits: int) -> Instruction | None:
        """The instruction that makes a pattern of elements of so many bits."""
        fitting = [
            i for i in self.instructions
            if i.pattern == pattern and (not i.bits or bits in i.bits)
        ]  # fmt: skip
        return min(fitting, key=lambda i: i.cost, default=None)

    def price(self, counts: Mapping[str, int]) -> float:
        """Of counted instructions, in the table's unit."""
        costs = {i.name: i.cost for i in self.instructions}
        return sum(costs[name] * count for name, count in counts.items())


def targets() -> tuple[str, ...]:
    """The targets that have a table."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.toml")))


def cost_table(target: str, span: Span | None = None) -> CostTable:
    """The table of a target, which is named at `span`. UsageError for a target that has none."""
    if target not in targets():
        hint = did_you_mean(target, targets()) or f"there are {', '.join(targets())}"
        raise UsageError(
            Diagnostic(f"there is no table of what moves cost on `{target}`", span, hint)
        )
    return _read(target)


@cache
def _read(target: str) -> CostTable:
    import tomllib

    read = tomllib.loads((FOLDER / f"{target}.toml").read_text(encoding="utf-8"))
    rows = tuple(
        Instruction(
            name,
            row["pattern"],
            float(row["cost"]),
            tuple(row.get("bits", ())),
            row["source"],
            row.get("needs", ""),
        )
        for name, row in read["instructions"].items()
    )
    return CostTable(
        target, read["model"], read["unit"], read.get("register_bits", 0),
        read.get("fills_registers", False), rows, read.get("keeps_stages", False),
    )  # fmt: skip
