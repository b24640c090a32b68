"""What the moves of a solution cost on a target: counted exactly, priced by the target's table.

Holes that follow each other and move data along the same axis, such as a fan and the rotation after it, are
one move, and are priced as what they do together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from hbc.ir.moves.gather import Gather, compose, identity
from hbc.synth.prunings.problem import Known, Problem
from hbc.synth.results.cost_table import WARP, CostTable
from hbc.synth.results.cost_vector import vector_counts
from hbc.synth.results.cost_warp import cheapest_way, loads
from hbc.synth.results.placement import element_bits, lane_axes, lanes_of, place
from hbc.synth.results.runs import runs

LOADED = "loads"
DIRECTLY = "while loading"
RENAMED = "names only"
VIEW = "seen in another shape"


@dataclass(frozen=True, slots=True)
class Cost:
    """How a move is made, its instructions by name, and their price in the table's unit."""

    how: str
    counts: tuple[tuple[str, int], ...]
    price: float


@dataclass(frozen=True, slots=True)
class Pricing:
    """`runs`: the holes by the moves that they make together, by the last of each. `loaded`: of a run
    that alone reads an array loaded from memory, how that is loaded."""

    table: CostTable
    axes: int
    bits: int
    runs: Mapping[int, tuple[int, ...]]
    loaded: Mapping[int, Gather]

    def run(self, last: int, chosen: Mapping[int, Gather]) -> Cost:
        """The move that ends with the hole `last`. Every hole of its run is chosen."""
        first, *rest = self.runs[last]
        made = chosen[first]
        for hole in rest:
            made = compose(chosen[hole], made)
        inside = self.move(made)
        if rest and self.table.keeps_stages:
            inside = min(inside, self._stages(first, rest, chosen), key=lambda cost: cost.price)
        if last not in self.loaded:
            return inside
        # It may as well happen while loading, where that touches not much more memory.
        base = self.loaded[last]
        more = Counter(dict(self.load(compose(made, base)).counts))
        more.subtract(dict(self.load(base).counts))
        if self.table.price(more) < 0:
            more.clear()  # it touches less memory: prices are never below 0
        directly = self._cost(DIRECTLY, more)
        return directly if directly.price < inside.price else inside

    def _stages(self, first: int, rest: list[int], chosen: Mapping[int, Gather]) -> Cost:
        """The holes of a run one after the other."""
        stages = [self.move(chosen[hole]) for hole in (first, *rest)]
        counts = sum((Counter(dict(stage.counts)) for stage in stages), Counter[str]())
        return self._cost("permutes, in stages", counts)

    def move(self, gather: Gather) -> Cost:
        """One gather from registers to registers."""
        placed = place(gather, self.axes)
        if placed is None:
            return Cost(VIEW, (), 0.0)
        if self.table.model == WARP:
            how, counts = cheapest_way(placed, self.table)
        else:
            bits = self.table.lane_bits(self.bits, placed.lanes)
            how, counts = "permutes", vector_counts(placed, self.table, bits)
        return self._cost(how, counts)

    def load(self, gather: Gather) -> Cost:
        """A gather from memory; where vectors are loaded whole it costs the same in all solutions."""
        if self.table.model == WARP:
            return self._cost(LOADED, loads(gather, lanes_of(gather.output, self.axes)))
        return Cost(LOADED, (), 0.0)

    def _cost(self, how: str, counts: Counter[str]) -> Cost:
        kept = tuple((name, count) for name, count in sorted(counts.items()) if count)
        return Cost(how if kept or how == DIRECTLY else RENAMED, kept, self.table.price(counts))


def make_pricing(problem: Problem, table: CostTable) -> Pricing:
    """UsageError where the sketch's parameters for the placement are wrong."""
    constants = problem.sketch.constants
    nodes_of_runs = runs(problem)
    loaded: dict[int, Gather] = {}
    for last, members in nodes_of_runs.items():
        arguments = problem.nodes[members[0]].arguments
        source = problem.nodes[arguments[0]]
        readers = [node for node in problem.nodes if set(arguments) & set(node.arguments)]
        alone = len(arguments) == len(readers) == 1
        if table.model == WARP and alone and isinstance(source, Known):
            loaded[last] = source.made or identity(source.shape)
    table = table.having(constants)
    return Pricing(table, lane_axes(constants), element_bits(constants), nodes_of_runs, loaded)
