"""Costs: bank conflicts against a count by hand, moves whose instructions are known, the order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sketch_solver import SKETCHES

from hbc.cli.files.read_sketch import read_sketch
from hbc.ir.ground.diag import UsageError
from hbc.ir.moves.bank_conflicts import arrangements, wavefronts
from hbc.ir.moves.gather import Gather, compose
from hbc.synth.prunings.watch import Watch
from hbc.synth.results.cost import Cost, Pricing, make_pricing
from hbc.synth.results.cost_table import cost_table, targets
from hbc.synth.results.solve import Outcome, solve
from hbc.synth.results.vector_patterns import ONE, TWO
from hbc.synth.search.switches import Switches


def moved(
    shape: tuple[int, ...], formula: object, target: str = "cuda_sm80", axes: int = 1
) -> Cost:
    """The cost of `out[i, j] = in[formula(i, j)]` for arrays of one shape."""
    i, j = np.indices(shape)
    assert callable(formula)
    row, column = np.broadcast_arrays(*formula(i, j))
    index = (row * shape[1] + column).reshape(-1).astype(np.int32)
    return Pricing(cost_table(target), axes, 32, {}, {}).move(Gather((shape,), shape, index))


@given(st.lists(st.integers(-1, 200), min_size=1, max_size=32))
def test_bank_conflicts_are_counted_by_bank(words: list[int]) -> None:
    banks: dict[int, set[int]] = {}
    for word in words:
        if word >= 0:
            banks.setdefault(word % 32, set()).add(word)
    expected = max(map(len, banks.values()), default=0)
    assert wavefronts(np.array(words)) == expected


@pytest.mark.parametrize(
    ("stride", "times"), [(0, 1), (1, 1), (2, 2), (3, 1), (12, 4), (32, 32), (33, 1)]
)
def test_known_conflicts(stride: int, times: int) -> None:
    assert wavefronts(np.arange(32) * stride) == times


def test_padding_removes_the_conflicts_of_a_transpose() -> None:
    found = {name: wavefronts(words[:, 0]) for name, words in arrangements(32, 32).items()}
    assert found == {"by register": 1, "by lane": 32, "by lane, padded": 1}


def test_moves_of_a_warp() -> None:
    assert moved((32, 2), lambda i, j: (i, j)).counts == ()
    assert moved((32, 2), lambda i, j: (i, 1 - j)).how == "names only"
    turned = moved((32, 2), lambda i, j: ((i + 3) % 32, j))
    assert (turned.how, dict(turned.counts)) == ("shuffles", {"shuffle": 2, "address": 1})
    assert dict(moved((32, 1), lambda i, j: (i ^ 5, j)).counts) == {"shuffle": 1}
    assert dict(moved((32, 1), lambda i, j: (i * 0 + 7, j)).counts) == {"shuffle": 1}
    rows = moved((32, 2), lambda i, j: (i, (i + j) % 2))
    assert dict(rows.counts) == {"select": 2, "comparison": 1}
    # Every thread can select what it sends: its neighbour wants one of its registers.
    both = moved((32, 2), lambda i, j: ((i + 1) % 32, (i + j) % 2))
    assert dict(both.counts) == {"shuffle": 2, "select": 2, "comparison": 1, "address": 1}


def test_threads_that_exchange_registers_share_shuffles() -> None:
    """A select of what is sent, a shuffle and two selects for two registers; one comparison in all."""

    def exchanged(i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        same = i // 2 % 2 == j // 2 % 2
        return np.where(same, i, i ^ 2), np.where(same, j, j ^ 2)

    cost = moved((32, 4), exchanged)
    assert (cost.how, dict(cost.counts)) == (
        "shuffles", {"shuffle": 2, "select": 6, "comparison": 1},
    )  # fmt: skip


def test_shared_memory_where_shuffles_are_dearer() -> None:
    """A 32 x 32 transpose asks all 32 registers of every thread for one value each."""
    cost = moved((32, 32), lambda i, j: (j, i))
    counts = dict(cost.counts)
    assert cost.how == "shared memory"
    assert (counts["shared_store"], counts["shared_load"]) == (32, 32)


def test_moves_of_vector_registers() -> None:
    """[registers, lanes]: 16 lanes of 32 bits."""

    def counts(formula: object) -> dict[str, int]:
        return dict(moved((2, 16), formula, "avx512", -1).counts)

    assert counts(lambda r, i: (r, i)) == {}
    assert counts(lambda r, i: (1 - r, i)) == {}
    assert counts(lambda r, i: (r * 0, (i + 3) % 16)) == {"valignd": 1}
    assert counts(lambda r, i: (r * 0, i ^ 1)) == {"vpshufd": 1}
    assert counts(lambda r, i: (i % 2, r * 2 + i // 4 * 4 + i % 4 // 2)) == {"vpunpck": 2}
    assert counts(lambda r, i: (i % 2, r * 8 + i // 2)) == {"vpermt2d": 2, "vmovdqu64": 2}


def test_a_fan_and_its_rotation_are_one_move() -> None:
    outcome = solve(read_sketch(SKETCHES / "crc.sf", {}), Switches(), Watch())
    pricing = make_pricing(outcome.problem, cost_table("cuda_sm80"))
    names = [outcome.problem.nodes[last].name for last in pricing.runs]
    assert names == ["a", "b", "c"]
    assert [len(run) for run in pricing.runs.values()] == [2, 2, 2]
    solution = next(outcome.solutions(pricing))
    chosen = outcome.chosen(solution)
    last = next(n for n in pricing.runs if outcome.problem.nodes[n].name == "b")
    made = compose(chosen[last], chosen[last - 1])
    assert pricing.run(last, chosen) == pricing.move(made)


def listed(name: str, switches: Switches, target: str, **settings: str) -> list[float]:
    outcome: Outcome = solve(read_sketch(SKETCHES / f"{name}.sf", settings), switches, Watch())
    pricing = make_pricing(outcome.problem, cost_table(target))
    found = []
    for solution in outcome.solutions(pricing):
        costs = dict(outcome.costs(solution, pricing))
        runs = {outcome.problem.nodes[last].name for last in pricing.runs}
        assert solution.cost == pytest.approx(sum(costs[name].price for name in runs))
        found.append(solution.cost)
    return found


@pytest.mark.parametrize("target", targets())
@pytest.mark.parametrize("compose_", [True, False])
def test_cheapest_first(target: str, compose_: bool) -> None:
    """Also where the holes of one move are searched in different steps."""
    costs = listed("sum", Switches(compose=compose_), target, s="4")
    assert len(costs) == 14
    assert costs == sorted(costs)


def test_prices_do_not_depend_on_the_search() -> None:
    costs = [listed("sum", Switches(compose=c), "cuda_sm80", s="4") for c in (True, False)]
    assert costs[0] == pytest.approx(costs[1])


@pytest.mark.parametrize("target", targets())
def test_every_number_has_a_source(target: str) -> None:
    table = cost_table(target)
    constants = {"index", "mask", "zeros"}
    for made in table.instructions:
        assert made.source and made.cost > 0
        if table.model == "vector":
            assert made.pattern in {*ONE, *TWO, *constants}
            for bits in made.bits or (8, 16, 32, 64):
                assert table.cheapest("permute one", bits), "any register can be permuted"
                both = table.cheapest("blend", bits) or table.cheapest("permute two", bits)
                assert both, "and blended with another"


def test_unknown_targets_are_named() -> None:
    with pytest.raises(UsageError, match="avx512"):
        cost_table("avx51")
